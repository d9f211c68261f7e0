// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "device.h"

#define BUFFER_LEN	(16 << 20)

static int fd = -1;
static uint8_t near_mac[ETH_ALEN], far_mac[ETH_ALEN];

static bool mac_of(const char *interface, uint8_t *mac)
{
	struct ifreq request = { };

	snprintf(request.ifr_name, IFNAMSIZ, "%s", interface);
	if (ioctl(fd, SIOCGIFHWADDR, &request))
		return false;
	memcpy(mac, request.ifr_hwaddr.sa_data, ETH_ALEN);
	return true;
}

/**
 * wire_open - take the place of the peer
 * @near: interface of the device
 * @far: the one opposite
 */
bool wire_open(const char *near, const char *far)
{
	struct sockaddr_ll at = {
		.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL),
		.sll_ifindex = if_nametoindex(far),
	};
	int size = BUFFER_LEN, yes = 1;

	fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK,
		    htons(ETH_P_ALL));
	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) ||
	    !mac_of(near, near_mac) || !mac_of(far, far_mac)) {
		perror(far);
		return false;
	}
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	return !setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &yes, sizeof(yes));
}

int wire_fd(void)
{
	return fd;
}

/* A group of IPv4 has a hardware address of its own (RFC 1112). */
static void address_frame(uint8_t *frame, const struct packet *packet)
{
	const uint8_t *to = packet->bytes + 16;
	uint8_t group[ETH_ALEN] = {
		0x01, 0x00, 0x5e, to[1] & 0x7f, to[2], to[3]
	};
	bool multicast = packet->bytes[0] >> 4 == 4 && to[0] >> 4 == 14;

	memcpy(frame, multicast ? group : near_mac, ETH_ALEN);
}

/** wire_deliver - the peer sends a packet */
void wire_deliver(const struct packet *packet)
{
	uint8_t frame[ETH_HLEN + PACKET_MAX];
	uint16_t type = packet->bytes[0] >> 4 == 6 ? ETH_P_IPV6 : ETH_P_IP;

	address_frame(frame, packet);
	memcpy(frame + ETH_ALEN, far_mac, ETH_ALEN);
	frame[12] = type >> 8;
	frame[13] = type & 0xff;
	memcpy(frame + ETH_HLEN, packet->bytes, packet->len);
	if (send(fd, frame, ETH_HLEN + packet->len, 0) < 0)
		perror("send");
}

static int64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/*
 * How far the time of day is ahead of the other clock: of several looks at both
 * the one that was least held up in between.
 */
static int64_t ahead_ns(void)
{
	int64_t least = INT64_MAX, ahead = 0, before, real, took;
	int i;

	for (i = 0; i < 5; i++) {
		before = clock_ns(CLOCK_MONOTONIC);
		real = clock_ns(CLOCK_REALTIME);
		took = clock_ns(CLOCK_MONOTONIC) - before;
		if (took < least) {
			least = took;
			ahead = real - before;
		}
	}
	return ahead;
}

/*
 * When it was sent, by the kernel's word: whoever reads it may be late. Buffers
 * of rdma_rxe come with a time that is none.
 */
static uint64_t sent_at(struct msghdr *msg)
{
	int64_t now = clock_ns(CLOCK_MONOTONIC), at;
	struct cmsghdr *cmsg;
	struct timespec t;

	for (cmsg = CMSG_FIRSTHDR(msg); cmsg; cmsg = CMSG_NXTHDR(msg, cmsg)) {
		if (cmsg->cmsg_level != SOL_SOCKET ||
		    cmsg->cmsg_type != SCM_TIMESTAMPNS)
			continue;
		memcpy(&t, CMSG_DATA(cmsg), sizeof(t));
		at = t.tv_sec * 1000000000LL + t.tv_nsec - ahead_ns();
		return at > 0 && at < now ? at : now;
	}
	return now;
}

/**
 * wire_take - the next packet that has reached the peer
 * @packet: set
 *
 * Return: false if there is none.
 */
bool wire_take(struct packet *packet)
{
	uint8_t frame[ETH_HLEN + PACKET_MAX];
	struct iovec iov = { frame, sizeof(frame) };
	struct sockaddr_ll from;
	char control[256];
	struct msghdr msg;
	ssize_t len;

	for (;;) {
		msg = (struct msghdr) {
			.msg_name = &from, .msg_namelen = sizeof(from),
			.msg_iov = &iov, .msg_iovlen = 1,
			.msg_control = control,
			.msg_controllen = sizeof(control),
		};
		len = recvmsg(fd, &msg, 0);
		if (len <= 0)
			return false;
		if (from.sll_pkttype == PACKET_OUTGOING || len < ETH_HLEN)
			continue;
		memset(packet, 0, sizeof(*packet));
		packet->at_ns = sent_at(&msg);
		packet->len = len - ETH_HLEN;
		memcpy(packet->bytes, frame + ETH_HLEN, packet->len);
		if (packet_read(packet))
			return true;
	}
}
