// SPDX-License-Identifier: GPL-2.0
#include "ack.h"
#include "rnd.h"
#include "sendq.h"
#include "tap.h"

static struct sendq q;

/* An ACK, NAK or atomic acknowledge for the n-th PSN. */
static struct frdma_hdr answer(u8 opcode, u32 nth, u8 syndrome)
{
	return (struct frdma_hdr) {
		.opcode = opcode, .psn = sendq_psn(nth), .syndrome = syndrome,
	};
}

static enum frdma_ack_verdict judge_ack(u32 nth, u8 syndrome)
{
	struct frdma_hdr hdr = answer(FRDMA_ACKNOWLEDGE, nth, syndrome);

	return frdma_ack_judge(&q.rq, &hdr);
}

static enum frdma_ack_verdict judge_resp(u8 opcode, u32 nth, u32 len)
{
	struct frdma_hdr hdr = answer(opcode, nth, FRDMA_AETH_NO_CREDITS);

	hdr.payload_len = len;
	return frdma_ack_judge(&q.rq, &hdr);
}

/* As the kernel does: what is good is committed, what is bad is repeated. */
static u32 take_any(const struct frdma_hdr *hdr)
{
	enum frdma_ack_verdict verdict = frdma_ack_judge(&q.rq, hdr);
	struct frdma_ack_data data;

	switch (verdict) {
	case FRDMA_ACK_DATA:
		frdma_ack_note(&q.rq, hdr);
		data = frdma_ack_locate(&q.rq, hdr->psn);
		EXPECT(data.off + hdr->payload_len <= data.wr->len);
		fallthrough;
	case FRDMA_ACK_ATOMIC:
	case FRDMA_ACK_PROGRESS:
		frdma_ack_commit(&q.rq, hdr->psn, SENDQ_NOW);
		break;
	case FRDMA_ACK_LOST:
	case FRDMA_ACK_SEQ_NAK:
		frdma_ack_implied(&q.rq, hdr->psn, SENDQ_NOW);
		frdma_resend_recover(&q.rq, true);
		break;
	default:
		break;
	}
	sendq_send_all(&q);
	return sendq_reap_all(&q);
}

static bool window_is_sane(void)
{
	s32 sent_psns = frdma_psn_diff(q.rq.psn, q.rq.una_psn);
	s32 ever_sent = frdma_psn_diff(q.rq.end_psn, q.rq.una_psn);

	return 0 <= sent_psns && sent_psns <= ever_sent && ever_sent < 128 &&
	       q.rq.rd_out <= q.rq.rd_max &&
	       q.rq.wr_next - q.rq.wr_una <= q.rq.wr_prod - q.rq.wr_una;
}

TEST(frdma_ack_judge__one_ack_for_three_work_requests)
{
	u32 i;

	sendq_init(&q);
	for (i = 0; i < 3; i++)
		sendq_sent(&q, IB_UVERBS_WR_SEND, 300);
	EXPECT_EQ(judge_ack(5, 0x1f), FRDMA_ACK_PROGRESS);
	frdma_ack_commit(&q.rq, sendq_psn(5), SENDQ_NOW);
	EXPECT_EQ(sendq_reap_all(&q), 3);
	EXPECT(!frdma_req_in_flight(&q.rq));
	EXPECT_EQ(q.rq.retry.wait, FRDMA_WAIT_NONE);
}

TEST(frdma_ack_commit__in_the_middle_of_a_work_request)
{
	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_SEND, 1000);
	EXPECT_EQ(judge_ack(1, 0x1f), FRDMA_ACK_PROGRESS);
	frdma_ack_commit(&q.rq, sendq_psn(1), SENDQ_NOW + 99);
	EXPECT_EQ(sendq_reap_all(&q), 0);
	EXPECT_EQ(q.rq.retry.deadline_ns, SENDQ_NOW + 99 + SENDQ_TIMEOUT);
}

TEST(frdma_ack_judge__credit_counts_are_positive)
{
	u32 credits;

	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_SEND, 1);
	for (credits = 0; credits < 32; credits++)
		EXPECT_EQ(judge_ack(0, credits), FRDMA_ACK_PROGRESS);
}

TEST(frdma_ack_judge__already_acknowledged)
{
	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_SEND, 1000);
	frdma_ack_commit(&q.rq, sendq_psn(1), SENDQ_NOW);
	EXPECT_EQ(judge_ack(0, 0x1f), FRDMA_ACK_STALE);
	EXPECT_EQ(judge_ack(1, 0x1f), FRDMA_ACK_STALE);
	EXPECT_EQ(judge_ack(1, FRDMA_NAK_ACCESS), FRDMA_ACK_STALE);
	EXPECT_EQ(judge_ack(-1, 0x1f), FRDMA_ACK_STALE);
}

TEST(frdma_ack_judge__never_sent)
{
	sendq_init(&q);
	EXPECT_EQ(judge_ack(0, 0x1f), FRDMA_ACK_GHOST);
	sendq_sent(&q, IB_UVERBS_WR_SEND, 1000);
	EXPECT_EQ(judge_ack(4, 0x1f), FRDMA_ACK_GHOST);
	EXPECT_EQ(judge_ack(5, FRDMA_NAK_INV_REQ), FRDMA_ACK_GHOST);
	EXPECT_EQ(judge_resp(FRDMA_READ_RESP_ONLY, 4, 0), FRDMA_ACK_GHOST);
}

/* Whatever its PSN, and whether anything is outstanding. */
TEST(frdma_ack_judge__notification_of_congestion)
{
	sendq_init(&q);
	EXPECT_EQ(judge_resp(FRDMA_CNP, 0, 16), FRDMA_ACK_CONGESTED);
	sendq_sent(&q, IB_UVERBS_WR_SEND, 1);
	EXPECT_EQ(judge_resp(FRDMA_CNP, -1, 16), FRDMA_ACK_CONGESTED);
	EXPECT_EQ(judge_resp(FRDMA_CNP, 0, 16), FRDMA_ACK_CONGESTED);
	EXPECT_EQ(judge_resp(FRDMA_CNP, 100, 0), FRDMA_ACK_CONGESTED);
}

TEST(frdma_ack_judge__every_syndrome)
{
	u32 syndrome;

	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_SEND, 1);
	for (syndrome = 0; syndrome < 256; syndrome++) {
		enum frdma_ack_verdict want = FRDMA_ACK_BAD_RESP;

		if (syndrome < 0x20)
			want = FRDMA_ACK_PROGRESS;
		else if (syndrome < 0x40)
			want = FRDMA_ACK_RNR_NAK;
		else if (syndrome == FRDMA_NAK_PSN)
			want = FRDMA_ACK_SEQ_NAK;
		else if (syndrome == FRDMA_NAK_INV_REQ)
			want = FRDMA_ACK_REM_INV_REQ;
		else if (syndrome == FRDMA_NAK_ACCESS)
			want = FRDMA_ACK_REM_ACCESS;
		else if (syndrome == FRDMA_NAK_OP)
			want = FRDMA_ACK_REM_OP;
		EXPECT_EQ(judge_ack(0, syndrome), want);
	}
}

/* Nonsense is nonsense, whatever was lost before it. */
TEST(frdma_ack_judge__reserved_syndrome_behind_a_read)
{
	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_RDMA_READ, 1);
	sendq_sent(&q, IB_UVERBS_WR_SEND, 1);
	EXPECT_EQ(judge_ack(1, 0), FRDMA_ACK_LOST);
	EXPECT_EQ(judge_ack(1, FRDMA_AETH_RESERVED), FRDMA_ACK_BAD_RESP);
	EXPECT_EQ(judge_ack(1, FRDMA_NAK_OP + 2), FRDMA_ACK_BAD_RESP);
}

/* What was sent in its turn is acknowledged in its turn. */
TEST(frdma_ack_commit__nothing_is_taken_up_again)
{
	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_SEND, 300);
	frdma_ack_commit(&q.rq, sendq_psn(1), SENDQ_NOW);
	EXPECT_EQ(q.rq.restart_psn, SENDQ_PSN);
	/* Nor is what was fine long ago, once the numbers have come round. */
	EXPECT_EQ(q.rq.fine_psn, sendq_psn(2));
}

TEST(frdma_ack_judge__receiver_not_ready_once)
{
	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_SEND, 1);
	EXPECT_EQ(judge_ack(0, 0x21), FRDMA_ACK_RNR_NAK);
	frdma_retry_rnr(&q.rq.retry, 1, SENDQ_NOW);
	EXPECT_EQ(judge_ack(0, 0x21), FRDMA_ACK_STALE);
	frdma_retry_expire(&q.rq.retry, U64_MAX);
	EXPECT_EQ(judge_ack(0, 0x21), FRDMA_ACK_RNR_NAK);
}

TEST(frdma_ack_judge__read_of_one_packet)
{
	struct frdma_ack_data data;

	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_RDMA_READ, 100);
	EXPECT_EQ(judge_resp(FRDMA_READ_RESP_ONLY, 0, 100), FRDMA_ACK_DATA);
	data = frdma_ack_locate(&q.rq, sendq_psn(0));
	EXPECT_EQ(data.wr->wqe.wr_id, 0);
	EXPECT_EQ(data.off, 0);
	frdma_ack_commit(&q.rq, sendq_psn(0), SENDQ_NOW);
	EXPECT_EQ(q.rq.rd_out, 0);
	EXPECT_EQ(sendq_reap_all(&q), 1);
}

TEST(frdma_ack_judge__read_of_nothing)
{
	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_RDMA_READ, 0);
	EXPECT_EQ(judge_resp(FRDMA_READ_RESP_ONLY, 0, 1), FRDMA_ACK_BAD_RESP);
	EXPECT_EQ(judge_resp(FRDMA_READ_RESP_ONLY, 0, 0), FRDMA_ACK_DATA);
}

/* A READ of six packets goes out as four and two. */
static const u8 read_of_six[] = {
	FRDMA_READ_RESP_FIRST, FRDMA_READ_RESP_MIDDLE,
	FRDMA_READ_RESP_MIDDLE, FRDMA_READ_RESP_LAST,
	FRDMA_READ_RESP_FIRST, FRDMA_READ_RESP_LAST,
};

TEST(frdma_ack_commit__read_in_two_pieces)
{
	u32 i;

	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_RDMA_READ, 5 * 256 + 1);
	EXPECT_EQ(q.rq.rd_out, 2);
	for (i = 0; i < 6; i++) {
		EXPECT_EQ(judge_resp(read_of_six[i], i, i < 5 ? 256 : 1),
			  FRDMA_ACK_DATA);
		EXPECT_EQ(frdma_ack_locate(&q.rq, sendq_psn(i)).off, i * 256);
		EXPECT_EQ(sendq_reap_all(&q), 0);
		frdma_ack_commit(&q.rq, sendq_psn(i), SENDQ_NOW);
		EXPECT_EQ(q.rq.rd_out, i < 3 ? 2 : i < 5 ? 1 : 0);
	}
	EXPECT_EQ(sendq_reap_all(&q), 1);
}

TEST(frdma_ack_judge__read_response_in_the_wrong_place)
{
	u8 opcode;
	u32 i;

	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_RDMA_READ, 6 * 256);
	/* One that begins where sending was last taken up is right. */
	q.rq.restart_psn = sendq_psn(-1);
	for (i = 0; i < 6; i++) {
		for (opcode = FRDMA_READ_RESP_FIRST;
		     opcode <= FRDMA_READ_RESP_ONLY; opcode++)
			EXPECT_EQ(judge_resp(opcode, i, 256),
				  opcode == read_of_six[i] ?
				  FRDMA_ACK_DATA : FRDMA_ACK_LOST);
		frdma_ack_commit(&q.rq, sendq_psn(i), SENDQ_NOW);
	}
}

/*
 * The second packet of a response was lost. Asked for from there, off the
 * grid, and then the SEND behind it, which was sent once more only in order to
 * be acknowledged, since nothing behind it may be sent now (SQD).
 */
TEST(frdma_ack_judge__read_from_the_middle_and_a_question_behind_it)
{
	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_RDMA_READ, 4 * SENDQ_MTU);
	sendq_sent(&q, IB_UVERBS_WR_SEND, 1);
	EXPECT_EQ(judge_resp(FRDMA_READ_RESP_FIRST, 0, SENDQ_MTU),
		  FRDMA_ACK_DATA);
	frdma_ack_commit(&q.rq, sendq_psn(0), SENDQ_NOW);
	EXPECT_EQ(judge_resp(FRDMA_READ_RESP_MIDDLE, 2, SENDQ_MTU),
		  FRDMA_ACK_LOST);
	EXPECT_EQ(frdma_resend_recover(&q.rq, false), FRDMA_RECOVERY_BEGUN);

	/* Behind the SEND there is one, so that it asks for nothing. */
	sendq_post(&q, IB_UVERBS_WR_SEND, 1);
	EXPECT_EQ(sendq_send(&q).hdr.psn, sendq_psn(1));
	EXPECT(!sendq_send(&q).hdr.ack_req);
	EXPECT(frdma_req_ask(&q.rq));
	EXPECT(sendq_send(&q).hdr.ack_req);
	EXPECT_EQ(judge_resp(FRDMA_READ_RESP_FIRST, 1, SENDQ_MTU),
		  FRDMA_ACK_DATA);
}

/* Asked for whole, and only so: fine pieces are answers to nothing. */
TEST(frdma_ack_judge__read_response_in_pieces_that_nobody_asked_for)
{
	u32 i;

	sendq_init(&q);
	q.rq.read_grid = 2 * FRDMA_READ_STEP;
	sendq_sent(&q, IB_UVERBS_WR_RDMA_READ, 2 * FRDMA_READ_STEP * SENDQ_MTU);
	for (i = 0; i < FRDMA_READ_STEP - 1; i++)
		frdma_ack_commit(&q.rq, sendq_psn(i), SENDQ_NOW);
	EXPECT_EQ(judge_resp(FRDMA_READ_RESP_LAST, i, SENDQ_MTU),
		  FRDMA_ACK_LOST);
	EXPECT_EQ(judge_resp(FRDMA_READ_RESP_MIDDLE, i, SENDQ_MTU),
		  FRDMA_ACK_DATA);
}

/* Asked for whole, then in fine pieces: the answers may be of either. */
TEST(frdma_ack_judge__read_asked_for_again_in_fine_pieces)
{
	sendq_init(&q);
	q.rq.resend.parts = true;
	q.rq.read_grid = 2 * FRDMA_READ_STEP;
	sendq_sent(&q, IB_UVERBS_WR_RDMA_READ, 2 * FRDMA_READ_STEP * 256);
	EXPECT_EQ(q.rq.rd_out, 1);
	frdma_ack_commit(&q.rq, sendq_psn(0), SENDQ_NOW);
	frdma_ack_commit(&q.rq, sendq_psn(1), SENDQ_NOW);
	EXPECT_EQ(frdma_resend_recover(&q.rq, false), FRDMA_RECOVERY_BEGUN);
	EXPECT_EQ(sendq_send_all(&q), 2);
	EXPECT_EQ(q.rq.rd_out, 2);

	EXPECT_EQ(judge_resp(FRDMA_READ_RESP_FIRST, 2, 256), FRDMA_ACK_DATA);
	EXPECT_EQ(judge_resp(FRDMA_READ_RESP_MIDDLE, 2, 256), FRDMA_ACK_DATA);
	frdma_ack_commit(&q.rq, sendq_psn(2), SENDQ_NOW);
	EXPECT_EQ(judge_resp(FRDMA_READ_RESP_LAST, 3, 256), FRDMA_ACK_DATA);
	EXPECT_EQ(judge_resp(FRDMA_READ_RESP_MIDDLE, 3, 256), FRDMA_ACK_DATA);
	EXPECT_EQ(judge_resp(FRDMA_READ_RESP_FIRST, 3, 256), FRDMA_ACK_LOST);
	frdma_ack_commit(&q.rq, sendq_psn(3), SENDQ_NOW);
	EXPECT_EQ(q.rq.rd_out, 1);
	EXPECT_EQ(judge_resp(FRDMA_READ_RESP_FIRST, 4, 256), FRDMA_ACK_DATA);
	EXPECT_EQ(judge_resp(FRDMA_READ_RESP_MIDDLE, 4, 256), FRDMA_ACK_DATA);
	EXPECT_EQ(judge_resp(FRDMA_READ_RESP_LAST, 4, 256), FRDMA_ACK_LOST);
}

TEST(frdma_ack_judge__read_response_of_the_wrong_length)
{
	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_RDMA_READ, 256 + 10);
	EXPECT_EQ(judge_resp(FRDMA_READ_RESP_FIRST, 0, 255),
		  FRDMA_ACK_BAD_RESP);
	EXPECT_EQ(judge_resp(FRDMA_READ_RESP_FIRST, 0, 257),
		  FRDMA_ACK_BAD_RESP);
	frdma_ack_commit(&q.rq, sendq_psn(0), SENDQ_NOW);
	EXPECT_EQ(judge_resp(FRDMA_READ_RESP_LAST, 1, 9), FRDMA_ACK_BAD_RESP);
	EXPECT_EQ(judge_resp(FRDMA_READ_RESP_LAST, 1, 11), FRDMA_ACK_BAD_RESP);
	EXPECT_EQ(judge_resp(FRDMA_READ_RESP_LAST, 1, 10), FRDMA_ACK_DATA);
}

TEST(frdma_ack_judge__gap_in_a_read_response)
{
	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_RDMA_READ, 4 * 256);
	frdma_ack_commit(&q.rq, sendq_psn(0), SENDQ_NOW);
	EXPECT_EQ(judge_resp(FRDMA_READ_RESP_MIDDLE, 2, 256), FRDMA_ACK_LOST);
	frdma_ack_implied(&q.rq, sendq_psn(2), SENDQ_NOW);
	EXPECT_EQ(q.rq.una_psn, sendq_psn(1));
	EXPECT_EQ(frdma_resend_recover(&q.rq, false), FRDMA_RECOVERY_BEGUN);

	/* The rest of it is asked for; its answer begins off the grid. */
	EXPECT_EQ(sendq_send(&q).hdr.dma_len, 3 * 256);
	EXPECT_EQ(judge_resp(FRDMA_READ_RESP_FIRST, 1, 256), FRDMA_ACK_DATA);
	EXPECT_EQ(judge_resp(FRDMA_READ_RESP_MIDDLE, 1, 256), FRDMA_ACK_DATA);
}

TEST(frdma_ack_commit__answer_comes_before_the_question_is_repeated)
{
	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_RDMA_READ, 4 * 256);
	frdma_resend_all(&q.rq);
	/* Packets that were on their way already, some of them. */
	frdma_ack_commit(&q.rq, sendq_psn(0), SENDQ_NOW);
	frdma_ack_commit(&q.rq, sendq_psn(1), SENDQ_NOW);
	EXPECT_EQ(sendq_send(&q).hdr.psn, sendq_psn(2));
	EXPECT_EQ(q.rq.rd_out, 1);
	EXPECT_EQ(judge_resp(FRDMA_READ_RESP_FIRST, 2, 256), FRDMA_ACK_DATA);
	frdma_ack_commit(&q.rq, sendq_psn(2), SENDQ_NOW);
	EXPECT_EQ(judge_resp(FRDMA_READ_RESP_LAST, 3, 256), FRDMA_ACK_DATA);
	frdma_ack_commit(&q.rq, sendq_psn(3), SENDQ_NOW);
	EXPECT_EQ(q.rq.rd_out, 0);
	EXPECT_EQ(sendq_reap_all(&q), 1);
}

TEST(frdma_ack_judge__ack_instead_of_a_read_response)
{
	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_SEND, 1);
	sendq_sent(&q, IB_UVERBS_WR_RDMA_READ, 256);
	sendq_sent(&q, IB_UVERBS_WR_SEND, 1);
	EXPECT_EQ(judge_ack(0, 0x1f), FRDMA_ACK_PROGRESS);
	EXPECT_EQ(judge_ack(1, 0x1f), FRDMA_ACK_LOST);
	EXPECT_EQ(judge_ack(2, 0x1f), FRDMA_ACK_LOST);
	/* Before the READ all has arrived. */
	frdma_ack_implied(&q.rq, sendq_psn(2), SENDQ_NOW);
	EXPECT_EQ(q.rq.una_psn, sendq_psn(1));
	EXPECT_EQ(sendq_reap_all(&q), 1);
}

TEST(frdma_ack_judge__read_response_acknowledges_what_was_before)
{
	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_SEND, 1);
	sendq_sent(&q, IB_UVERBS_WR_RDMA_READ, 256);
	EXPECT_EQ(judge_resp(FRDMA_READ_RESP_ONLY, 1, 256), FRDMA_ACK_DATA);
	frdma_ack_commit(&q.rq, sendq_psn(1), SENDQ_NOW);
	EXPECT_EQ(sendq_reap_all(&q), 2);
}

TEST(frdma_ack_judge__nak_refuses_the_read_itself)
{
	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_RDMA_READ, 256);
	sendq_sent(&q, IB_UVERBS_WR_SEND, 1);
	EXPECT_EQ(judge_ack(0, FRDMA_NAK_ACCESS), FRDMA_ACK_REM_ACCESS);
	EXPECT_EQ(judge_ack(0, FRDMA_NAK_PSN), FRDMA_ACK_SEQ_NAK);
	/* Of a later request: the READ was executed, its response is lost. */
	EXPECT_EQ(judge_ack(1, FRDMA_NAK_ACCESS), FRDMA_ACK_LOST);
	EXPECT_EQ(judge_ack(1, 0x21), FRDMA_ACK_LOST);
}

TEST(frdma_ack_judge__atomic)
{
	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD, 8);
	EXPECT_EQ(judge_resp(FRDMA_ATOMIC_ACK, 0, 0), FRDMA_ACK_ATOMIC);
	frdma_ack_commit(&q.rq, sendq_psn(0), SENDQ_NOW);
	EXPECT_EQ(q.rq.rd_out, 0);
	EXPECT_EQ(sendq_reap_all(&q), 1);
	EXPECT_EQ(judge_resp(FRDMA_ATOMIC_ACK, 0, 0), FRDMA_ACK_STALE);
}

TEST(frdma_ack_judge__atomic_write)
{
	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_SEND, 1);
	sendq_sent(&q, FRDMA_WR_ATOMIC_WRITE, 8);
	/* It brings no data, and no ACK stands for it. */
	EXPECT_EQ(judge_resp(FRDMA_READ_RESP_ONLY, 1, 8), FRDMA_ACK_BAD_RESP);
	EXPECT_EQ(judge_resp(FRDMA_ATOMIC_ACK, 1, 0), FRDMA_ACK_BAD_RESP);
	EXPECT_EQ(judge_resp(FRDMA_READ_RESP_FIRST, 1, 0), FRDMA_ACK_LOST);
	EXPECT_EQ(judge_ack(1, 0x1f), FRDMA_ACK_LOST);
	EXPECT_EQ(judge_ack(1, FRDMA_NAK_ACCESS), FRDMA_ACK_REM_ACCESS);

	EXPECT_EQ(judge_resp(FRDMA_READ_RESP_ONLY, 1, 0), FRDMA_ACK_DATA);
	frdma_ack_commit(&q.rq, sendq_psn(1), SENDQ_NOW);
	EXPECT_EQ(q.rq.rd_out, 0);
	EXPECT_EQ(sendq_reap_all(&q), 2);
}

TEST(frdma_ack_judge__flush)
{
	sendq_init(&q);
	sendq_sent(&q, FRDMA_WR_FLUSH, 0);
	EXPECT_EQ(judge_ack(0, 0x1f), FRDMA_ACK_LOST);
	EXPECT_EQ(judge_ack(0, FRDMA_NAK_ACCESS), FRDMA_ACK_REM_ACCESS);
	EXPECT_EQ(judge_resp(FRDMA_READ_RESP_ONLY, 0, 0), FRDMA_ACK_DATA);
	frdma_ack_commit(&q.rq, sendq_psn(0), SENDQ_NOW);
	EXPECT_EQ(q.rq.rd_out, 0);
	EXPECT_EQ(sendq_reap_all(&q), 1);
}

TEST(frdma_ack_judge__answer_of_another_kind)
{
	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_SEND, 1);
	EXPECT_EQ(judge_resp(FRDMA_ATOMIC_ACK, 0, 0), FRDMA_ACK_BAD_RESP);
	EXPECT_EQ(judge_resp(FRDMA_READ_RESP_ONLY, 0, 1), FRDMA_ACK_BAD_RESP);

	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_RDMA_READ, 8);
	EXPECT_EQ(judge_resp(FRDMA_ATOMIC_ACK, 0, 0), FRDMA_ACK_BAD_RESP);

	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD, 8);
	EXPECT_EQ(judge_resp(FRDMA_READ_RESP_ONLY, 0, 8), FRDMA_ACK_BAD_RESP);
}

TEST(frdma_ack_judge__negative_syndrome_in_a_response)
{
	struct frdma_hdr hdr;

	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD, 8);
	hdr = answer(FRDMA_ATOMIC_ACK, 0, FRDMA_NAK_OP);
	EXPECT_EQ(frdma_ack_judge(&q.rq, &hdr), FRDMA_ACK_BAD_RESP);

	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_RDMA_READ, 8);
	hdr = answer(FRDMA_READ_RESP_ONLY, 0, 0x40);
	hdr.payload_len = 8;
	EXPECT_EQ(frdma_ack_judge(&q.rq, &hdr), FRDMA_ACK_BAD_RESP);
}

TEST(frdma_ack_judge__message_over_half_of_all_psns)
{
	sendq_init(&q);
	sendq_post(&q, IB_UVERBS_WR_SEND, FRDMA_MSG_MAX);
	sendq_post(&q, IB_UVERBS_WR_RDMA_READ, 1);
	sendq_send_all(&q);
	EXPECT_EQ(judge_ack(0, 0x1f), FRDMA_ACK_PROGRESS);
	frdma_ack_commit(&q.rq, sendq_psn(0), SENDQ_NOW);
	EXPECT_EQ(q.rq.una_psn, sendq_psn(1));
	EXPECT_EQ(sendq_reap_all(&q), 0);
}

TEST(frdma_ack_commit__limit_of_reads_holds_after_a_restart)
{
	u32 i;

	sendq_init(&q);
	for (i = 0; i < 8; i++)
		sendq_post(&q, IB_UVERBS_WR_RDMA_READ, 1);
	EXPECT_EQ(sendq_send_all(&q), 4);
	frdma_resend_all(&q.rq);
	EXPECT_EQ(sendq_send_all(&q), 4);
	EXPECT_EQ(q.rq.rd_out, 4);
	/* Each answer makes room for one. */
	for (i = 0; i < 4; i++) {
		frdma_ack_commit(&q.rq, sendq_psn(i), SENDQ_NOW);
		EXPECT_EQ(sendq_send_all(&q), 1);
	}
}

/* Often the one that is due, so that it gets on; else anything. */
static struct frdma_hdr any_answer(struct rnd *rnd)
{
	struct frdma_hdr hdr = {
		.opcode = FRDMA_READ_RESP_FIRST + rnd_below(rnd, 6),
		.psn = q.rq.una_psn,
		.syndrome = 0x1f,
		.payload_len = 256,
	};

	if (!rnd_below(rnd, 4))
		hdr.psn = frdma_psn_add(hdr.psn, rnd_below(rnd, 30) - 5);
	if (!rnd_below(rnd, 8))
		hdr.syndrome = rnd_u64(rnd);
	if (!rnd_below(rnd, 4))
		hdr.payload_len = rnd_below(rnd, 300);
	return hdr;
}

/* Whatever a peer sends, the window stays a window. */
TEST(frdma_ack_judge__any_answers)
{
	struct rnd rnd = { 4 };
	u32 round, i, completed = 0;

	for (round = 0; round < 2000; round++) {
		sendq_init(&q);
		sendq_sent(&q, IB_UVERBS_WR_SEND, rnd_below(&rnd, 1000));
		sendq_sent(&q, IB_UVERBS_WR_RDMA_READ, 256 * rnd_below(&rnd, 12));
		sendq_sent(&q, IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD, 8);
		sendq_sent(&q, IB_UVERBS_WR_SEND, rnd_below(&rnd, 1000));
		for (i = 0; i < 100; i++) {
			struct frdma_hdr hdr = any_answer(&rnd);

			completed += take_any(&hdr);
			EXPECT(window_is_sane());
		}
	}
	/* Most of them all the way through. */
	EXPECT(completed > 4000);
}

/* What is complete may still be there when the next answer is judged. */
TEST(frdma_ack_judge__looks_past_what_is_complete)
{
	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_SEND, 300);
	sendq_sent(&q, IB_UVERBS_WR_RDMA_READ, 1);
	frdma_ack_commit(&q.rq, sendq_psn(1), SENDQ_NOW);
	EXPECT_EQ(judge_resp(FRDMA_READ_RESP_ONLY, 2, 1), FRDMA_ACK_DATA);
	EXPECT_EQ(frdma_ack_locate(&q.rq, sendq_psn(2)).wr->wqe.wr_id, 1);
}

/* The answers to a train are all taken before the user hears of the first. */
TEST(frdma_ack_commit__answers_are_not_looked_up_from_the_beginning)
{
	u32 i;

	sendq_init(&q);
	q.rq.rd_max = SENDQ_SLOTS;
	for (i = 0; i < SENDQ_SLOTS - 1; i++)
		sendq_sent(&q, IB_UVERBS_WR_RDMA_READ, 1);
	for (i = 0; i < SENDQ_SLOTS - 1; i++) {
		EXPECT_EQ(q.rq.wr_acked, i);
		EXPECT_EQ(frdma_ack_locate(&q.rq, sendq_psn(i)).wr->wqe.wr_id,
			  i);
		frdma_ack_commit(&q.rq, sendq_psn(i), SENDQ_NOW);
	}
	EXPECT_EQ(q.rq.wr_acked, q.rq.wr_prod);
	EXPECT_EQ(sendq_reap_all(&q), SENDQ_SLOTS - 1);

	/* Local operations complete without an answer, however many there are. */
	sendq_sent(&q, FRDMA_WR_REG_MR, 0);
	frdma_req_local_done(&q.rq);
	EXPECT_EQ(sendq_reap_all(&q), 1);
	EXPECT_EQ(q.rq.wr_acked, q.rq.wr_una);
	sendq_sent(&q, FRDMA_WR_REG_MR, 0);
	frdma_req_local_done(&q.rq);
	sendq_sent(&q, IB_UVERBS_WR_RDMA_READ, 1);
	EXPECT_EQ(frdma_ack_locate(&q.rq, sendq_psn(i)).wr->wqe.wr_id, i + 2);

	/* And what failed, and was reaped, is older than any of them. */
	frdma_req_fail(&q.rq, FRDMA_WC_RETRY_EXC_ERR, 0);
	EXPECT_EQ(sendq_reap_all(&q), 2);
	EXPECT_EQ(q.rq.wr_acked, q.rq.wr_una);
}

/* What sends nothing has no PSN that could be meant. */
TEST(frdma_ack_judge__looks_past_local_operations)
{
	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_SEND, 1);
	sendq_sent(&q, FRDMA_WR_REG_MR, 0);
	frdma_req_local_done(&q.rq);
	sendq_sent(&q, IB_UVERBS_WR_RDMA_READ, 1);
	EXPECT_EQ(judge_ack(1, FRDMA_AETH_NO_CREDITS), FRDMA_ACK_LOST);
	EXPECT_EQ(judge_resp(FRDMA_READ_RESP_ONLY, 1, 1), FRDMA_ACK_DATA);
	EXPECT_EQ(frdma_ack_locate(&q.rq, sendq_psn(1)).wr->wqe.wr_id, 2);
}

/* Another request has to wait, too: the first one was executed. */
TEST(frdma_ack_judge__receiver_not_ready_for_a_later_request)
{
	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_SEND, 1);
	sendq_sent(&q, IB_UVERBS_WR_SEND, 1);
	frdma_retry_rnr(&q.rq.retry, 1, SENDQ_NOW);
	EXPECT_EQ(judge_ack(1, 0x21), FRDMA_ACK_RNR_NAK);
}

TEST(frdma_ack_wait__as_long_as_the_syndrome_says)
{
	struct frdma_hdr hdr;
	u32 code;

	for (code = 0; code < 32; code++) {
		sendq_init(&q);
		sendq_sent(&q, IB_UVERBS_WR_SEND, 300);
		hdr = answer(FRDMA_ACKNOWLEDGE, 0, FRDMA_AETH_RNR | code);
		EXPECT(frdma_ack_wait(&q.rq, &hdr, SENDQ_NOW));
		EXPECT_EQ(frdma_req_outstanding(&q.rq), 0);
		EXPECT_EQ(frdma_req_judge(&q.rq), FRDMA_REQ_PAUSED);
		EXPECT_EQ(frdma_retry_next_ns(&q.rq.retry),
			  SENDQ_NOW + frdma_rnr_delay_ns(code));
	}
	q.rq.retry.rnr_left = 0;
	EXPECT(!frdma_ack_wait(&q.rq, &hdr, SENDQ_NOW));
}

/* The answer comes after all, while nobody has asked again. */
TEST(frdma_ack_commit__late_answer_to_what_is_not_outstanding)
{
	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_RDMA_READ, 1);
	frdma_resend_all(&q.rq);
	EXPECT_EQ(q.rq.rd_out, 0);
	EXPECT_EQ(judge_resp(FRDMA_READ_RESP_ONLY, 0, 1), FRDMA_ACK_DATA);
	frdma_ack_commit(&q.rq, sendq_psn(0), SENDQ_NOW);
	EXPECT_EQ(q.rq.rd_out, 0);
	EXPECT_EQ(sendq_reap_all(&q), 1);
}

/*
 * Runs: no packet more than would be stored one after the other, and the same
 * state after them.
 */
