/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Frames of a raw socket that the kernel cuts into packets of UDP: their
 * struct virtio_net_hdr, whose type headers before Linux 6.2 (Debian 12) lack.
 */
#ifndef FRDMA_TEST_TRAINS_H
#define FRDMA_TEST_TRAINS_H

#include <linux/virtio_net.h>

#ifndef VIRTIO_NET_HDR_GSO_UDP_L4
#define VIRTIO_NET_HDR_GSO_UDP_L4	5
#endif

#endif /* FRDMA_TEST_TRAINS_H */
