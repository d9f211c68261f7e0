#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# UDP port 4791 belongs to one driver per namespace: the second is told.
#
# guests: 1

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/ends.sh"

rxe_was_first() {
	need_modules rdma_rxe
	modprobe rdma_rxe
	defer modprobe -r rdma_rxe
	rdma link add rxe0 type rxe netdev eth0
	defer link_delete rxe0
	ip link add va type veth peer name vb
	defer netdev_delete va
	refuse "Address already in use" \
		rdma link add frdma0 type frdma netdev va
	logged "UDP port 4791 is in use in this network namespace"
	gone frdma0

	# Another namespace is another matter.
	ip netns add far
	defer netns_delete far
	ip link set vb netns far
	in_far rdma link add frdma0 type frdma netdev vb
	rdma link delete frdma0
}

# What was left of a failure does not stand in the way.
rxe_has_gone() {
	defer links_down
	rdma link add frdma0 type frdma netdev eth0
	rdma link delete frdma0
}

frdma_was_first() {
	need_modules rdma_rxe
	defer links_down
	rdma link add frdma0 type frdma netdev eth0
	# Before Linux 7 the module opens the port as it is loaded, later for a
	# link.
	if modprobe rdma_rxe; then
		refuse "Address already in use" \
			rdma link add rxe0 type rxe netdev eth0
		modprobe -r rdma_rxe
	else
		logged "Failed to create IPv4 UDP tunnel"
	fi
	gone rxe0
	rdma link show frdma0/1 | grep -q ACTIVE
}

a_socket_was_first() {
	python3 -c '
import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("", 4791))
time.sleep(100)' &
	await 10 bash -c 'ss -Hlun sport = :4791 | grep -q .'
	refuse "Address already in use" \
		rdma link add frdma0 type frdma netdev eth0
	logged "UDP port 4791 is in use in this network namespace"
	kill $!
	gone frdma0
}

ktap_test rxe_was_first
ktap_test rxe_has_gone
ktap_test frdma_was_first
ktap_test a_socket_was_first
ktap_end
