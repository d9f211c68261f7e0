// SPDX-License-Identifier: GPL-2.0
/*
 * An adapter that takes UDP packets in trains and numbers them as it likes:
 * a tap device, and what leaves by it. segments.sh builds and runs it:
 *
 *	segments adapter TAP PACKETS
 *	segments send DEVICE GID_INDEX PEER MESSAGES
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_ether.h>
#include <linux/if_tun.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "../lib/pair.h"
#include "../lib/trains.h"

#ifndef TUN_F_USO4
#define TUN_F_USO4	0x20
#define TUN_F_USO6	0x40
#endif

#define SKIP		4
#define ROCE_PORT	4791
#define VXLAN_PORT	4789
#define VXLAN_LEN	8
#define LEN		65536
#define ICRC_LEN	4
/* The first identification of a train that this adapter cuts. */
#define OWN_ID		0x4711

static unsigned int packets, trains, wrong;

static uint32_t crc32_of(uint32_t crc, const uint8_t *at, size_t len)
{
	int bit;

	while (len--) {
		crc ^= *at++;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return crc;
}

/* Of a packet from its IP header on, all that may change on the way masked. */
static uint32_t icrc_of(const uint8_t *packet, size_t ip_len, size_t len)
{
	uint8_t ones[8], head[64];
	size_t head_len = ip_len + 8 + 12;

	memset(ones, 0xff, sizeof(ones));
	memcpy(head, packet, head_len);
	if (ip_len == sizeof(struct iphdr)) {
		head[1] = 0xff;
		head[8] = 0xff;
		memset(head + 10, 0xff, 2);
	} else {
		head[0] |= 0x0f;
		memset(head + 1, 0xff, 3);
		head[7] = 0xff;
	}
	memset(head + ip_len + 6, 0xff, 2);
	head[ip_len + 8 + 4] = 0xff;

	return ~crc32_of(crc32_of(crc32_of(~0U, ones, sizeof(ones)),
				  head, head_len),
			 packet + head_len, len - head_len - ICRC_LEN);
}

static void judge(const uint8_t *packet, size_t ip_len, size_t len)
{
	const uint8_t *icrc = packet + len - ICRC_LEN;

	packets++;
	if (icrc_of(packet, ip_len, len) !=
	    (icrc[0] | icrc[1] << 8 | icrc[2] << 16 | (uint32_t)icrc[3] << 24))
		wrong++;
}

/* Makes the packets of a train, as an adapter would. */
static void cut(const uint8_t *train, size_t ip_len, size_t len, size_t size)
{
	size_t head_len = ip_len + sizeof(struct udphdr), at, part;
	struct ipv6hdr *ipv6;
	uint8_t packet[8192];
	struct iphdr *ipv4;
	uint16_t id = OWN_ID;

	EXPECT(size && size <= sizeof(packet) - head_len);
	for (at = head_len; at < len; at += part) {
		part = len - at < size ? len - at : size;
		memcpy(packet, train, head_len);
		memcpy(packet + head_len, train + at, part);
		ipv4 = (void *)packet;
		ipv6 = (void *)packet;
		if (ip_len == sizeof(*ipv4)) {
			ipv4->tot_len = htons(head_len + part);
			ipv4->id = htons(id++);
		} else {
			ipv6->payload_len = htons(sizeof(struct udphdr) + part);
		}
		((struct udphdr *)(packet + ip_len))->len =
			htons(sizeof(struct udphdr) + part);
		judge(packet, ip_len, head_len + part);
	}
}

static size_t ip_len_of(uint16_t protocol)
{
	switch (protocol) {
	case ETH_P_IP:
		return sizeof(struct iphdr);
	case ETH_P_IPV6:
		return sizeof(struct ipv6hdr);
	default:
		return 0;
	}
}

/* Takes a frame, or that in a tunnel; what is not of RoCE is nothing. */
static void take(const struct virtio_net_hdr *how, const uint8_t *frame,
		 size_t len)
{
	size_t ethernet = ETH_HLEN, ip_len;
	const struct udphdr *udp;
	uint16_t protocol;

	memcpy(&protocol, frame + ethernet - 2, 2);
	if (ntohs(protocol) == ETH_P_8021Q) {
		ethernet += 4;
		memcpy(&protocol, frame + ethernet - 2, 2);
	}
	ip_len = ip_len_of(ntohs(protocol));
	udp = (const void *)(frame + ethernet + ip_len);
	if (!ip_len || len < ethernet + ip_len + sizeof(*udp))
		return;
	frame += ethernet;
	len -= ethernet;
	if (udp->dest == htons(VXLAN_PORT))
		take(how, frame + ip_len + sizeof(*udp) + VXLAN_LEN,
		     len - ip_len - sizeof(*udp) - VXLAN_LEN);
	if (udp->dest != htons(ROCE_PORT))
		return;

	if (how->gso_type == VIRTIO_NET_HDR_GSO_UDP_L4) {
		trains++;
		cut(frame, ip_len, len, how->gso_size);
	} else {
		EXPECT(how->gso_type == VIRTIO_NET_HDR_GSO_NONE);
		judge(frame, ip_len, len);
	}
}

static int make_tap(const char *name)
{
	struct ifreq ifr = { .ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR };
	unsigned int offloads = TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6 |
				TUN_F_USO4 | TUN_F_USO6;
	int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC);

	EXPECT(fd >= 0);
	strncpy(ifr.ifr_name, name, IFNAMSIZ - 1);
	EXPECT(!ioctl(fd, TUNSETIFF, &ifr));
	if (ioctl(fd, TUNSETOFFLOAD, offloads)) {
		/* Before Linux 6.2, which cuts what leaves by a tap. */
		EXPECT(errno == EINVAL);
		offloads &= ~(TUN_F_USO4 | TUN_F_USO6);
		EXPECT(!ioctl(fd, TUNSETOFFLOAD, offloads));
		printf("no trains\n");
	}
	return fd;
}

/* Looks until so many packets have come, or none for long, and stays. */
static void adapter(const char *name, unsigned int wanted)
{
	static uint8_t frame[1 << 17];
	struct virtio_net_hdr how;
	struct iovec in[] = {
		{ &how, sizeof(how) }, { frame, sizeof(frame) },
	};
	struct pollfd on = { .fd = make_tap(name), .events = POLLIN };
	ssize_t len;

	printf("is there\n");
	while (packets < wanted && poll(&on, 1, 20000 * slow()) > 0) {
		len = readv(on.fd, in, 2);
		if (len >= (ssize_t)sizeof(how) + ETH_HLEN)
			take(&how, frame, len - sizeof(how));
	}
	printf("%u packets, %u trains, %u wrong\n", packets, trains, wrong);
	pause();
}

static void connect_to(struct ibv_qp *qp, const char *peer)
{
	struct ibv_qp_attr init = init_attr(), rtr = rtr_attr(0x123456);
	struct ibv_qp_attr rts = { .qp_state = IBV_QPS_RTS };

	EXPECT(inet_pton(AF_INET6, peer, &rtr.ah_attr.grh.dgid) == 1);
	EXPECT(!ibv_modify_qp(qp, &init, TO_INIT));
	EXPECT(!ibv_modify_qp(qp, &rtr, UC_TO_RTR));
	EXPECT(!ibv_modify_qp(qp, &rts, UC_TO_RTS));
}

/* By an unreliable connection, so that nobody has to answer. */
static int send_messages(const char *peer, unsigned int nr)
{
	static uint8_t bytes[LEN];
	struct ibv_mr *mr = ibv_reg_mr(pd, bytes, LEN, RIGHTS);
	struct ibv_cq *cq = ibv_create_cq(ctx, 16, NULL, NULL, 0);
	struct ibv_qp_init_attr attr = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_UC,
		.sq_sig_all = 1,
		.cap = { .max_send_wr = 16, .max_recv_wr = 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_qp *qp = ibv_create_qp(pd, &attr);

	EXPECT(mr && cq && qp);
	fill(bytes, LEN, 7);
	connect_to(qp, peer);
	while (nr--) {
		struct ibv_sge sge = { (uintptr_t)bytes, LEN, mr->lkey };
		struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };

		EXPECT(post_wait(qp, cq, wr, sge) == IBV_WC_SUCCESS);
	}
	return 0;
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc == 4 && !strcmp(argv[1], "adapter"))
		adapter(argv[2], arg_number(argv[3]));
	if (argc == 6 && !strcmp(argv[1], "send")) {
		open_device(argv[2], argv[3]);
		return send_messages(argv[4], arg_number(argv[5]));
	}
	return 2;
}
