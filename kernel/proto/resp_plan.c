// SPDX-License-Identifier: GPL-2.0
/* What the responder's answers look like. */
#include "resp.h"

static u8 read_resp_opcode(bool starts, bool ends)
{
	if (starts)
		return ends ? FRDMA_READ_RESP_ONLY : FRDMA_READ_RESP_FIRST;
	return ends ? FRDMA_READ_RESP_LAST : FRDMA_READ_RESP_MIDDLE;
}

/* What all answers without payload have in common. */
static struct frdma_hdr answer(const struct frdma_resp *rs, u8 operation,
			       u32 psn, u8 syndrome)
{
	return (struct frdma_hdr) {
		.opcode		= rs->transport | operation,
		.psn		= psn,
		.migreq		= true,
		.syndrome	= syndrome,
		.msn		= rs->msn,
	};
}

/**
 * frdma_resp_ack_plan - describe an acknowledgement of all that was executed
 * @rs: state
 * @hdr: set to what is to be sent, but for destination and P_Key
 */
void frdma_resp_ack_plan(const struct frdma_resp *rs, struct frdma_hdr *hdr)
{
	frdma_resp_again_plan(rs, frdma_psn_add(rs->epsn, -1), hdr);
}

/**
 * frdma_resp_again_plan - describe an acknowledgement of what was executed before
 * @rs: state
 * @psn: of a SEND or WRITE, judged FRDMA_DUP_ACK while a READ response behind it is
 *	in progress
 * @hdr: set to what is to be sent, but for destination and P_Key
 *
 * It says nothing of the READ, as one of all that was executed would.
 */
void frdma_resp_again_plan(const struct frdma_resp *rs, u32 psn,
			   struct frdma_hdr *hdr)
{
	*hdr = answer(rs, FRDMA_ACKNOWLEDGE, psn,
		      FRDMA_AETH_ACK | FRDMA_AETH_NO_CREDITS);
}

/**
 * frdma_resp_gap_plan - describe the answer where packets are missing
 * @rs: state
 * @hdr: set to what is to be sent, but for destination and P_Key
 */
void frdma_resp_gap_plan(const struct frdma_resp *rs, struct frdma_hdr *hdr)
{
	*hdr = answer(rs, FRDMA_ACKNOWLEDGE, rs->epsn, FRDMA_NAK_PSN);
}

/**
 * frdma_resp_rnr_plan - describe the answer where the request has to wait
 * @rs: state
 * @psn: of the request
 * @code: for how long, 0..31, see frdma_rnr_delay_ns()
 * @hdr: set to what is to be sent, but for destination and P_Key
 */
void frdma_resp_rnr_plan(const struct frdma_resp *rs, u32 psn, u8 code,
			 struct frdma_hdr *hdr)
{
	*hdr = answer(rs, FRDMA_ACKNOWLEDGE, psn,
		      FRDMA_AETH_RNR | (code & FRDMA_AETH_VALUE));
}

/**
 * frdma_resp_refusal_plan - describe the answer that ends the connection
 * @rs: state
 * @psn: of the request
 * @verdict: why; one that has a fault, see frdma_resp_fault()
 * @hdr: set to what is to be sent, but for destination and P_Key
 */
void frdma_resp_refusal_plan(const struct frdma_resp *rs, u32 psn,
			     enum frdma_resp_verdict verdict,
			     struct frdma_hdr *hdr)
{
	*hdr = answer(rs, FRDMA_ACKNOWLEDGE, psn,
		      frdma_resp_fault(verdict)->nak);
}

/**
 * frdma_resp_atomic_plan - describe the answer to an atomic
 * @rs: state
 * @psn: of the request, which was executed
 * @orig: what the memory held before
 * @hdr: set to what is to be sent, but for destination and P_Key
 */
void frdma_resp_atomic_plan(const struct frdma_resp *rs, u32 psn, u64 orig,
			    struct frdma_hdr *hdr)
{
	*hdr = answer(rs, FRDMA_ATOMIC_ACK, psn,
		      FRDMA_AETH_ACK | FRDMA_AETH_NO_CREDITS);
	hdr->atomic_orig = orig;
}

/**
 * frdma_resp_empty_plan - describe the answer to an ATOMIC WRITE or FLUSH
 * @rs: state
 * @psn: of the request, which was executed
 * @hdr: set to what is to be sent, but for destination and P_Key
 */
void frdma_resp_empty_plan(const struct frdma_resp *rs, u32 psn,
			   struct frdma_hdr *hdr)
{
	*hdr = answer(rs, FRDMA_READ_RESP_ONLY, psn,
		      FRDMA_AETH_ACK | FRDMA_AETH_NO_CREDITS);
}

/**
 * frdma_resp_read_plan - describe the next packet of the READ response
 * @rs: state, with a READ response in progress
 * @hdr: set to what is to be sent, but for destination and P_Key
 */
void frdma_resp_read_plan(const struct frdma_resp *rs, struct frdma_hdr *hdr)
{
	const struct frdma_resp_read *rd = &rs->read;
	bool ends = rd->left <= rs->mtu;
	u32 len = ends ? rd->left : rs->mtu;

	*hdr = (struct frdma_hdr) {
		.opcode		= rs->transport |
				  read_resp_opcode(rd->fresh, ends),
		.psn		= rd->psn,
		.pad		= -len & 3,
		.payload_len	= len,
		.migreq		= true,
		.syndrome	= FRDMA_AETH_ACK | FRDMA_AETH_NO_CREDITS,
		.msn		= rs->msn,
	};
}

/**
 * frdma_resp_read_run - how many packets of the READ response are alike
 * @rs: state, unchanged since frdma_resp_read_plan()
 * @hdr: that plan
 * @max: most of them, at least one
 *
 * Return: so many differ from the planned one, the first of them, in their
 * PSN only.
 */
u32 frdma_resp_read_run(const struct frdma_resp *rs,
			const struct frdma_hdr *hdr, u32 max)
{
	const struct frdma_op *op = frdma_op(hdr->opcode);

	if (op->starts || op->ends)
		return 1;
	return min((rs->read.left - 1) / rs->mtu, max);
}
