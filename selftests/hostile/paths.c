// SPDX-License-Identifier: GPL-2.0
/*
 * Right packets that have come by the wrong way: addresses that are not the
 * connection's, frames for others, fragments, options, extension headers,
 * trains. peer.sh builds and runs it:
 *
 *	paths DEVICE GID_INDEX CASE...
 */
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>

#include "../lib/pair.h"
#include "../lib/bystander.h"
#include "../lib/statistic.h"
#include "../lib/trains.h"
#include "victim.h"
#include "attack.h"
#include "operation.h"
#include "outcome.h"

#define ETHERNET	14
#define IPV4		20
#define IPV6		40
#define UDP		8
#define JUMBO		65507		/* the largest payload of UDP */

static uint8_t near_mac[6], far_mac[6];
static int frames = -1;			/* with a struct virtio_net_hdr each */

static void read_mac(const char *interface, uint8_t *mac)
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

static void open_frames(void)
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
static bool send_frame(struct frame *frame, size_t len)
{
	size_t size = sizeof(*frame) - sizeof(frame->bytes) + len;

	return send(frames, frame, size, 0) == (ssize_t)size;
}

static void frame_of(struct frame *frame, const struct packet *packet)
{
	bool ipv6 = packet->bytes[0] >> 4 == 6;

	memset(frame, 0, sizeof(*frame) - sizeof(frame->bytes));
	memcpy(frame->mac[0], near_mac, 6);
	memcpy(frame->mac[1], far_mac, 6);
	frame->type = htons(ipv6 ? ETH_P_IPV6 : ETH_P_IP);
	memcpy(frame->bytes, packet->bytes, packet->len);
}

/* A SEND that the victim would take. */
static void build_send(struct packet *packet, const struct victim *v,
		       const char *more)
{
	char words[256];

	words_of(v, v->transport | SEND_ONLY, words, sizeof(words));
	build(packet, v, "%s %s", words, more);
}

static struct outcome taken(const struct victim *v)
{
	return outcome_of(v, v->transport | SEND_ONLY);
}

static struct victim *const receivers[] = {
	&victims[RC], &victims[UC], &victims[UD], &victims[XRC_TARGET],
};

/*
 * Addresses
 */

/* None of these is what it was connected to. 10.79.0.3 is a second of ours. */
static void wrong_addresses(void)
{
	static const char *const from[] = {
		"10.79.0.9", "10.79.0.3", "10.79.0.1", "192.0.2.1", "0.0.0.0",
		"127.0.0.1", "10.79.0.255", "224.0.0.1", "255.255.255.255",
		"10.79.0.0",
	}, *const to[] = {
		"10.79.0.3", "10.79.0.255", "255.255.255.255", "224.0.0.1",
		"239.1.2.3", "127.0.0.1", "10.79.0.9", "10.77.0.1", "0.0.0.0",
	};
	static struct packet packet;
	struct outcome outcome;
	struct victim *v;
	char words[64];
	size_t i, k;

	for (k = 0; k < COUNT(receivers); k++) {
		v = receivers[k];
		for (i = 0; i < COUNT(from); i++) {
			if (!is_connected(v))
				continue;
			snprintf(words, sizeof(words), "src=%s", from[i]);
			build_send(&packet, v, words);
			outcome = i < 1 ? DROPPED("bad_address") : LOST;
			expect(v, &packet, outcome);
		}
		for (i = 0; i < COUNT(to); i++) {
			snprintf(words, sizeof(words), "dst=%s", to[i]);
			build_send(&packet, v, words);
			/* A datagram may go to any address of the link. */
			outcome = i ? LOST : is_connected(v) ?
				  DROPPED("bad_address") : taken(v);
			expect(v, &packet, outcome);
		}
	}
}

/* The last 16 bytes of an address of IPv6 are changed one at a time. */
static void wrong_addresses6(void)
{
	static struct packet good, packet;
	struct victim *v;
	size_t k, at;

	for (k = 0; k < COUNT(receivers); k++) {
		v = receivers[k];
		build_send(&good, v, "");
		for (at = is_connected(v) ? 8 : 24; at < 40; at++) {
			packet = good;
			packet.bytes[at] ^= 0x10;
			packet_seal(&packet);
			expect(v, &packet, LOST);
		}
	}
}

/* Of the other family, and of one that looks like it as a GID. */
static void other_family(void)
{
	static struct packet packet;
	struct packet_peer as = peer;
	struct victim *v;
	size_t k;

	for (k = 0; k < COUNT(receivers); k++) {
		v = receivers[k];
		if (!is_connected(v))
			continue;
		peer.ipv6 = !as.ipv6;
		build_send(&packet, v, "");
		peer.ipv6 = as.ipv6;
		expect(v, &packet, DROPPED("bad_address"));

		inet_pton(AF_INET6, "::ffff:" HOST4, peer.host6);
		inet_pton(AF_INET6, "::ffff:" PEER4, peer.peer6);
		peer.ipv6 = true;
		build_send(&packet, v, "");
		peer = as;
		expect(v, &packet, LOST);
	}
}

static void expect_frame(struct victim *v, struct frame *frame, size_t len,
			 struct outcome outcome, const char *what)
{
	static struct reaction r;

	reaction_begins(&r);
	EXPECT(send_frame(frame, len));
	reaction_ends(&r, v);
	if (!is_expected(&r, outcome, victim_state(v))) {
		printf("%s, %s: ", v->name, what);
		print_reaction(&r);
		exit(1);
	}
	victim_heal(v);
}

/* To one host by its address of IP, but not by that of its interface. */
static void frames_for_others(void)
{
	static const uint8_t macs[][6] = {
		{ 0xff, 0xff, 0xff, 0xff, 0xff, 0xff },
		{ 0x01, 0x00, 0x5e, 0x00, 0x00, 0x01 },
		{ 0x33, 0x33, 0x00, 0x00, 0x00, 0x01 },
		{ 0x02, 0x00, 0x00, 0x00, 0x00, 0x01 },
	};
	static struct packet packet;
	static struct frame frame;
	size_t i, k;

	for (k = 0; k < COUNT(receivers); k++)
		for (i = 0; i < COUNT(macs); i++) {
			build_send(&packet, receivers[k], "");
			frame_of(&frame, &packet);
			memcpy(frame.mac[0], macs[i], 6);
			expect_frame(receivers[k], &frame, packet.len, LOST,
				     "a frame for others");
		}
}

/* Types of frames that are none of IP, a VLAN that there is not. */
static void frames_of_others(void)
{
	static const uint16_t types[] = { 0x8915, 0x8100, 0x0806, 0x86dd, 5 };
	static struct packet packet;
	static struct frame frame;
	size_t i;

	for (i = 0; i < COUNT(types); i++) {
		build_send(&packet, &victims[RC], "");
		frame_of(&frame, &packet);
		frame.type = htons(types[i]);
		if (peer.ipv6 && types[i] == 0x86dd)
			frame.type = htons(0x0800);
		expect_frame(&victims[RC], &frame, packet.len, LOST,
			     "a frame of another type");
	}
}

/*
 * Groups
 */

static union ibv_gid group_gid(const char *address)
{
	union ibv_gid gid = { };

	gid.raw[10] = 0xff;
	gid.raw[11] = 0xff;
	EXPECT(inet_pton(AF_INET, address, gid.raw + 12) == 1);
	return gid;
}

#define GROUP	"239.79.0.1"

/* A connection gets nothing by a group, a member only what the group gets. */
static void groups(void)
{
	struct victim *ud = &victims[UD];
	union ibv_gid gid = group_gid(GROUP);
	static struct packet packet;
	size_t k;

	build_send(&packet, ud, "dst=" GROUP " dqpn=0xffffff");
	expect(ud, &packet, LOST);
	EXPECT(!ibv_attach_mcast(ud->qp, &gid, 0));
	build_send(&packet, ud, "dst=" GROUP " dqpn=0xffffff");
	expect(ud, &packet, taken(ud));
	build_send(&packet, ud, "dqpn=0xffffff");
	expect(ud, &packet, DROPPED("no_qp"));
	build_send(&packet, ud, "dst=" GROUP " dqpn=0xffffff late.resv7=1");
	expect(ud, &packet, DROPPED("bad_icrc"));
	for (k = 0; k < COUNT(receivers); k++) {
		build_send(&packet, receivers[k], "dst=" GROUP);
		expect(receivers[k], &packet, DROPPED("bad_address"));
		if (receivers[k] == ud)
			continue;
		/* The member drops what is none of a datagram. */
		build_send(&packet, receivers[k],
			   "dst=" GROUP " dqpn=0xffffff");
		expect(receivers[k], &packet, DROPPED("wrong_transport"));
	}
	EXPECT(!ibv_detach_mcast(ud->qp, &gid, 0));
}

/*
 * What IP may do to a packet
 */

/* @bytes behind the headers of IP, at @at of those of the packet. */
static void send_fragment(const struct packet *packet, uint32_t at,
			  uint32_t bytes, bool more)
{
	static struct packet piece;
	uint16_t place = at / 8 | (more ? 0x2000 : 0);

	memset(&piece, 0, sizeof(piece));
	piece.has = 1U << HDR_IPV4;
	piece.len = IPV4 + bytes;
	memcpy(piece.bytes, packet->bytes, IPV4);
	memcpy(piece.bytes + IPV4, packet->bytes + IPV4 + at, bytes);
	piece.bytes[6] = place >> 8;
	piece.bytes[7] = place;
	packet_fit(&piece);
	wire_deliver(&piece);
}

static void expect_quiet(struct victim *v, struct reaction *r,
			 struct outcome outcome, const char *what)
{
	reaction_ends(r, v);
	if (!is_expected(r, outcome, victim_state(v))) {
		printf("%s, %s: ", v->name, what);
		print_reaction(r);
		exit(1);
	}
	victim_heal(v);
}

/* In pieces of every size, last first or first first; whole, it is right. */
static void fragments(void)
{
	static const uint32_t sizes[] = { 8, 16, 24, 40, 72 };
	static struct packet packet;
	static struct reaction r;
	uint32_t len, at, n;
	size_t k, i;
	char words[64];

	for (k = 0; k < COUNT(receivers); k++)
		for (i = 0; i < COUNT(sizes); i++) {
			snprintf(words, sizeof(words), "no_df ip_id=%zu df=0",
				 1000 + k * 100 + i);
			build_send(&packet, receivers[k], words + 6);
			len = packet.len - IPV4;
			reaction_begins(&r);
			n = (len + sizes[i] - 1) / sizes[i];
			while (n--) {
				at = n * sizes[i];
				send_fragment(&packet, at,
					      len - at < sizes[i] ? len - at :
					      sizes[i],
					      at + sizes[i] < len);
			}
			expect_quiet(receivers[k], &r, taken(receivers[k]),
				     "fragments");
		}
}

/* They overlap, or one is missing, or they would be longer than IP can be. */
static void bad_fragments(void)
{
	struct victim *v = &victims[RC];
	static struct packet packet;
	static struct reaction r;
	uint32_t len, i;

	for (i = 0; i < 8; i++) {
		build_send(&packet, v, "df=0");
		packet.bytes[4] = 0x40 + i;
		packet_seal(&packet);
		len = packet.len - IPV4;
		reaction_begins(&r);
		send_fragment(&packet, 0, 32, true);
		if (i & 1)
			send_fragment(&packet, 24, 16, true);
		if (i & 2)
			send_fragment(&packet, 8 * i, len - 8 * i, false);
		if (i & 4)
			send_fragment(&packet, 65528, 8, false);
		expect_quiet(v, &r, LOST, "bad fragments");
	}
}

/* The longest that UDP can be; the ICRC is at its end, and wrong. */
static void jumbo(struct victim *v)
{
	static uint8_t bytes[UDP + JUMBO];
	static struct packet packet;
	static struct reaction r;
	static struct packet piece;
	uint32_t at, len;

	build_send(&packet, v, "df=0 late.udp_len=65515");
	memset(bytes, 0x77, sizeof(bytes));
	memcpy(bytes, packet.bytes + IPV4, packet.len - IPV4 - 4);
	reaction_begins(&r);
	for (at = 0; at < sizeof(bytes); at += len) {
		bool more = at + 1480 < sizeof(bytes);

		len = more ? 1480 : sizeof(bytes) - at;
		piece = packet;
		piece.has = 1U << HDR_IPV4;
		piece.len = IPV4 + len;
		memcpy(piece.bytes + IPV4, bytes + at, len);
		piece.bytes[4] = 0x60 + v->kind;
		piece.bytes[6] = (at / 8) >> 8 | (more ? 0x20 : 0);
		piece.bytes[7] = at / 8;
		packet_fit(&piece);
		wire_deliver(&piece);
	}
	expect_quiet(v, &r, DROPPED("bad_icrc"), "64 KiB");
}

static void jumbos(void)
{
	size_t k;

	for (k = 0; k < COUNT(receivers); k++)
		jumbo(receivers[k]);
}

static void options(void)
{
	static struct packet packet;
	size_t k;

	for (k = 0; k < COUNT(receivers); k++) {
		build_send(&packet, receivers[k], "options");
		expect(receivers[k], &packet, DROPPED("short"));
	}
}

static void checksums(void)
{
	static struct packet packet;
	size_t k;

	for (k = 0; k < COUNT(receivers); k++) {
		build_send(&packet, receivers[k], "udp_checksum");
		expect(receivers[k], &packet, taken(receivers[k]));
		build_send(&packet, receivers[k], "bad_udp_checksum");
		expect(receivers[k], &packet, LOST);
	}
}

/* Eight bytes of an extension header between those of IPv6 and UDP. */
static void extensions(void)
{
	static const struct {
		uint8_t next;
		uint8_t bytes[8];
	} headers[] = {
		{ 0, { 17, 0, 1, 4 } },		/* hop by hop: padding */
		{ 60, { 17, 0, 1, 4 } },	/* for the destination */
		{ 60, { 17, 0, 0xc2, 4 } },	/* jumbo payload, misplaced */
		{ 43, { 17, 0, 4, 0 } },	/* routing, none left */
		{ 43, { 17, 0, 4, 1 } },	/* one left */
		{ 44, { 17, 0, 0, 0, 1, 2, 3, 4 } },	/* whole in one */
		{ 44, { 17, 0, 0, 1, 1, 2, 3, 5 } },	/* more to come */
		{ 51, { 17, 0 } },		/* authentication, too short */
		{ 59, { 17, 0 } },		/* nothing follows */
		{ 135, { 17, 0 } }, { 255, { 17, 0 } },
	};
	static struct packet packet;
	struct victim *v;
	size_t i, k;

	for (k = 0; k < COUNT(receivers); k++)
		for (i = 0; i < COUNT(headers); i++) {
			v = receivers[k];
			build_send(&packet, v, "");
			memmove(packet.bytes + IPV6 + 8, packet.bytes + IPV6,
				packet.len - IPV6);
			memcpy(packet.bytes + IPV6, headers[i].bytes, 8);
			packet.len += 8;
			packet.bytes[6] = headers[i].next;
			packet.bytes[4] = (packet.len - IPV6) >> 8;
			packet.bytes[5] = packet.len - IPV6;
			expect(v, &packet, LOST);
		}
}

/*
 * Trains: what a guest of this host, or a container, can send in one piece.
 */

#define LONGEST	40

/* The most packets of a train that kernels make, and that a queue pair takes. */
#define UDP_TRAIN	128
#define STEP	256

/**
 * struct train - packets of one flow, as one
 * @frame: it
 * @len: bytes of that, from the header of IP on
 * @nr: number of packets
 */
struct train {
	struct frame frame;
	size_t len;
	uint32_t nr;
};

static uint32_t ip_len(void)
{
	return peer.ipv6 ? IPV6 : IPV4;
}

/* What a SEND to that kind has to say, besides. */
static const char *words_of_kind(const struct victim *v)
{
	static char words[64];

	words[0] = '\0';
	if (v->kind == UD)
		snprintf(words, sizeof(words), " qkey=%u", QKEY);
	if (v->kind == XRC_TARGET)
		snprintf(words, sizeof(words), " srqn=%u", v->srqn);
	return words;
}

static void train_begins(struct train *train)
{
	train->len = 0;
	train->nr = 0;
}

/* The packet behind those that are there. */
static void train_put(struct train *train, const struct packet *packet)
{
	size_t bth = packet->at[HDR_BTH];

	if (!train->nr++) {
		frame_of(&train->frame, packet);
		train->len = packet->len;
		return;
	}
	memcpy(train->frame.bytes + train->len, packet->bytes + bth,
	       packet->len - bth);
	train->len += packet->len - bth;
}

/* The words for the place of the next one. */
static const char *next_place(const struct train *train, uint32_t psn)
{
	static char words[64];

	snprintf(words, sizeof(words), peer.ipv6 ? "psn=%u" : "psn=%u ip_id=%u",
		 psn, train->nr);
	return words;
}

/* A SEND of @len bytes. */
static void train_add(struct train *train, const struct victim *v,
		      uint32_t len, const char *words)
{
	static struct packet packet;

	build(&packet, v, "0x%02x ack len=%u %s%s %s",
	      v->transport | SEND_ONLY, len,
	      next_place(train, v->psn + train->nr), words_of_kind(v), words);
	train_put(train, &packet);
}

/* READs that @packets answer each. Returns the PSN behind them. */
static uint32_t train_of_reads(struct train *train, const struct victim *v,
			       uint32_t psn, uint32_t nr, uint32_t packets)
{
	static struct packet packet;

	for (train_begins(train); nr; nr--, psn += packets) {
		build(&packet, v, "0x%02x len=0 va=%llu rkey=%u dma=%u %s",
		      v->transport | READ_REQUEST,
		      (unsigned long long)(uintptr_t)lent, lent_mr->rkey,
		      packets * MTU, next_place(train, psn));
		train_put(train, &packet);
	}
	return psn;
}

static uint32_t sum16(const uint8_t *at, size_t len)
{
	uint32_t sum = 0;

	for (; len > 1; at += 2, len -= 2)
		sum += at[0] << 8 | at[1];
	return sum;
}

static uint16_t folded(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

static void put16(uint8_t *at, uint16_t value)
{
	at[0] = value >> 8;
	at[1] = value;
}

/* Lengths and checksums of headers that stand for all. */
static void fit_train(struct train *train)
{
	uint8_t *ip = train->frame.bytes;
	uint16_t udp_len = train->len - ip_len();
	uint8_t *udp = ip + ip_len();

	if (peer.ipv6) {
		put16(ip + 4, udp_len);
	} else {
		put16(ip + 2, train->len);
		put16(ip + 10, 0);
		put16(ip + 10, ~folded(sum16(ip, IPV4)));
	}
	put16(udp + 4, udp_len);
	/* The addresses lie right before; the rest is added by who cuts it. */
	put16(udp + 6, folded(sum16(udp - (peer.ipv6 ? 32 : 8),
				    peer.ipv6 ? 32 : 8) + 17 + udp_len));
}

/* Returns whether this kernel sends it. */
static bool train_leaves(struct train *train, uint16_t size)
{
	fit_train(train);
	train->frame.how = (struct virtio_net_hdr) {
		.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
		.gso_type = VIRTIO_NET_HDR_GSO_UDP_L4,
		.hdr_len = ETHERNET + ip_len() + UDP, .gso_size = size,
		.csum_start = ETHERNET + ip_len(), .csum_offset = 6,
	};
	return send_frame(&train->frame, train->len);
}

/* Bytes of its packets, from BTH to ICRC. */
static uint32_t bytes_of(const struct victim *v, uint32_t len)
{
	return hdr_len(v, v->transport | SEND_ONLY) + len + 4;
}

/* That they come whole, or the rest says nothing. */
static bool trains_come(struct train *train, struct victim *v)
{
	static struct reaction r;
	uint32_t i;

	train_begins(train);
	for (i = 0; i < 3; i++)
		train_add(train, v, 64, "");
	reaction_begins(&r);
	if (!train_leaves(train, bytes_of(v, 64)))
		return false;
	reaction_ends(&r, v);
	if (executed(&r) != 3 || dropped(&r) ||
	    counted(&r, "rx_trains") != 1) {
		print_reaction(&r);
		exit(1);
	}
	victim_heal(v);
	return true;
}

#define SOME	(~0ULL)

/*
 * What a train brings about that is cut at @size: how many of its packets are
 * executed, and dropped. The rest came before their turn, and are kept. Returns
 * whether this kernel sends it.
 */
static bool train_is(struct train *train, struct victim *v, uint16_t size,
		     uint64_t done, uint64_t gone, const char *what)
{
	static struct reaction r;
	uint64_t kept, nr;

	reaction_begins(&r);
	if (!train_leaves(train, size))
		return false;
	reaction_ends(&r, v);
	nr = counted(&r, "rx_packets") - 1;
	kept = counted(&r, "kept_packets");
	if (executed(&r) != done || (gone != SOME && dropped(&r) != gone) ||
	    executed(&r) + dropped(&r) + kept < nr || r.strange ||
	    r.answers > train->nr + 1) {
		printf("%s, %s, cut at %u: %llu and %llu expected; ", v->name,
		       what, size, (unsigned long long)done,
		       (unsigned long long)gone);
		print_reaction(&r);
		exit(1);
	}
	others_are_well(v);
	victim_heal(v);
	return true;
}

/* As many packets as a kernel makes a train of, and more than a step has. */
static void longest_train_to(struct train *train, struct victim *v)
{
	static struct reaction r;
	uint32_t i;

	/* Most find no receive request. */
	train_begins(train);
	for (i = 0; i < UDP_TRAIN; i++)
		train_add(train, v, 8, "");
	reaction_begins(&r);
	EXPECT(train_leaves(train, bytes_of(v, 8)));
	reaction_ends(&r, v);
	EXPECT(executed(&r) && !counted(&r, "drop_queue_full"));
	others_are_well(v);
	victim_heal(v);

	train_begins(train);
	for (i = 0; i < STEP + 1; i++)
		train_add(train, v, 8, "");
	if (!train_is(train, v, bytes_of(v, 8), 0, i, "too many packets"))
		printf("this kernel refuses trains of %u packets\n", i);
}

static void trains_to(struct train *train, struct victim *v)
{
	bool ordered = v->kind == RC || v->kind == XRC_TARGET;
	uint32_t bytes = bytes_of(v, 64), size, i;

	/* The second is for somebody else. */
	train_begins(train);
	train_add(train, v, 64, "");
	train_add(train, v, 64, "dqpn=0x123456");
	train_add(train, v, 64, "");
	train_is(train, v, bytes, ordered ? 1 : 2, 1, "somebody else's packet");

	/* The second has a wrong ICRC. */
	train_begins(train);
	train_add(train, v, 64, "");
	train_add(train, v, 64, "late.resv7=7");
	train_add(train, v, 64, "");
	train_is(train, v, bytes, ordered ? 1 : 2, 1, "a wrong ICRC");

	/* The last is shorter than anything can be. */
	train_begins(train);
	train_add(train, v, 64, "");
	train_add(train, v, 64, "");
	train->len -= bytes - 12;
	train_is(train, v, bytes, 1, 1, "a stump");

	/* Cut where no packet begins, the last neither: none is one. */
	bytes = bytes_of(v, 8);
	for (size = 1; size < 3 * bytes; size += 3) {
		if (!(size % bytes) || !((LONGEST - 1) * bytes % size))
			continue;
		train_begins(train);
		for (i = 0; i < LONGEST; i++)
			train_add(train, v, 8, "");
		train_is(train, v, size, 0, SOME, "cut elsewhere");
	}
}

static void trains(void)
{
	static struct train train;
	size_t k;

	for (k = 0; k < COUNT(receivers); k++) {
		if (!trains_come(&train, receivers[k])) {
			printf("this kernel sends no trains\n");
			return;
		}
		trains_to(&train, receivers[k]);
		longest_train_to(&train, receivers[k]);
	}
}

/*
 * Of the first train a step answers four READs, the next one the fifth. Meanwhile the
 * others come, which ask for 60 packets each: in the fourth of them its budget would
 * end.
 */
static void trains_of_reads(void)
{
	struct victim *v = &victims[RC];
	uint16_t size = hdr_len(v, v->transport | READ_REQUEST) + 4;
	static struct reaction r;
	static struct train train;
	double end = now() + 20;
	uint32_t psn, i;

	reaction_begins(&r);
	psn = train_of_reads(&train, v, v->psn, 5, 64);
	EXPECT(train_leaves(&train, size));
	for (i = 0; i < 6; i++) {
		psn = train_of_reads(&train, v, psn, 3, 20);
		EXPECT(train_leaves(&train, size));
	}
	do
		reaction_ends(&r, v);
	while (counted(&r, "rx_read_requests") < 23 && now() < end);

	if (counted(&r, "rx_read_requests") != 23 || dropped(&r) || r.strange) {
		print_reaction(&r);
		exit(1);
	}
	take_all();
	victim_heal(v);
}

static const struct test_case cases[] = {
	CASE(wrong_addresses), CASE(wrong_addresses6), CASE(other_family),
	CASE(frames_for_others), CASE(frames_of_others), CASE(groups),
	CASE(fragments), CASE(bad_fragments), CASE(jumbos), CASE(options),
	CASE(checksums), CASE(extensions), CASE(trains),
	CASE(trains_of_reads), { }
};

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	begin_attack(argv[1], argv[2]);
	open_frames();
	return attack_by(cases, argv + 3);
}
