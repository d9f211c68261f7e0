#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Shared receive queues: srq.c, and the programs of others that use them.
#
# guests: 2
# timeout: 900

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/traffic.sh"

srq() {
	with_gid v4 verbs/srq "$1"
}

srq_pingpong() {
	local gid1 gid2

	gid1=$(gid_index frdma0 v4)
	gid2=$(gid_index frdma0 v4 2)
	pair 18515 "ibv_srq_pingpong -d frdma0 -g $gid2 $*" \
		"ibv_srq_pingpong -d frdma0 -g $gid1 $* frdma2"
	note "$(grep -m 1 Mbit "$KTAP_TMP/client")"
}

# Guest 2 serves a file by NVMe over RDMA, all of whose connections share their
# receive queues.
target_up() {
	defer on 2 "cd /sys/kernel/config/nvmet &&
		rm ports/1/subsystems/srq && rmdir ports/1 &&
		rmdir subsystems/srq/namespaces/1 subsystems/srq;
		modprobe -r nvmet_rdma; rm /run/srq.img"
	on 2 "modprobe nvmet_rdma use_srq=1 &&
		{ mountpoint -q /sys/kernel/config ||
			mount -t configfs none /sys/kernel/config; } &&
		truncate -s 8M /run/srq.img && cd /sys/kernel/config/nvmet &&
		mkdir subsystems/srq subsystems/srq/namespaces/1 ports/1 &&
		cd subsystems/srq && echo 1 >attr_allow_any_host &&
		cd namespaces/1 && echo /run/srq.img >device_path &&
		echo 1 >buffered_io && echo 1 >enable && cd ../../../../ports/1 &&
		echo rdma >addr_trtype && echo ipv4 >addr_adrfam &&
		echo 10.77.0.2 >addr_traddr && echo 4420 >addr_trsvcid &&
		ln -s /sys/kernel/config/nvmet/subsystems/srq subsystems/"
}

target_down() {
	nvme disconnect -n srq >/dev/null
	modprobe -r nvme_rdma
}

# A consumer in the kernel: what was written is read again, and connections
# end without waiting in vain for the last receive of their queue pairs.
nvme_target() {
	local disk

	need_modules nvme_rdma nvmet_rdma
	target_up
	defer target_down
	modprobe nvme_rdma
	nvme connect -t rdma -a 10.77.0.2 -s 4420 -n srq -i 2
	await 20 compgen -G '/dev/nvme*n1'
	disk=$(compgen -G '/dev/nvme*n1')
	on 2 'rdma resource show srq' | tee "$KTAP_TMP/srqs"
	grep -q nvmet "$KTAP_TMP/srqs" || fail "shares nothing"

	head -c 4M /dev/urandom >"$KTAP_TMP/data"
	dd if="$KTAP_TMP/data" of="$disk" bs=64k oflag=direct status=none
	dd if="$disk" bs=64k count=64 iflag=direct status=none |
		cmp - "$KTAP_TMP/data"
	on 2 "head -c 4M /run/srq.img" | cmp - "$KTAP_TMP/data"

	SECONDS=0
	nvme disconnect -n srq
	on 2 'for i in $(seq '$((300 * KTAP_SLOW))'); do
			rdma resource show qp | grep -q "type RC" || exit 0
			sleep 0.1
		done; exit 1' || fail "queue pairs stay"
	note "disconnected in $SECONDS s"
}

links_up
for name in verbs limit empty_then_posted last_wqe datagrams rest_takes_none \
		other_domain many_takers resize_under_traffic hostile_index; do
	ktap_test srq $name
done
ktap_test srq_pingpong -q 4 -n 100
ktap_test srq_pingpong -q 4 -n 100 -e
ktap_test perftest ib_send_bw v4 --use-srq -q 4 -n 50
ktap_test pyverbs_of 3 test_srq
ktap_test nvme_target
ktap_end
