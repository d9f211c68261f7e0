/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packets as scripts write them and as the wire has them. This is a second
 * reading of the formats, on purpose: nothing of the engine is used here.
 */
#ifndef CONFORM_PACKET_H
#define CONFORM_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "script.h"
#include "value.h"

#define PACKET_MAX	8300	/* bytes: more than the largest MTU of a test */
#define ICRC_LEN	4

/** enum header - headers, in the order that they have on the wire */
enum header {
	HDR_IPV4,
	HDR_IPV6,
	HDR_UDP,
	HDR_BTH,
	HDR_XRCETH,
	HDR_DETH,
	HDR_FETH,
	HDR_RETH,
	HDR_ATOMICETH,
	HDR_AETH,
	HDR_ATOMICACKETH,
	HDR_IMMDT,
	HDR_IETH,
	HDR_NR,
};

/**
 * struct packet - a packet from its IP header to its ICRC
 * @at_ns: when it was sent
 * @len: bytes
 * @bytes: those
 * @at: where each header begins; 0 if the packet has none, but for IP
 * @has: a bit for each header that there is
 * @vlan: id of the tag in front of it; 0: there is none
 * @payload: where that begins
 * @payload_len: bytes of it, without pad
 */
struct packet {
	uint64_t at_ns;
	uint32_t len;
	uint8_t bytes[PACKET_MAX];
	uint32_t at[HDR_NR];
	uint32_t has;
	uint32_t vlan;
	uint32_t payload;
	uint32_t payload_len;
};

/**
 * struct packet_peer - what packets have that do not say otherwise
 * @host: address of the tested end
 * @peer: address of the other
 * @host6: the same for IPv6
 * @peer6: likewise
 * @qpn: queue pair of the tested end
 * @peer_qpn: of the other
 * @ipv6: packets are of IPv6
 */
struct packet_peer {
	uint32_t host;
	uint32_t peer;
	uint8_t host6[16];
	uint8_t peer6[16];
	uint32_t qpn;
	uint32_t peer_qpn;
	bool ipv6;
};

bool packet_build(struct packet *packet, struct line *line,
		  const struct packet_peer *peer, const struct names *names,
		  char *why, size_t why_size);
void packet_fit(struct packet *packet);
void packet_seal(struct packet *packet);
void packet_step(struct packet *packet);
void packet_split(struct packet *first, struct packet *second, uint32_t at);
bool packet_read(struct packet *packet);
uint32_t packet_icrc(const struct packet *packet);
uint32_t packet_stored_icrc(const struct packet *packet);
uint16_t packet_udp_checksum(const struct packet *packet);
bool packet_read_bytes(const char *text, uint8_t *bytes, size_t room,
		       size_t *nr);

#endif /* CONFORM_PACKET_H */
