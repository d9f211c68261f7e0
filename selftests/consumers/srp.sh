#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# SCSI RDMA Protocol: ib_srp here, ib_srpt in guest 2, connected by rdma_cm.
#
# guests: 2
# mtu: 4200
# roots: trixie bookworm sid
# default: no
# timeout: 1800

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/consumers.sh"
. "${0%/*}/../lib/lio.sh"

PORT=5555

# An initiator's name to ib_srpt is an address of the connection: which of both
# depends on the kernel.
INITIATORS="10.77.0.1 10.77.0.2"

# Prints how SRP calls the port of guest 2: the second half of its first GID.
port_of_target() {
	on 2 'cut -d : -f 5- /sys/class/infiniband/frdma0/ports/1/gids/0'
}

# Connections share their receive queues, or they do not. Arguments: yes|no
target_up() {
	local port shared=0

	[ "$1" = no ] || shared=1
	port=$(port_of_target)
	GROUP=$TARGET/srpt/$port/$port
	lio_disk_up
	defer target_down
	on 2 'modprobe ib_srpt srp_max_req_size=8260'
	[ "$1" = no ] || ! on 2 'grep -w srpt_cache_put /proc/kallsyms' ||
		skip "this ib_srpt warns about its own caches with use_srq"
	on 2 "mkdir -p $GROUP &&
		echo $PORT >$TARGET/srpt/discovery_auth/rdma_cm_port &&
		echo $shared >$GROUP/attrib/use_srq"
	# shellcheck disable=SC2086 # several words
	lio_serve "$GROUP" $INITIATORS
}

target_down() {
	lio_unserve "$GROUP"
	on 2 'modprobe -r ib_srpt'
}

# Logs in: the initiator makes a SCSI host of the target.
initiator_up() {
	local guid login

	modprobe ib_srp "$@"
	defer initiator_down
	guid=$(on 2 'cat /sys/module/ib_srpt/parameters/srpt_service_guid')
	guid=${guid#0x}
	login="id_ext=$guid,ioc_guid=$guid,dest=10.77.0.2:$PORT"
	echo "$login" >/sys/class/infiniband_srp/srp-frdma0-1/add_target ||
		fail "no login: $(ktap_log 1 | tail -n 5; ktap_log 2 | tail -n 5)"
	lio_find_disk
	has_connection 1
}

logout() {
	local port

	for port in /sys/class/srp_remote_ports/*; do
		[ ! -e "$port" ] || echo 1 >"$port/delete"
	done
	await 20 no_connection 1
}

initiator_down() {
	logout
	modprobe -r ib_srp
}

# Arguments: yes|no [PARAMETER=VALUE of ib_srp]...
disk() {
	target_up "$1"
	initiator_up "${@:2}"
	lio_disk_works
	logout
	await 20 lio_no_disk
}

# The transport layer of SRP tries again every second, for a minute.
cut() {
	local port

	target_up no
	initiator_up
	for port in /sys/class/srp_remote_ports/*; do
		echo 60 >"$port/dev_loss_tmo"
		echo off >"$port/fast_io_fail_tmo"
		echo 1 >"$port/reconnect_delay"
	done
	disk_survives_cut "$1" "$DISK"
}

# The disk goes with the link.
link_deleted() {
	target_up no
	initiator_up
	delete_link 1
	await 20 lio_no_disk
	modprobe -r ib_srp
	modprobe -r frdma
	link_again 1
}

links_up
ktap_test disk no
ktap_test disk yes
ktap_test disk no register_always=N
ktap_test cut silently
ktap_test cut loudly
ktap_test link_deleted
ktap_end
