#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The conformance scripts against the loaded module. Each is a result of its
# own; the last one says that all were played, without a report of the kernel.
#
# timeout: 900

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/conformance.sh"

conformance_up frdma frdma
conformance_vlan
conformance_trains
KTAP_LIMIT=540 ktap_test conformance_play frdma0 "${KTAP_ONLY:-}"
ktap_end
