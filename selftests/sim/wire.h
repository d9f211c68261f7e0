/* SPDX-License-Identifier: GPL-2.0 */
/* A wire that loses, repeats, delays, swaps and spoils packets. */
#ifndef FRDMA_SIM_WIRE_H
#define FRDMA_SIM_WIRE_H

#include "hdr.h"
#include "rnd.h"

#define WIRE_PKT_MAX	(FRDMA_HDR_MAX + 256 + FRDMA_ICRC_LEN)

/**
 * struct wire_mood - how bad it is, in packets of a thousand
 * @drop: lost
 * @copy: delivered twice
 * @spoil: delivered with a bit flipped
 * @late: held back, so that others overtake
 * @delay_ns: of every packet
 * @late_ns: most that is added to the late ones
 */
struct wire_mood {
	u32 drop;
	u32 copy;
	u32 spoil;
	u32 late;
	u64 delay_ns;
	u64 late_ns;
};

/**
 * struct wire_pkt - a packet under way
 * @next: later one
 * @due_ns: when it arrives
 * @to: which side it goes to
 * @life: which connection it belongs to
 * @abs_psn: its PSN without the wrap-around
 * @response: it is for the send side
 * @len: bytes, from BTH to ICRC
 * @bytes: those
 */
struct wire_pkt {
	struct wire_pkt *next;
	u64 due_ns;
	u32 to;
	u32 life;
	s64 abs_psn;
	bool response;
	u32 len;
	u8 bytes[WIRE_PKT_MAX];
};

/**
 * struct wire - both directions
 * @first: next packet to arrive
 * @mood: how bad it is
 * @rnd: its dice
 * @sent: packets that were let go
 */
struct wire {
	struct wire_pkt *first;
	struct wire_mood mood;
	struct rnd *rnd;
	u64 sent;
};

bool wire_send(struct wire *wire, const struct wire_pkt *pkt, u64 now_ns,
	       bool merciful);
struct wire_pkt *wire_take(struct wire *wire);
void wire_drain(struct wire *wire);

u32 wire_pack(u8 *bytes, const struct frdma_hdr *hdr, const u8 *payload);
bool wire_unpack(const struct wire_pkt *pkt, struct frdma_hdr *hdr,
		 const u8 **payload);

#endif /* FRDMA_SIM_WIRE_H */
