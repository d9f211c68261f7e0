/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Frames of the hostile peer, as they are on the wire. Include it after attack.h and
 * lib/trains.h.
 */
#ifndef FRDMA_TEST_FRAME_H
#define FRDMA_TEST_FRAME_H

#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>

#define ETHERNET	14
#define IPV4		20
#define IPV6		40
#define UDP		8

static uint8_t near_mac[6], far_mac[6];
static int frames = -1;			/* with a struct virtio_net_hdr each */

static inline void read_mac(const char *interface, uint8_t *mac)
{
	unsigned int byte[6];
	char path[64];
	FILE *f;
	int i;

	snprintf(path, sizeof(path), "/sys/class/net/%s/address", interface);
	f = fopen(path, "re");
	EXPECT(f && fscanf(f, "%x:%x:%x:%x:%x:%x", &byte[0], &byte[1],
			   &byte[2], &byte[3], &byte[4], &byte[5]) == 6);
	fclose(f);
	for (i = 0; i < 6; i++)
		mac[i] = byte[i];
}

static inline void open_frames(void)
{
	struct sockaddr_ll at = {
		.sll_family = AF_PACKET,
		.sll_ifindex = if_nametoindex("conf1"),
	};
	int yes = 1;

	read_mac("conf0", near_mac);
	read_mac("conf1", far_mac);
	frames = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	EXPECT(frames >= 0 && !bind(frames, (void *)&at, sizeof(at)));
	EXPECT(!setsockopt(frames, SOL_PACKET, PACKET_VNET_HDR, &yes,
			   sizeof(yes)));
}

/** struct frame - what is on the wire, and how it is to be cut */
struct frame {
	struct virtio_net_hdr how;
	uint8_t mac[2][6];
	uint16_t type;
	uint8_t bytes[65536];
} __attribute__((packed));

/* Is it taken? Kernels before 6.2 send no trains. */
static inline bool send_frame(struct frame *frame, size_t len)
{
	size_t size = sizeof(*frame) - sizeof(frame->bytes) + len;

	return send(frames, frame, size, 0) == (ssize_t)size;
}

static inline void frame_of(struct frame *frame, const struct packet *packet)
{
	bool ipv6 = packet->bytes[0] >> 4 == 6;

	memset(frame, 0, sizeof(*frame) - sizeof(frame->bytes));
	memcpy(frame->mac[0], near_mac, 6);
	memcpy(frame->mac[1], far_mac, 6);
	frame->type = htons(ipv6 ? ETH_P_IPV6 : ETH_P_IP);
	memcpy(frame->bytes, packet->bytes, packet->len);
}

/* Those that take what comes unasked. */
static struct victim *const receivers[] = {
	&victims[RC], &victims[UC], &victims[UD], &victims[XRC_TARGET],
};

#endif /* FRDMA_TEST_FRAME_H */
