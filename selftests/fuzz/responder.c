// SPDX-License-Identifier: GPL-2.0
/*
 * A peer that sends what it likes, in whatever order, to the receive side of
 * a connection. What the responder accepts fits where it goes, byte by byte;
 * what it repeats is what it has done; and what it refuses changes nothing.
 */
#include "access.h"
#include "fuzz.h"
#include "resp.h"

#define NR_RES	4
#define DONE	1024	/* requests that are remembered here */

/**
 * struct done - a request that was executed and answered with more than an ACK
 * @hdr: its headers
 * @npkts: PSNs of the answer
 * @orig: what an atomic found
 */
struct done {
	struct frdma_hdr hdr;
	u32 npkts;
	u64 orig;
};

static struct frdma_resp rs;
static struct frdma_resp_res res[NR_RES];
static struct done done[DONE];
static u32 nr_done;

/* What the open message has brought, as the packets said it. */
static struct {
	u64 va;
	u32 rkey;
	u32 total;
	u32 got;
} open_msg;

static void connect(struct fuzz *fuzz)
{
	static const u8 transports[] = { FRDMA_RC, FRDMA_XRC, FRDMA_UC };
	static const u32 mtus[] = { 8, 256, 4096 };

	rs = (struct frdma_resp) {
		.mtu	   = mtus[fuzz_below(fuzz, ARRAY_SIZE(mtus))],
		.access	   = FRDMA_ACC_REMOTE | FRDMA_ACC_FLUSH,
		.transport = transports[fuzz_below(fuzz, 3)],
		.res	   = res,
		.nr_res	   = fuzz_below(fuzz, NR_RES + 1),
	};
	if (fuzz_below(fuzz, 4) == 3)
		rs.access &= fuzz_take(fuzz, 2);
	frdma_resp_init(&rs, fuzz_u32(fuzz));
	nr_done = 0;
	memset(&open_msg, 0, sizeof(open_msg));
}

static u32 take_len(struct fuzz *fuzz)
{
	switch (fuzz_below(fuzz, 6)) {
	case 0:
		return 0;
	case 1:
		return rs.mtu;
	case 2:
		return 8;
	case 3:
		return rs.mtu * (1 + fuzz_below(fuzz, 8));
	case 4:
		return fuzz_take(fuzz, 2);
	default:
		return fuzz_u32(fuzz);
	}
}

/* Mostly what nearly fits: what does not is refused at the first look. */
static struct frdma_hdr take_hdr(struct fuzz *fuzz)
{
	static const u8 operations[] = {
		FRDMA_SEND_FIRST, FRDMA_SEND_MIDDLE, FRDMA_SEND_LAST,
		FRDMA_SEND_ONLY, FRDMA_SEND_LAST_IMM, FRDMA_SEND_ONLY_INV,
		FRDMA_WRITE_FIRST, FRDMA_WRITE_MIDDLE, FRDMA_WRITE_LAST,
		FRDMA_WRITE_LAST_IMM, FRDMA_WRITE_ONLY, FRDMA_WRITE_ONLY_IMM,
		FRDMA_READ_REQUEST, FRDMA_COMPARE_SWAP, FRDMA_FETCH_ADD,
		FRDMA_FLUSH, FRDMA_ATOMIC_WRITE,
	};
	u8 operation = fuzz_u8(fuzz), how = fuzz_u8(fuzz);
	s32 ahead = how & 1 ? (s8)fuzz_u8(fuzz) : 0;
	struct frdma_hdr hdr = {
		.opcode = rs.transport |
			  (operation < 0xe0 ?
			   operations[operation % ARRAY_SIZE(operations)] :
			   operation & 0x1f),
		.psn	= frdma_psn_add(rs.epsn, ahead),
		.ack_req = how & 2,
		.payload_len = take_len(fuzz) % (FRDMA_MTU_MAX + 1),
		.va	= 0x1000 + fuzz_u8(fuzz) * (how & 4 ? 1 : 8),
		.rkey	= how & 8 ? 7 : fuzz_u8(fuzz),
		.srqn	= how & 16 ? fuzz_u8(fuzz) : 0,
		.dma_len = take_len(fuzz),
		.flush_placement = FRDMA_FLUSH_GLOBAL,
	};

	if (how & 32)
		hdr.flush_placement = fuzz_u8(fuzz) & 15;
	if (how & 64)
		hdr.flush_select = fuzz_u8(fuzz) & 3;
	hdr.pad = how & 128 ? fuzz_below(fuzz, 4) : -hdr.payload_len & 3;
	return hdr;
}

static struct frdma_resp_recv take_recv(struct fuzz *fuzz)
{
	u8 how = fuzz_u8(fuzz);

	return (struct frdma_resp_recv) {
		.astray	= rs.transport == FRDMA_XRC && how == 0xff,
		.ready	= how & 1,
		.len	= how & 2 ? fuzz_take(fuzz, 2) : FRDMA_MSG_MAX,
	};
}

/* A response covers what was asked for, packet by packet, and no more. */
static void check_response(const struct frdma_hdr *asked)
{
	u64 va = asked->va;
	u32 left = asked->dma_len, psn = asked->psn, packets = 0;
	bool first = true;

	/* What is longer is like what is shorter. */
	while (rs.read.active && packets++ < 64) {
		const struct frdma_op *op;
		struct frdma_hdr hdr;

		frdma_resp_read_plan(&rs, &hdr);
		op = frdma_op(hdr.opcode);
		FUZZ_CHECK(frdma_opcode_transport(hdr.opcode) == rs.transport,
			   "opcode 0x%02x", hdr.opcode);
		FUZZ_CHECK(rs.read.va == va, "0x%llx", rs.read.va);
		FUZZ_CHECK(rs.read.rkey == asked->rkey, "%u", rs.read.rkey);
		FUZZ_CHECK(hdr.psn == psn, "0x%x", hdr.psn);
		FUZZ_CHECK(op->starts == first, "opcode 0x%02x", hdr.opcode);
		FUZZ_CHECK(op->ends == (left <= rs.mtu), "%u left", left);
		FUZZ_CHECK(hdr.payload_len == min(left, rs.mtu), "%u",
			   hdr.payload_len);
		frdma_resp_read_sent(&rs, &hdr, 1);
		va += hdr.payload_len;
		left -= hdr.payload_len;
		psn = frdma_psn_add(psn, 1);
		first = false;
	}
	FUZZ_CHECK(rs.read.active == !!left, "%u left", left);
	frdma_resp_forget_reads(&rs);
}

static void check_write(const struct frdma_op *op, const struct frdma_hdr *hdr)
{
	if (op->starts) {
		open_msg.va = hdr->va;
		open_msg.rkey = hdr->rkey;
		open_msg.total = hdr->dma_len;
	} else {
		/* Where the shell is going to write. */
		FUZZ_CHECK(rs.va == open_msg.va + open_msg.got, "0x%llx",
			   rs.va);
		FUZZ_CHECK(rs.rkey == open_msg.rkey, "%u", rs.rkey);
	}
	FUZZ_CHECK(hdr->payload_len <= open_msg.total - open_msg.got,
		   "%u of %u, and %u", open_msg.got, open_msg.total,
		   hdr->payload_len);
	if (op->ends)
		FUZZ_CHECK(open_msg.got + hdr->payload_len == open_msg.total,
			   "%u of %u", open_msg.got, open_msg.total);
}

static void check_accepted(const struct frdma_hdr *hdr,
			   const struct frdma_resp_recv *recv)
{
	const struct frdma_op *op = frdma_op(hdr->opcode);

	FUZZ_CHECK(op->kind != FRDMA_KIND_NONE, "opcode 0x%02x", hdr->opcode);
	FUZZ_CHECK(!(op->access & ~rs.access), "opcode 0x%02x", hdr->opcode);
	FUZZ_CHECK(op->starts == !rs.in_msg, "opcode 0x%02x", hdr->opcode);
	FUZZ_CHECK(hdr->payload_len <= max_t(u32, rs.mtu, 8), "%u",
		   hdr->payload_len);
	FUZZ_CHECK(op->ends || hdr->payload_len == rs.mtu, "%u",
		   hdr->payload_len);
	FUZZ_CHECK(op->payload || !hdr->payload_len, "%u", hdr->payload_len);
	FUZZ_CHECK(!op->takes_recv || recv->ready, "opcode 0x%02x",
		   hdr->opcode);
	FUZZ_CHECK(!recv->astray, "opcode 0x%02x", hdr->opcode);
	FUZZ_CHECK(!frdma_kind_wants_response(op->kind) || rs.nr_res,
		   "opcode 0x%02x", hdr->opcode);
	if (op->starts)
		open_msg.got = 0;
	FUZZ_CHECK(rs.got == open_msg.got, "%u, not %u", rs.got, open_msg.got);

	if (op->kind == FRDMA_KIND_SEND)
		FUZZ_CHECK((u64)rs.got + hdr->payload_len <= recv->len,
			   "%u + %u", rs.got, hdr->payload_len);
	if (op->kind == FRDMA_KIND_WRITE)
		check_write(op, hdr);
	if (op->kind == FRDMA_KIND_ATOMIC ||
	    op->kind == FRDMA_KIND_ATOMIC_WRITE)
		FUZZ_CHECK(!(hdr->va & 7), "0x%llx", hdr->va);
}

static u32 psns_of(const struct frdma_hdr *hdr)
{
	if (frdma_op(hdr->opcode)->kind != FRDMA_KIND_READ || !hdr->dma_len)
		return 1;
	return DIV_ROUND_UP((u64)hdr->dma_len, rs.mtu);
}

static void remember(const struct frdma_hdr *hdr, u64 orig)
{
	u8 kind = frdma_op(hdr->opcode)->kind;

	if (kind == FRDMA_KIND_READ || kind == FRDMA_KIND_ATOMIC)
		done[nr_done++] = (struct done) { *hdr, psns_of(hdr), orig };
}

static void commit(const struct frdma_hdr *hdr, u64 orig)
{
	const struct frdma_op *op = frdma_op(hdr->opcode);
	u32 epsn = rs.epsn, msn = rs.msn;
	bool due = rs.ack_due;

	frdma_resp_commit(&rs, hdr, orig);
	FUZZ_CHECK(rs.epsn == frdma_psn_add(epsn, psns_of(hdr)), "0x%x",
		   rs.epsn);
	FUZZ_CHECK(rs.msn == ((msn + op->ends) & FRDMA_MSN_MASK), "%u", rs.msn);
	FUZZ_CHECK(!rs.nak, "%u", rs.nak);
	FUZZ_CHECK(rs.ack_due == (due || (hdr->ack_req &&
		   !frdma_kind_wants_response(op->kind))), "%u", rs.ack_due);
	FUZZ_CHECK(rs.read.active == (op->kind == FRDMA_KIND_READ), "%u",
		   op->kind);
	open_msg.got += hdr->payload_len;
	remember(hdr, orig);
	if (rs.read.active)
		check_response(hdr);
}

/* The newest of those that the responder can still know. */
static const struct done *find_done(u32 psn)
{
	u32 i;

	for (i = nr_done; i-- && nr_done - i <= rs.nr_res; ) {
		if (((psn - done[i].hdr.psn) & FRDMA_PSN_MASK) < done[i].npkts)
			return &done[i];
	}
	return NULL;
}

static void check_read_again(const struct frdma_hdr *hdr,
			     const struct done *was)
{
	u64 skipped;

	FUZZ_CHECK(was && frdma_op(was->hdr.opcode)->kind == FRDMA_KIND_READ,
		   "psn 0x%x", hdr->psn);
	skipped = hdr->va - was->hdr.va;
	FUZZ_CHECK(hdr->rkey == was->hdr.rkey, "%u", hdr->rkey);
	FUZZ_CHECK(skipped + hdr->dma_len <= was->hdr.dma_len, "%llu + %u",
		   skipped, hdr->dma_len);
	FUZZ_CHECK(skipped == (u64)((hdr->psn - was->hdr.psn) &
				    FRDMA_PSN_MASK) * rs.mtu, "%llu", skipped);
	check_response(hdr);
}

static void repeat(const struct frdma_hdr *hdr)
{
	const struct done *was = find_done(hdr->psn);
	struct frdma_resp before = rs;
	enum frdma_dup_verdict verdict = frdma_resp_judge_dup(&rs, hdr);

	FUZZ_CHECK(!memcmp(&before, &rs, sizeof(rs)), "judged");
	frdma_resp_commit_dup(&rs, hdr, verdict);
	FUZZ_CHECK(rs.epsn == before.epsn && rs.msn == before.msn &&
		   rs.in_msg == before.in_msg && rs.got == before.got &&
		   rs.va == before.va && rs.left == before.left &&
		   rs.res_next == before.res_next, "verdict %u", verdict);
	switch (verdict) {
	case FRDMA_DUP_READ:
		check_read_again(hdr, was);
		break;
	case FRDMA_DUP_ATOMIC:
		FUZZ_CHECK(was && frdma_resp_saved(&rs, hdr->psn) == was->orig,
			   "psn 0x%x", hdr->psn);
		break;
	default:
		FUZZ_CHECK(!rs.read.active, "verdict %u", verdict);
		break;
	}
}

static void put_off(enum frdma_resp_verdict verdict)
{
	struct frdma_hdr hdr;

	if (verdict == FRDMA_RESP_GAP)
		frdma_resp_gap_plan(&rs, &hdr);
	else
		frdma_resp_rnr_plan(&rs, rs.epsn, 1, &hdr);
	FUZZ_CHECK(hdr.psn == rs.epsn && frdma_hdr_is_nak(&hdr), "0x%02x",
		   hdr.syndrome);
	frdma_resp_put_off(&rs, verdict);
	FUZZ_CHECK(rs.nak, "verdict %u", verdict);
}

static void take_reliable(struct fuzz *fuzz, const struct frdma_hdr *hdr,
			  struct frdma_resp_recv recv)
{
	enum frdma_resp_verdict verdict = frdma_resp_judge(&rs, hdr, recv);

	switch (verdict) {
	case FRDMA_RESP_ACCEPT:
		FUZZ_CHECK(frdma_resp_expects(&rs, hdr), "psn 0x%x", hdr->psn);
		check_accepted(hdr, &recv);
		commit(hdr, fuzz_u8(fuzz));
		break;
	case FRDMA_RESP_DUPLICATE:
		repeat(hdr);
		break;
	case FRDMA_RESP_GAP:
	case FRDMA_RESP_NO_RECV:
		put_off(verdict);
		break;
	case FRDMA_RESP_WAITING:
		FUZZ_CHECK(rs.nak, "psn 0x%x", hdr->psn);
		break;
	default:
		/* The connection ends; the next one begins. */
		FUZZ_CHECK(frdma_resp_fault(verdict)->nak, "%u", verdict);
		connect(fuzz);
		break;
	}
}

static void take_unreliable(const struct frdma_hdr *hdr,
			    struct frdma_resp_recv recv)
{
	if (frdma_resp_breaks(&rs, hdr))
		frdma_resp_abandon(&rs);
	if (frdma_resp_judge_uc(&rs, hdr, recv) != FRDMA_RESP_ACCEPT) {
		frdma_resp_abandon(&rs);
		FUZZ_CHECK(!rs.in_msg && !rs.got, "abandoned");
		return;
	}
	FUZZ_CHECK(!rs.in_msg || hdr->psn == rs.epsn, "psn 0x%x", hdr->psn);
	check_accepted(hdr, &recv);
	frdma_resp_commit_uc(&rs, hdr);
	FUZZ_CHECK(rs.epsn == frdma_psn_add(hdr->psn, 1), "0x%x", rs.epsn);
	open_msg.got += hdr->payload_len;
}

FUZZ_TARGET(responder)(const u8 *data, size_t size)
{
	struct fuzz fuzz = { data, size };

	connect(&fuzz);
	while (fuzz.left && nr_done < DONE) {
		struct frdma_hdr hdr = take_hdr(&fuzz);
		struct frdma_resp_recv recv = take_recv(&fuzz);

		/* Who takes packets in sends these to the other side. */
		if (frdma_op(hdr.opcode)->response)
			continue;
		fuzz_packets++;
		if (rs.transport == FRDMA_UC)
			take_unreliable(&hdr, recv);
		else
			take_reliable(&fuzz, &hdr, recv);
	}
	return 0;
}
