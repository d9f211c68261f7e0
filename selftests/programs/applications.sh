#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Programs and libraries above verbs that no root has: qperf, fio, UCX,
# libfabric, MPI, infiniband-diags.
#
# guests: 2
# mtu: 4200
# packages: qperf fio ucx-utils libfabric-bin openmpi-bin python3-mpi4py infiniband-diags
# default: no
# timeout: 3600

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/traffic.sh"
. "${0%/*}/../lib/programs.sh"

# Queue pairs are connected by rdma_cm: qperf knows no GIDs, so its tests of UC
# and UD, which it connects by LID, are for InfiniBand only. Argument: TEST
qperf() {
	serve 19765 qperf "qperf -cm 1 -t 1 10.77.0.2 $1"
	note "$(paste -sd ' ' "$KTAP_TMP/client")"
}

# The server takes what the client's verb asks for. It has a receive for each of
# the 16 messages of "send" before the first one comes: fio connects without
# retries for a receiver that is not ready (rnr_retry_count 0), and a client
# whose connection has failed of that waits for ever. Argument: VERB
fio_rdma() {
	local common="--ioengine=rdma --port=4711 --bs=64k" size=4m

	[ "$1" != send ] || size=1m
	pair cm "fio --name=server $common --size=$size --rw=read --iodepth=16" \
		"fio --name=client $common --size=$size --rw=write --iodepth=4 \
		--iodepth_batch_complete=1 --hostname=10.77.0.2 --verb=$1"
	grep -q 'err= 0' "$KTAP_TMP/client"
	note "$(grep -m 1 -E 'WRITE: ' "$KTAP_TMP/client")"
}

# Arguments: TRANSPORT TEST [OPTION...]
ucx() {
	local transport=$1 test=$2

	shift 2
	set -- -P 0 -d $DEV:1 -x "$transport" -t "$test" -n 500 -w 10 "$@"
	pair 13337 "ucx_perftest $*" "ucx_perftest frdma2 $*"
	note "$(tail -n 1 "$KTAP_TMP/client")"
}

# Messages with tags, over whatever UCX makes of these transports. Arguments:
# TRANSPORTS TEST [OPTION...]
ucp() {
	local settings="UCX_TLS=$1 UCX_NET_DEVICES=$DEV:1" test=$2

	shift 2
	set -- -P 0 -t "$test" -n 500 -w 10 "$@"
	pair 13337 "env $settings ucx_perftest $*" \
		"env $settings ucx_perftest frdma2 $*"
	note "$(tail -n 1 "$KTAP_TMP/client")"
}

# Each message is compared. Arguments: PROVIDER ENDPOINT
libfabric() {
	local tool="fi_pingpong -p '$1' -e $2 -I 20 -c"

	pair 47592 "$tool" "$tool 10.77.0.2"
	note "$(tail -n 1 "$KTAP_TMP/client")"
}

# A process in each guest. What starts the other is the bench, not ssh.
# Arguments: TRANSPORTS COMMAND...
mpi() {
	local transports=$1

	shift
	mpirun.openmpi --allow-run-as-root --host frdma1,frdma2 -np 2 \
		--prtemca plm_ssh_agent "${0%/*}/remote" --mca pml ucx \
		--mca osc ucx --mca btl '^openib,uct' \
		-x UCX_TLS="$transports" -x UCX_NET_DEVICES="$DEV:1" \
		"$@" | tee "$KTAP_TMP/mpi"
}

mpi_bench() {
	mpi "$1" python3 -m mpi4py.bench "${@:2}"
	note "$(tail -n 1 "$KTAP_TMP/mpi")"
}

# libibmad opens no port that has no subnet management, as those of RoCE. What
# perfquery would show is tested by verbs/smoke (port_counters).
perfquery() {
	defer modprobe -r ib_umad
	modprobe ib_umad
	command perfquery -C "$DEV" -P 1 >"$KTAP_TMP/perfquery" 2>&1 || {
		! grep 'client_register for mgmt 1 failed' \
			"$KTAP_TMP/perfquery" ||
			skip "libibmad opens no port of RoCE"
		fail "$(<"$KTAP_TMP/perfquery")"
	}
	grep -q PortXmitData "$KTAP_TMP/perfquery"
}

table() {
	local test

	for test in rc_lat rc_bw rc_bi_bw rc_rdma_read_bw rc_rdma_read_lat \
		rc_rdma_write_bw rc_rdma_write_lat rc_rdma_write_poll_lat \
		rc_compare_swap_mr rc_fetch_add_mr ver_rc_compare_swap \
		ver_rc_fetch_add; do
		program qperf $test
	done
	for test in write read send; do
		program fio_rdma $test
	done
	# Verbs have no atomic swap.
	for test in am_lat am_bw put_lat put_bw add_lat fadd cswap; do
		program ucx rc_verbs $test -s 8
	done
	# A READ has no short form, on any hardware.
	program ucx rc_verbs get -s 8 -D bcopy
	program ucx rc_verbs am_bw -s 8192 -D zcopy
	program ucx rc_verbs put_bw -s 1048576 -D zcopy -n 50
	program ucx ud_verbs am_lat -s 8
	program ucx ud_verbs am_bw -s 1024 -D bcopy
	for test in tag_lat tag_bw ucp_put_bw ucp_get ucp_am_bw; do
		program ucp rc_v $test -s 65536
	done
	program ucp ud_v tag_bw -s 65536
	program libfabric verbs msg
	program libfabric "verbs;ofi_rxm" rdm
	program mpi_bench rc_v,self ringtest -n 1024
	program mpi_bench rc_v,self pingpong -n 262144 -s 5 -l 50 \
		--skip-large 1 --loop-large 10
	program mpi_bench ud_v,self ringtest -n 1024
	program perfquery
}

on_both table
ktap_end
