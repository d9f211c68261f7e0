#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The conformance scripts against the kernel's rdma_rxe. What becomes of them
# is told as comments, since it is none of ours; only that they could be tried
# is a test.
#
# default: no
# timeout: 1200

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/conformance.sh"

# In a shell of its own, whose results are not counted, and whose reports of the
# kernel are not ours.
told() {
	(
		exec 3>&1
		KTAP_LIMIT=840 ktap_test "$@"
	) 2>&1 | sed -u 's/^/# rxe: /' | tee "$KTAP_TMP/told"
}

is_tried() {
	grep -q '^# rxe: \(not \)\?ok .*: ' "$KTAP_TMP/told"
}

conformance_up rxe rdma_rxe
conformance_vlan
told conformance_play rxe0 "${KTAP_ONLY:-}"
ktap_test is_tried "${KTAP_ONLY:-}"
ktap_end
