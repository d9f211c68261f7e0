# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest 2 serves a disk of 64 MiB, all in memory, by NVMe over RDMA. Read after
# consumers.sh. Its name there is /dev/ram0, here $DISK.

NVMET=/sys/kernel/config/nvmet

# Serves the disk at ADDRESS; undone when the test ends. Arguments: ADDRESS
# [PARAMETER=VALUE of nvmet_rdma]...
nvme_target_up() {
	local address=$1 family=ipv4

	shift
	[[ $address != *:* ]] || family=ipv6
	defer nvme_target_down
	on 2 "modprobe nvmet_rdma $* &&
		modprobe brd rd_nr=1 rd_size=65536 &&
		cd $NVMET && mkdir ports/1 subsystems/frdma &&
		mkdir subsystems/frdma/namespaces/1 &&
		echo 1 >subsystems/frdma/attr_allow_any_host &&
		cd subsystems/frdma/namespaces/1 &&
		echo /dev/ram0 >device_path && echo 1 >enable &&
		cd $NVMET/ports/1 &&
		echo rdma >addr_trtype && echo $family >addr_adrfam &&
		echo $address >addr_traddr && echo 4420 >addr_trsvcid &&
		ln -s $NVMET/subsystems/frdma subsystems/"
}

nvme_target_down() {
	on 2 "cd $NVMET && rm -f ports/1/subsystems/frdma && rmdir ports/1 &&
		rmdir subsystems/frdma/namespaces/1 subsystems/frdma &&
		cd / && modprobe -r nvmet_rdma && rmmod brd"
}

# Takes the disk from ADDRESS. A dead link is noticed within five seconds, and
# tried again every second.
nvme_connect() {
	modprobe nvme_rdma
	defer nvme_disconnect
	nvme connect -t rdma -a "$1" -s 4420 -n frdma -i 2 -k 5 -c 1 -l 300
	await 20 compgen -G '/dev/nvme*n1'
	# shellcheck disable=SC2034 # for the tests
	DISK=$(compgen -G '/dev/nvme*n1')
}

nvme_disconnect() {
	nvme disconnect -n frdma >/dev/null
	modprobe -r nvme_rdma
}

# Its controller is in that state: live, connecting, ...
nvme_is() {
	grep -qx "$1" /sys/class/nvme/nvme*/state
}

nvme_is_gone() {
	! compgen -G '/sys/class/nvme/nvme*'
}
