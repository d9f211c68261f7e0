// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes as a slot of a send queue: what passes can be carried out. It is
 * sent packet by packet, and a responder that allows everything accepts each
 * of them.
 */
#include "access.h"
#include "fuzz.h"
#include "req.h"
#include "resp.h"

#define MAX_SGE		4
#define MAX_INLINE	(MAX_SGE * sizeof(struct frdma_sge))
#define MTU		256
/* A message of 2 GiB is sent as far as this. */
#define PACKETS_MAX	64

static const u8 transports[] = { FRDMA_RC, FRDMA_UC, FRDMA_UD, FRDMA_XRC };

static void take_wqe(struct fuzz *fuzz, struct frdma_send_wqe *wqe)
{
	u8 *at = (u8 *)wqe;
	u32 i;

	for (i = 0; i < sizeof(*wqe); i++)
		at[i] = fuzz_u8(fuzz);
	/* Mostly known numbers, or nothing would get far. */
	if (wqe->flags & 0x80)
		return;
	wqe->flags &= FRDMA_WQE_KNOWN_FLAGS;
	wqe->num_sge %= MAX_SGE + 2;
	wqe->inline_len %= MAX_INLINE + 2;
	wqe->opcode %= FRDMA_WR_REG_MR + 2;
}

static u64 length_of(const struct frdma_send_wqe *wqe,
		     const struct frdma_sge *sge)
{
	u64 len = 0;
	u32 i;

	if (wqe->flags & FRDMA_WQE_INLINE)
		return wqe->inline_len;
	for (i = 0; i < wqe->num_sge; i++)
		len += sge[i].length;
	return len;
}

/* What passed is what the limits and its row allow. */
static void check_passed(const struct frdma_send_wqe *wqe,
			 const struct frdma_sge *sge,
			 const struct frdma_wqe_limits *limits)
{
	const struct frdma_wr *wr = frdma_wr(wqe->opcode);
	bool in_slot = wqe->flags & FRDMA_WQE_INLINE;

	FUZZ_CHECK(wr->transports & FRDMA_WR_ON(limits->transport), "%s",
		   wr->name);
	FUZZ_CHECK(limits->kernel || !wr->kernel_only, "%s", wr->name);
	if (in_slot)
		FUZZ_CHECK(wqe->inline_len <= limits->max_inline_bytes, "%u",
			   wqe->inline_len);
	else
		FUZZ_CHECK(wqe->num_sge <= limits->max_sge, "%u", wqe->num_sge);
	FUZZ_CHECK(frdma_wqe_len(wqe, sge) == length_of(wqe, sge), "%s",
		   wr->name);
	if (wr->kind != FRDMA_KIND_NONE)
		FUZZ_CHECK(length_of(wqe, sge) <= FRDMA_MSG_MAX, "%s",
			   wr->name);
	if (frdma_kind_brings_data(wr->kind))
		FUZZ_CHECK(!in_slot, "%s", wr->name);
	if (wr->kind == FRDMA_KIND_ATOMIC ||
	    wr->kind == FRDMA_KIND_ATOMIC_WRITE)
		FUZZ_CHECK(length_of(wqe, sge) == 8, "%s", wr->name);
}

static void check_accepted(struct frdma_resp *rs, struct frdma_req_pkt *pkt,
			   u8 transport)
{
	struct frdma_resp_recv recv = { .ready = true, .len = U64_MAX };
	enum frdma_resp_verdict verdict;
	struct frdma_hdr hdr;
	u8 bytes[FRDMA_HDR_MAX];
	u32 len;

	/* As it crosses the wire. */
	len = frdma_hdr_build(bytes, &pkt->hdr) + pkt->len + pkt->hdr.pad + 4;
	FUZZ_CHECK(frdma_hdr_parse(&hdr, bytes, sizeof(bytes), len) ==
		   FRDMA_HDR_OK, "opcode 0x%02x", pkt->hdr.opcode);
	FUZZ_CHECK(frdma_opcode_transport(hdr.opcode) == transport,
		   "opcode 0x%02x", hdr.opcode);
	FUZZ_CHECK(hdr.payload_len == pkt->len, "%u", hdr.payload_len);
	fuzz_packets++;

	if (transport == FRDMA_UD)
		return;
	if (transport == FRDMA_UC) {
		FUZZ_CHECK(!frdma_resp_breaks(rs, &hdr), "psn 0x%x", hdr.psn);
		verdict = frdma_resp_judge_uc(rs, &hdr, recv);
	} else {
		verdict = frdma_resp_judge(rs, &hdr, recv);
	}
	/* Nobody asks on this side whether an address is a multiple of 8. */
	if (verdict == FRDMA_RESP_BAD_ALIGN) {
		FUZZ_CHECK(hdr.va & 7, "0x%llx", hdr.va);
		return;
	}
	FUZZ_CHECK(verdict == FRDMA_RESP_ACCEPT, "%u, opcode 0x%02x", verdict,
		   hdr.opcode);
	if (transport == FRDMA_UC)
		frdma_resp_commit_uc(rs, &hdr);
	else
		frdma_resp_commit(rs, &hdr, 0);
	rs->read.active = false;
}

static void send_it(struct frdma_swr *wr, u32 len, u8 transport, u32 psn)
{
	struct frdma_req rq = {
		.slots = wr, .mask = 0, .transport = transport, .mtu = MTU,
		.rd_max = PACKETS_MAX, .read_grid = 16,
	};
	struct frdma_resp_res res[PACKETS_MAX];
	struct frdma_resp rs = {
		.mtu = MTU, .access = FRDMA_ACC_REMOTE | FRDMA_ACC_FLUSH,
		.transport = transport, .res = res, .nr_res = PACKETS_MAX,
	};
	u32 packets = 0, off = 0;

	frdma_cc_init(&rq.cc, U32_MAX);
	frdma_req_init(&rq, psn);
	frdma_resp_init(&rs, psn);
	frdma_req_fetched(&rq, len);

	/* As the shell does: longer than a datagram goes nowhere. */
	if (frdma_req_is_datagram(&rq) && len > MTU)
		frdma_req_make_local(&rq);
	while (packets++ < PACKETS_MAX &&
	       frdma_req_judge(&rq) == FRDMA_REQ_SEND) {
		struct frdma_req_pkt pkt;

		frdma_req_plan(&rq, &pkt);
		FUZZ_CHECK(pkt.len <= MTU, "%u", pkt.len);
		FUZZ_CHECK(pkt.off == off, "%u, not %u", pkt.off, off);
		off += wr->kind == FRDMA_KIND_READ ? pkt.hdr.dma_len : pkt.len;
		check_accepted(&rs, &pkt, transport);
		frdma_req_sent(&rq, &pkt);
	}
	if (frdma_req_judge(&rq) == FRDMA_REQ_EMPTY && wr->npkts &&
	    wr->kind != FRDMA_KIND_ATOMIC && wr->kind != FRDMA_KIND_FLUSH)
		FUZZ_CHECK(off == len, "%u, not %u", off, len);
}

FUZZ_TARGET(wqe)(const u8 *data, size_t size)
{
	struct fuzz fuzz = { data, size };
	const struct frdma_wqe_limits limits = {
		.transport	  = transports[fuzz_below(&fuzz, 4)],
		.kernel		  = fuzz_below(&fuzz, 2),
		.max_sge	  = fuzz_below(&fuzz, MAX_SGE + 1),
		.max_inline_bytes = fuzz_below(&fuzz, MAX_INLINE + 1),
	};
	u32 psn = fuzz_u32(&fuzz), i;
	/* Of exactly that size, so that reading on is seen. */
	struct frdma_swr *wr = calloc(1, sizeof(*wr) + limits.max_sge *
				      sizeof(struct frdma_sge));
	enum frdma_wqe_verdict verdict;

	take_wqe(&fuzz, &wr->wqe);
	for (i = 0; i < limits.max_sge; i++)
		wr->sge[i] = (struct frdma_sge) {
			.length = fuzz_u32(&fuzz), .lkey = fuzz_u8(&fuzz),
		};

	verdict = frdma_wqe_judge_send(&wr->wqe, wr->sge, &limits);
	FUZZ_CHECK(!frdma_wqe_status(verdict) == !verdict, "%u", verdict);
	if (verdict == FRDMA_WQE_OK) {
		check_passed(&wr->wqe, wr->sge, &limits);
		send_it(wr, frdma_wqe_len(&wr->wqe, wr->sge),
			limits.transport, psn);
	}
	free(wr);
	return 0;
}
