// SPDX-License-Identifier: GPL-2.0
#include "hdr.h"

static __be32 apsn(u32 psn, bool ack_req)
{
	return cpu_to_be32(FIELD_PREP(FRDMA_BTH_ACK_REQ, ack_req) |
			   (psn & FRDMA_BTH_PSN));
}

static void *put_bth(struct frdma_bth *bth, const struct frdma_hdr *hdr)
{
	u32 dqpn = FIELD_PREP(FRDMA_BTH_FECN, hdr->fecn) |
		   FIELD_PREP(FRDMA_BTH_BECN, hdr->becn) |
		   (hdr->dqpn & FRDMA_BTH_DQPN);

	*bth = (struct frdma_bth) {
		.opcode	= hdr->opcode,
		.flags	= FIELD_PREP(FRDMA_BTH_SE, hdr->solicited) |
			  FIELD_PREP(FRDMA_BTH_MIGREQ, hdr->migreq) |
			  FIELD_PREP(FRDMA_BTH_PAD, hdr->pad & 3) |
			  FIELD_PREP(FRDMA_BTH_TVER, hdr->tver & 15),
		.pkey	= cpu_to_be16(hdr->pkey),
		.dqpn	= cpu_to_be32(dqpn),
		.apsn	= apsn(hdr->psn, hdr->ack_req),
	};
	return bth + 1;
}

static void *put_xrceth(struct frdma_xrceth *xrc, const struct frdma_hdr *hdr)
{
	xrc->srqn = cpu_to_be32(hdr->srqn & FRDMA_XRCETH_SRQN);
	return xrc + 1;
}

static void *put_deth(struct frdma_deth *deth, const struct frdma_hdr *hdr)
{
	*deth = (struct frdma_deth) {
		.qkey	= cpu_to_be32(hdr->qkey),
		.sqpn	= cpu_to_be32(hdr->sqpn & FRDMA_DETH_SQPN),
	};
	return deth + 1;
}

static void *put_feth(struct frdma_feth *feth, const struct frdma_hdr *hdr)
{
	u32 how = FIELD_PREP(FRDMA_FETH_SELECT, hdr->flush_select & 3) |
		  FIELD_PREP(FRDMA_FETH_PLACEMENT, hdr->flush_placement & 15);

	feth->how = cpu_to_be32(how);
	return feth + 1;
}

static void *put_reth(struct frdma_reth *reth, const struct frdma_hdr *hdr)
{
	*reth = (struct frdma_reth) {
		.va		= cpu_to_be64(hdr->va),
		.rkey		= cpu_to_be32(hdr->rkey),
		.dma_len	= cpu_to_be32(hdr->dma_len),
	};
	return reth + 1;
}

static void *put_atomiceth(struct frdma_atomiceth *atomic,
			   const struct frdma_hdr *hdr)
{
	*atomic = (struct frdma_atomiceth) {
		.va		= cpu_to_be64(hdr->va),
		.rkey		= cpu_to_be32(hdr->rkey),
		.swap_add	= cpu_to_be64(hdr->swap_add),
		.compare	= cpu_to_be64(hdr->compare),
	};
	return atomic + 1;
}

static void *put_aeth(struct frdma_aeth *aeth, const struct frdma_hdr *hdr)
{
	u32 smsn = FIELD_PREP(FRDMA_AETH_SYNDROME, hdr->syndrome) |
		   (hdr->msn & FRDMA_AETH_MSN);

	aeth->smsn = cpu_to_be32(smsn);
	return aeth + 1;
}

static void *put_atomicacketh(struct frdma_atomicacketh *ack,
			      const struct frdma_hdr *hdr)
{
	ack->orig = cpu_to_be64(hdr->atomic_orig);
	return ack + 1;
}

static void *put_immdt(struct frdma_immdt *imm, const struct frdma_hdr *hdr)
{
	imm->data = hdr->imm_data;
	return imm + 1;
}

static void *put_ieth(struct frdma_ieth *ieth, const struct frdma_hdr *hdr)
{
	ieth->rkey = cpu_to_be32(hdr->inv_rkey);
	return ieth + 1;
}

size_t frdma_hdr_build(void *buf, const struct frdma_hdr *hdr)
{
	u16 ext = frdma_op(hdr->opcode)->ext;
	void *at = put_bth(buf, hdr);

	if (ext & FRDMA_EXT_XRCETH)
		at = put_xrceth(at, hdr);
	if (ext & FRDMA_EXT_DETH)
		at = put_deth(at, hdr);
	if (ext & FRDMA_EXT_FETH)
		at = put_feth(at, hdr);
	if (ext & FRDMA_EXT_RETH)
		at = put_reth(at, hdr);
	if (ext & FRDMA_EXT_ATOMIC)
		at = put_atomiceth(at, hdr);
	if (ext & FRDMA_EXT_AETH)
		at = put_aeth(at, hdr);
	if (ext & FRDMA_EXT_ATOMIC_ACK)
		at = put_atomicacketh(at, hdr);
	if (ext & FRDMA_EXT_IMM)
		at = put_immdt(at, hdr);
	if (ext & FRDMA_EXT_INV)
		at = put_ieth(at, hdr);

	return at - buf;
}

size_t frdma_hdr_build_run(void *buf, size_t stride,
			   const struct frdma_hdr *hdr, u32 nr)
{
	size_t len = frdma_hdr_build(buf, hdr);
	const struct frdma_bth *first = buf;
	struct frdma_bth *bth = buf;
	u32 i;

	if (nr == 1)
		return len;

	bth->apsn = apsn(hdr->psn, false);
	for (i = 1; i < nr; i++) {
		bth = buf + i * stride;
		*bth = *first;
		bth->apsn = apsn(hdr->psn + i, false);
		if (len > sizeof(*bth))
			memcpy(bth + 1, first + 1, len - sizeof(*bth));
	}
	bth->apsn = apsn(hdr->psn + nr - 1, hdr->ack_req);
	return len;
}

static const void *get_bth(struct frdma_hdr *hdr, const struct frdma_bth *bth)
{
	u32 dqpn = be32_to_cpu(bth->dqpn);
	u32 apsn = be32_to_cpu(bth->apsn);

	*hdr = (struct frdma_hdr) {
		.opcode		= bth->opcode,
		.pad		= FIELD_GET(FRDMA_BTH_PAD, bth->flags),
		.tver		= FIELD_GET(FRDMA_BTH_TVER, bth->flags),
		.solicited	= bth->flags & FRDMA_BTH_SE,
		.ack_req	= apsn & FRDMA_BTH_ACK_REQ,
		.migreq		= bth->flags & FRDMA_BTH_MIGREQ,
		.fecn		= dqpn & FRDMA_BTH_FECN,
		.becn		= dqpn & FRDMA_BTH_BECN,
		.pkey		= be16_to_cpu(bth->pkey),
		.dqpn		= dqpn & FRDMA_BTH_DQPN,
		.psn		= apsn & FRDMA_BTH_PSN,
		.hdr_len	= sizeof(*bth),
	};
	return bth + 1;
}

static const void *get_xrceth(struct frdma_hdr *hdr,
			      const struct frdma_xrceth *xrc)
{
	hdr->srqn = be32_to_cpu(xrc->srqn) & FRDMA_XRCETH_SRQN;
	return xrc + 1;
}

static const void *get_deth(struct frdma_hdr *hdr,
			    const struct frdma_deth *deth)
{
	hdr->qkey = be32_to_cpu(deth->qkey);
	hdr->sqpn = be32_to_cpu(deth->sqpn) & FRDMA_DETH_SQPN;
	return deth + 1;
}

static const void *get_feth(struct frdma_hdr *hdr,
			    const struct frdma_feth *feth)
{
	u32 how = be32_to_cpu(feth->how);

	hdr->flush_select = FIELD_GET(FRDMA_FETH_SELECT, how);
	hdr->flush_placement = FIELD_GET(FRDMA_FETH_PLACEMENT, how);
	return feth + 1;
}

static const void *get_reth(struct frdma_hdr *hdr,
			    const struct frdma_reth *reth)
{
	hdr->va = be64_to_cpu(reth->va);
	hdr->rkey = be32_to_cpu(reth->rkey);
	hdr->dma_len = be32_to_cpu(reth->dma_len);
	return reth + 1;
}

static const void *get_atomiceth(struct frdma_hdr *hdr,
				 const struct frdma_atomiceth *atomic)
{
	hdr->va = be64_to_cpu(atomic->va);
	hdr->rkey = be32_to_cpu(atomic->rkey);
	hdr->swap_add = be64_to_cpu(atomic->swap_add);
	hdr->compare = be64_to_cpu(atomic->compare);
	return atomic + 1;
}

static const void *get_aeth(struct frdma_hdr *hdr,
			    const struct frdma_aeth *aeth)
{
	u32 smsn = be32_to_cpu(aeth->smsn);

	hdr->syndrome = FIELD_GET(FRDMA_AETH_SYNDROME, smsn);
	hdr->msn = FIELD_GET(FRDMA_AETH_MSN, smsn);
	return aeth + 1;
}

static const void *get_atomicacketh(struct frdma_hdr *hdr,
				    const struct frdma_atomicacketh *ack)
{
	hdr->atomic_orig = be64_to_cpu(ack->orig);
	return ack + 1;
}

static const void *get_immdt(struct frdma_hdr *hdr,
			     const struct frdma_immdt *imm)
{
	hdr->imm_data = imm->data;
	return imm + 1;
}

static const void *get_ieth(struct frdma_hdr *hdr,
			    const struct frdma_ieth *ieth)
{
	hdr->inv_rkey = be32_to_cpu(ieth->rkey);
	return ieth + 1;
}

static void get_ext(struct frdma_hdr *hdr, const void *at, u16 ext)
{
	if (ext & FRDMA_EXT_XRCETH)
		at = get_xrceth(hdr, at);
	if (ext & FRDMA_EXT_DETH)
		at = get_deth(hdr, at);
	if (ext & FRDMA_EXT_FETH)
		at = get_feth(hdr, at);
	if (ext & FRDMA_EXT_RETH)
		at = get_reth(hdr, at);
	if (ext & FRDMA_EXT_ATOMIC)
		at = get_atomiceth(hdr, at);
	if (ext & FRDMA_EXT_AETH)
		at = get_aeth(hdr, at);
	if (ext & FRDMA_EXT_ATOMIC_ACK)
		at = get_atomicacketh(hdr, at);
	if (ext & FRDMA_EXT_IMM)
		at = get_immdt(hdr, at);
	if (ext & FRDMA_EXT_INV)
		get_ieth(hdr, at);
}

enum frdma_hdr_verdict frdma_hdr_parse(struct frdma_hdr *hdr, const void *buf,
				       size_t avail, size_t len)
{
	const struct frdma_op *op;
	const void *at;
	size_t tail;

	if (min(avail, len) < sizeof(struct frdma_bth)) {
		*hdr = (struct frdma_hdr) { };
		return FRDMA_HDR_SHORT;
	}

	at = get_bth(hdr, buf);
	if (len < sizeof(struct frdma_bth) + hdr->pad + FRDMA_ICRC_LEN)
		return FRDMA_HDR_SHORT;
	/* Nothing behind the version is known to mean what it means to us. */
	if (hdr->tver)
		return FRDMA_HDR_VERSION;

	op = frdma_op(hdr->opcode);
	if (op->kind == FRDMA_KIND_NONE)
		return FRDMA_HDR_OPCODE;

	hdr->hdr_len = op->hdr_len;
	tail = hdr->pad + FRDMA_ICRC_LEN;
	if (avail < hdr->hdr_len || len < hdr->hdr_len + tail)
		return FRDMA_HDR_SHORT;

	get_ext(hdr, at, op->ext);
	hdr->payload_len = len - hdr->hdr_len - tail;
	return FRDMA_HDR_OK;
}
