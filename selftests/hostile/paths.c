// SPDX-License-Identifier: GPL-2.0
/*
 * Right packets that have come by the wrong way: addresses that are not the
 * connection's, frames for others, fragments, options, extension headers. peer.sh
 * builds and runs it:
 *
 *	paths DEVICE GID_INDEX CASE...
 */
#include "../lib/pair.h"
#include "../lib/bystander.h"
#include "../lib/statistic.h"
#include "../lib/trains.h"
#include "victim.h"
#include "attack.h"
#include "frame.h"
#include "operation.h"
#include "outcome.h"

#define JUMBO		65507		/* the largest payload of UDP */

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

/* 10.79.0.3 is this host's now, but not the link's. */
static void address_of_elsewhere(void)
{
	static struct packet packet;
	size_t k;

	for (k = 0; k < COUNT(receivers); k++) {
		build_send(&packet, receivers[k], "dst=10.79.0.3");
		expect(receivers[k], &packet, DROPPED("bad_address"));
	}
}

/* Nobody else's path is congested. */
static void notifications_of_others(void)
{
	static struct packet packet;
	struct victim *v;

	for (v = victims; v < victims + KINDS; v++) {
		build(&packet, v, "0x81 len=16 becn src=10.79.0.9");
		expect(v, &packet, is_connected(v) ? DROPPED("bad_address") :
						     outcome_of(v, CNP));
	}
}

/* How much a queue pair sends until it is acknowledged, as "rdma" shows it. */
static unsigned int window_of(const struct victim *v)
{
	unsigned int window = 0;
	char command[128];
	FILE *said;

	snprintf(command, sizeof(command), "rdma -dd resource show qp lqpn %u |"
		 " grep -o 'drv_window [0-9]*'", v->qpn);
	said = popen(command, "r");
	EXPECT(said && fscanf(said, "drv_window %u", &window) == 1);
	pclose(said);
	return window;
}

/* It is read, and dropped; a mark of congestion is neither echoed nor obeyed. */
static void astray(struct victim *v, const char *words, const char *why)
{
	unsigned int window = window_of(v);
	static struct packet packet;
	static struct reaction r;

	build(&packet, v, "%s src=10.79.0.9", words);
	expect(v, &packet, DROPPED("bad_address"));
	build(&packet, v, "%s", words);
	packet.bytes[packet.len - 1] ^= 1;
	expect(v, &packet, DROPPED("bad_icrc"));
	build(&packet, v, "%s tos=3", words);
	attack_with(&packet, v, &r);
	EXPECT(counted(&r, why) == 1 && dropped(&r) == 1);
	EXPECT(!r.answers && !r.notifications && window_of(v) == window);
}

/* What is for the other half of a queue pair. */
static void for_the_other_half(void)
{
	astray(&victims[XRC_INITIATOR], "0xa4 len=64 srqn=1",
	       "drop_wrong_transport");
	astray(&victims[XRC_TARGET], "0xb0 len=64", "drop_ghost_ack");
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

/* The longest that UDP can be, in fragments: no packet is that long. */
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
	expect_quiet(v, &r, DROPPED("bad_length"), "64 KiB");
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

static const struct test_case cases[] = {
	CASE(wrong_addresses), CASE(address_of_elsewhere),
	CASE(notifications_of_others),
	CASE(for_the_other_half), CASE(wrong_addresses6), CASE(other_family),
	CASE(frames_for_others), CASE(frames_of_others), CASE(groups),
	CASE(fragments), CASE(bad_fragments), CASE(jumbos), CASE(options),
	CASE(checksums), CASE(extensions), { }
};

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	begin_attack(argv[1], argv[2]);
	open_frames();
	return attack_by(cases, argv + 3);
}
