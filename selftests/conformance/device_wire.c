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

#include "../lib/trains.h"
#include "device.h"

#define BUFFER_LEN	(16 << 20)
#define VLAN_TAG_LEN	4

/* Trains go by a socket of their own, that says how they are to be cut. */
static int fd = -1, trains = -1;
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

static uint16_t get16(const uint8_t *at)
{
	return at[0] << 8 | at[1];
}

static void put16(uint8_t *at, uint16_t value)
{
	at[0] = value >> 8;
	at[1] = value;
}

static uint16_t folded(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
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
	at.sll_protocol = 0;
	trains = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (trains < 0 || bind(trains, (struct sockaddr *)&at, sizeof(at)) ||
	    setsockopt(trains, SOL_PACKET, PACKET_VNET_HDR, &yes,
		       sizeof(yes))) {
		perror("trains");
		return false;
	}
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	return !setsockopt(fd, SOL_PACKET, PACKET_AUXDATA, &yes, sizeof(yes)) &&
	       !setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &yes, sizeof(yes));
}

int wire_fd(void)
{
	return fd;
}

/* A group has a hardware address of its own (RFC 1112, RFC 2464). */
static void address_group(uint8_t *mac, const struct packet *packet)
{
	const uint8_t *to = packet->bytes + 16, *to6 = packet->bytes + 24;
	bool ipv6 = packet->bytes[0] >> 4 == 6;

	if (!ipv6 && to[0] >> 4 == 14)
		memcpy(mac, (uint8_t []) { 0x01, 0x00, 0x5e, to[1] & 0x7f,
					   to[2], to[3] }, ETH_ALEN);
	if (ipv6 && to6[0] == 0xff)
		memcpy(mac, (uint8_t []) { 0x33, 0x33, to6[12], to6[13],
					   to6[14], to6[15] }, ETH_ALEN);
}

/* What stands in front of a packet, ETH_HLEN bytes. */
static void address_frame(uint8_t *frame, const struct packet *packet)
{
	uint16_t type = packet->bytes[0] >> 4 == 6 ? ETH_P_IPV6 : ETH_P_IP;

	memcpy(frame, near_mac, ETH_ALEN);
	address_group(frame, packet);
	memcpy(frame + ETH_ALEN, far_mac, ETH_ALEN);
	frame[12] = type >> 8;
	frame[13] = type & 0xff;
}

/** wire_deliver - the peer sends a packet */
void wire_deliver(const struct packet *packet)
{
	uint8_t frame[ETH_HLEN + VLAN_TAG_LEN + PACKET_MAX], *at = frame;

	address_frame(frame, packet);
	at += ETH_HLEN;
	if (packet->vlan) {
		/* The type moves behind the tag. */
		memmove(at + 2, at - 2, 2);
		put16(at - 2, ETH_P_8021Q);
		put16(at, packet->vlan);
		at += VLAN_TAG_LEN;
	}
	memcpy(at, packet->bytes, packet->len);
	at += packet->len;
	if (send(fd, frame, at - frame, 0) < 0)
		perror("send");
}

/* Headers that stand for all: of the sum, who cuts it adds the rest. */
static void fit_train(uint8_t *ip, uint32_t len)
{
	bool ipv6 = ip[0] >> 4 == 6;
	uint32_t ip_len = ipv6 ? 40 : 20, addresses = ipv6 ? 32 : 8, i;
	uint32_t udp_len = len - ip_len, sum;
	uint8_t *udp = ip + ip_len;

	put16(ip + (ipv6 ? 4 : 2), ipv6 ? udp_len : len);
	put16(udp + 4, udp_len);
	for (sum = 17 + udp_len, i = 0; i < addresses; i += 2)
		sum += get16(udp - addresses + i);
	put16(udp + 6, folded(sum));
	if (ipv6)
		return;
	put16(ip + 10, 0);
	for (sum = 0, i = 0; i < ip_len; i += 2)
		sum += get16(ip + i);
	put16(ip + 10, ~folded(sum));
}

/**
 * wire_deliver_train - the peer sends packets of one flow as one
 * @packets: of one size but for the last, which may be shorter; of IPv4 they
 *	have identifications in a row
 * @nr: how many
 * @linear: so many bytes of the frame lie in one piece, the others in pages;
 *	0: as many as the kernel likes
 *
 * Return: false if this kernel does not take it: before 6.2 none does.
 */
bool wire_deliver_train(const struct packet *packets, size_t nr,
			uint32_t linear)
{
	static struct {
		struct virtio_net_hdr how;
		uint8_t frame[65536];
	} __attribute__((packed)) train;
	uint32_t udp = packets->at[HDR_UDP], bth = packets->at[HDR_BTH];
	uint8_t *ip = train.frame + ETH_HLEN;
	uint32_t len = bth;
	ssize_t size;
	size_t i;

	address_frame(train.frame, packets);
	memcpy(ip, packets->bytes, bth);
	for (i = 0; i < nr; i++) {
		memcpy(ip + len, packets[i].bytes + bth, packets[i].len - bth);
		len += packets[i].len - bth;
	}
	fit_train(ip, len);
	train.how = (struct virtio_net_hdr) {
		.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
		.gso_type = VIRTIO_NET_HDR_GSO_UDP_L4,
		.hdr_len = linear ?: ETH_HLEN + bth,
		.gso_size = packets->len - bth,
		.csum_start = ETH_HLEN + udp, .csum_offset = 6,
	};
	size = sizeof(train.how) + ETH_HLEN + len;
	return send(trains, &train, size, 0) == size;
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

/* The kernel takes tags out of frames, and says what they were. */
static uint32_t vlan_of(struct msghdr *msg)
{
	struct tpacket_auxdata aux;
	struct cmsghdr *cmsg;

	for (cmsg = CMSG_FIRSTHDR(msg); cmsg; cmsg = CMSG_NXTHDR(msg, cmsg)) {
		if (cmsg->cmsg_level != SOL_PACKET ||
		    cmsg->cmsg_type != PACKET_AUXDATA)
			continue;
		memcpy(&aux, CMSG_DATA(cmsg), sizeof(aux));
		if (aux.tp_status & TP_STATUS_VLAN_VALID)
			return aux.tp_vlan_tci & 0xfff;
	}
	return 0;
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
		packet->vlan = vlan_of(&msg);
		packet->len = len - ETH_HLEN;
		memcpy(packet->bytes, frame + ETH_HLEN, packet->len);
		if (packet_read(packet))
			return true;
	}
}
