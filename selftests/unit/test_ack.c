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

/* One thing after the other, all sent. */
static void sent(u8 opcode, u32 len)
{
	sendq_post(&q, opcode, len);
	sendq_send_all(&q);
}

static u32 reap_all(void)
{
	u32 n = 0;

	while (frdma_req_reap(&q.rq))
		n++;
	return n;
}

/* As the kernel does: what is good is committed, what is bad is repeated. */
static u32 take_any(const struct frdma_hdr *hdr)
{
	enum frdma_ack_verdict verdict = frdma_ack_judge(&q.rq, hdr);
	struct frdma_ack_data data;

	switch (verdict) {
	case FRDMA_ACK_DATA:
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
		frdma_ack_recover(&q.rq, true);
		break;
	default:
		break;
	}
	sendq_send_all(&q);
	return reap_all();
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
		sent(IB_UVERBS_WR_SEND, 300);
	EXPECT_EQ(judge_ack(5, 0x1f), FRDMA_ACK_PROGRESS);
	frdma_ack_commit(&q.rq, sendq_psn(5), SENDQ_NOW);
	EXPECT_EQ(reap_all(), 3);
	EXPECT(!frdma_req_in_flight(&q.rq));
	EXPECT_EQ(q.rq.retry.wait, FRDMA_WAIT_NONE);
}

TEST(frdma_ack_commit__in_the_middle_of_a_work_request)
{
	sendq_init(&q);
	sent(IB_UVERBS_WR_SEND, 1000);
	EXPECT_EQ(judge_ack(1, 0x1f), FRDMA_ACK_PROGRESS);
	frdma_ack_commit(&q.rq, sendq_psn(1), SENDQ_NOW + 99);
	EXPECT_EQ(reap_all(), 0);
	EXPECT_EQ(q.rq.retry.deadline_ns, SENDQ_NOW + 99 + SENDQ_TIMEOUT);
}

TEST(frdma_ack_judge__credit_counts_are_positive)
{
	u32 credits;

	sendq_init(&q);
	sent(IB_UVERBS_WR_SEND, 1);
	for (credits = 0; credits < 32; credits++)
		EXPECT_EQ(judge_ack(0, credits), FRDMA_ACK_PROGRESS);
}

TEST(frdma_ack_judge__already_acknowledged)
{
	sendq_init(&q);
	sent(IB_UVERBS_WR_SEND, 1000);
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
	sent(IB_UVERBS_WR_SEND, 1000);
	EXPECT_EQ(judge_ack(4, 0x1f), FRDMA_ACK_GHOST);
	EXPECT_EQ(judge_ack(5, FRDMA_NAK_INV_REQ), FRDMA_ACK_GHOST);
	EXPECT_EQ(judge_resp(FRDMA_READ_RESP_ONLY, 4, 0), FRDMA_ACK_GHOST);
}

/* Whatever its PSN, and whether anything is outstanding. */
TEST(frdma_ack_judge__notification_of_congestion)
{
	sendq_init(&q);
	EXPECT_EQ(judge_resp(FRDMA_CNP, 0, 16), FRDMA_ACK_CONGESTED);
	sent(IB_UVERBS_WR_SEND, 1);
	EXPECT_EQ(judge_resp(FRDMA_CNP, -1, 16), FRDMA_ACK_CONGESTED);
	EXPECT_EQ(judge_resp(FRDMA_CNP, 0, 16), FRDMA_ACK_CONGESTED);
	EXPECT_EQ(judge_resp(FRDMA_CNP, 100, 0), FRDMA_ACK_CONGESTED);
}

TEST(frdma_ack_judge__every_syndrome)
{
	u32 syndrome;

	sendq_init(&q);
	sent(IB_UVERBS_WR_SEND, 1);
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
	sent(IB_UVERBS_WR_RDMA_READ, 1);
	sent(IB_UVERBS_WR_SEND, 1);
	EXPECT_EQ(judge_ack(1, 0), FRDMA_ACK_LOST);
	EXPECT_EQ(judge_ack(1, FRDMA_AETH_RESERVED), FRDMA_ACK_BAD_RESP);
	EXPECT_EQ(judge_ack(1, FRDMA_NAK_OP + 2), FRDMA_ACK_BAD_RESP);
}

/* What was sent in its turn is acknowledged in its turn. */
TEST(frdma_ack_commit__nothing_is_taken_up_again)
{
	sendq_init(&q);
	sent(IB_UVERBS_WR_SEND, 300);
	frdma_ack_commit(&q.rq, sendq_psn(1), SENDQ_NOW);
	EXPECT_EQ(q.rq.restart_psn, SENDQ_PSN);
	/* Nor is what was fine long ago, once the numbers have come round. */
	EXPECT_EQ(q.rq.fine_psn, sendq_psn(2));
}

TEST(frdma_ack_recover__sequence_nak_resends_from_its_psn)
{
	sendq_init(&q);
	sent(IB_UVERBS_WR_SEND, 300);
	sent(IB_UVERBS_WR_SEND, 300);
	EXPECT_EQ(judge_ack(3, FRDMA_NAK_PSN), FRDMA_ACK_SEQ_NAK);
	frdma_ack_implied(&q.rq, sendq_psn(3), SENDQ_NOW);
	EXPECT_EQ(reap_all(), 1);
	EXPECT_EQ(frdma_ack_recover(&q.rq, true), FRDMA_RECOVERY_BEGUN);
	EXPECT_EQ(q.rq.retry.retry_left, 6);
	EXPECT_EQ(q.rq.cc.threshold, SENDQ_WINDOW * 7 / 10);
	EXPECT_EQ(sendq_send(&q).hdr.psn, sendq_psn(3));
	EXPECT_EQ(frdma_req_judge(&q.rq), FRDMA_REQ_EMPTY);
}

TEST(frdma_ack_recover__copies_of_a_nak_cost_nothing)
{
	sendq_init(&q);
	sent(IB_UVERBS_WR_SEND, 1000);
	EXPECT_EQ(frdma_ack_recover(&q.rq, true), FRDMA_RECOVERY_BEGUN);
	EXPECT_EQ(frdma_ack_recover(&q.rq, true), FRDMA_RECOVERY_RUNS);
	EXPECT_EQ(q.rq.retry.retry_left, 6);
	/* A loss after progress is another one. */
	frdma_ack_commit(&q.rq, sendq_psn(0), SENDQ_NOW);
	EXPECT_EQ(frdma_ack_recover(&q.rq, true), FRDMA_RECOVERY_BEGUN);
}

TEST(frdma_ack_recover__no_retry_left)
{
	sendq_init(&q);
	sent(IB_UVERBS_WR_SEND, 1);
	q.rq.retry.retry_left = 0;
	EXPECT_EQ(frdma_ack_recover(&q.rq, true), FRDMA_RECOVERY_EXHAUSTED);
}

TEST(frdma_ack_judge__receiver_not_ready_once)
{
	sendq_init(&q);
	sent(IB_UVERBS_WR_SEND, 1);
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
	sent(IB_UVERBS_WR_RDMA_READ, 100);
	EXPECT_EQ(judge_resp(FRDMA_READ_RESP_ONLY, 0, 100), FRDMA_ACK_DATA);
	data = frdma_ack_locate(&q.rq, sendq_psn(0));
	EXPECT_EQ(data.wr->wqe.wr_id, 0);
	EXPECT_EQ(data.off, 0);
	frdma_ack_commit(&q.rq, sendq_psn(0), SENDQ_NOW);
	EXPECT_EQ(q.rq.rd_out, 0);
	EXPECT_EQ(reap_all(), 1);
}

TEST(frdma_ack_judge__read_of_nothing)
{
	sendq_init(&q);
	sent(IB_UVERBS_WR_RDMA_READ, 0);
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
	sent(IB_UVERBS_WR_RDMA_READ, 5 * 256 + 1);
	EXPECT_EQ(q.rq.rd_out, 2);
	for (i = 0; i < 6; i++) {
		EXPECT_EQ(judge_resp(read_of_six[i], i, i < 5 ? 256 : 1),
			  FRDMA_ACK_DATA);
		EXPECT_EQ(frdma_ack_locate(&q.rq, sendq_psn(i)).off, i * 256);
		EXPECT_EQ(reap_all(), 0);
		frdma_ack_commit(&q.rq, sendq_psn(i), SENDQ_NOW);
		EXPECT_EQ(q.rq.rd_out, i < 3 ? 2 : i < 5 ? 1 : 0);
	}
	EXPECT_EQ(reap_all(), 1);
}

TEST(frdma_ack_judge__read_response_in_the_wrong_place)
{
	u8 opcode;
	u32 i;

	sendq_init(&q);
	sent(IB_UVERBS_WR_RDMA_READ, 6 * 256);
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
	sent(IB_UVERBS_WR_RDMA_READ, 4 * SENDQ_MTU);
	sent(IB_UVERBS_WR_SEND, 1);
	EXPECT_EQ(judge_resp(FRDMA_READ_RESP_FIRST, 0, SENDQ_MTU),
		  FRDMA_ACK_DATA);
	frdma_ack_commit(&q.rq, sendq_psn(0), SENDQ_NOW);
	EXPECT_EQ(judge_resp(FRDMA_READ_RESP_MIDDLE, 2, SENDQ_MTU),
		  FRDMA_ACK_LOST);
	EXPECT_EQ(frdma_ack_recover(&q.rq, false), FRDMA_RECOVERY_BEGUN);

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
	sent(IB_UVERBS_WR_RDMA_READ, 2 * FRDMA_READ_STEP * SENDQ_MTU);
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
	q.rq.read_grid = 2 * FRDMA_READ_STEP;
	sent(IB_UVERBS_WR_RDMA_READ, 2 * FRDMA_READ_STEP * 256);
	EXPECT_EQ(q.rq.rd_out, 1);
	frdma_ack_commit(&q.rq, sendq_psn(0), SENDQ_NOW);
	frdma_ack_commit(&q.rq, sendq_psn(1), SENDQ_NOW);
	EXPECT_EQ(frdma_ack_recover(&q.rq, false), FRDMA_RECOVERY_BEGUN);
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
	sent(IB_UVERBS_WR_RDMA_READ, 256 + 10);
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
	sent(IB_UVERBS_WR_RDMA_READ, 4 * 256);
	frdma_ack_commit(&q.rq, sendq_psn(0), SENDQ_NOW);
	EXPECT_EQ(judge_resp(FRDMA_READ_RESP_MIDDLE, 2, 256), FRDMA_ACK_LOST);
	frdma_ack_implied(&q.rq, sendq_psn(2), SENDQ_NOW);
	EXPECT_EQ(q.rq.una_psn, sendq_psn(1));
	EXPECT_EQ(frdma_ack_recover(&q.rq, false), FRDMA_RECOVERY_BEGUN);

	/* The rest of it is asked for; its answer begins off the grid. */
	EXPECT_EQ(sendq_send(&q).hdr.dma_len, 3 * 256);
	EXPECT_EQ(judge_resp(FRDMA_READ_RESP_FIRST, 1, 256), FRDMA_ACK_DATA);
	EXPECT_EQ(judge_resp(FRDMA_READ_RESP_MIDDLE, 1, 256), FRDMA_ACK_DATA);
}

TEST(frdma_ack_commit__answer_comes_before_the_question_is_repeated)
{
	sendq_init(&q);
	sent(IB_UVERBS_WR_RDMA_READ, 4 * 256);
	frdma_req_restart(&q.rq);
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
	EXPECT_EQ(reap_all(), 1);
}

TEST(frdma_ack_judge__ack_instead_of_a_read_response)
{
	sendq_init(&q);
	sent(IB_UVERBS_WR_SEND, 1);
	sent(IB_UVERBS_WR_RDMA_READ, 256);
	sent(IB_UVERBS_WR_SEND, 1);
	EXPECT_EQ(judge_ack(0, 0x1f), FRDMA_ACK_PROGRESS);
	EXPECT_EQ(judge_ack(1, 0x1f), FRDMA_ACK_LOST);
	EXPECT_EQ(judge_ack(2, 0x1f), FRDMA_ACK_LOST);
	/* Before the READ all has arrived. */
	frdma_ack_implied(&q.rq, sendq_psn(2), SENDQ_NOW);
	EXPECT_EQ(q.rq.una_psn, sendq_psn(1));
	EXPECT_EQ(reap_all(), 1);
}

TEST(frdma_ack_judge__read_response_acknowledges_what_was_before)
{
	sendq_init(&q);
	sent(IB_UVERBS_WR_SEND, 1);
	sent(IB_UVERBS_WR_RDMA_READ, 256);
	EXPECT_EQ(judge_resp(FRDMA_READ_RESP_ONLY, 1, 256), FRDMA_ACK_DATA);
	frdma_ack_commit(&q.rq, sendq_psn(1), SENDQ_NOW);
	EXPECT_EQ(reap_all(), 2);
}

TEST(frdma_ack_judge__nak_refuses_the_read_itself)
{
	sendq_init(&q);
	sent(IB_UVERBS_WR_RDMA_READ, 256);
	sent(IB_UVERBS_WR_SEND, 1);
	EXPECT_EQ(judge_ack(0, FRDMA_NAK_ACCESS), FRDMA_ACK_REM_ACCESS);
	EXPECT_EQ(judge_ack(0, FRDMA_NAK_PSN), FRDMA_ACK_SEQ_NAK);
	/* Of a later request: the READ was executed, its response is lost. */
	EXPECT_EQ(judge_ack(1, FRDMA_NAK_ACCESS), FRDMA_ACK_LOST);
	EXPECT_EQ(judge_ack(1, 0x21), FRDMA_ACK_LOST);
}

TEST(frdma_ack_judge__atomic)
{
	sendq_init(&q);
	sent(IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD, 8);
	EXPECT_EQ(judge_resp(FRDMA_ATOMIC_ACK, 0, 0), FRDMA_ACK_ATOMIC);
	frdma_ack_commit(&q.rq, sendq_psn(0), SENDQ_NOW);
	EXPECT_EQ(q.rq.rd_out, 0);
	EXPECT_EQ(reap_all(), 1);
	EXPECT_EQ(judge_resp(FRDMA_ATOMIC_ACK, 0, 0), FRDMA_ACK_STALE);
}

TEST(frdma_ack_judge__atomic_write)
{
	sendq_init(&q);
	sent(IB_UVERBS_WR_SEND, 1);
	sent(FRDMA_WR_ATOMIC_WRITE, 8);
	/* It brings no data, and no ACK stands for it. */
	EXPECT_EQ(judge_resp(FRDMA_READ_RESP_ONLY, 1, 8), FRDMA_ACK_BAD_RESP);
	EXPECT_EQ(judge_resp(FRDMA_ATOMIC_ACK, 1, 0), FRDMA_ACK_BAD_RESP);
	EXPECT_EQ(judge_resp(FRDMA_READ_RESP_FIRST, 1, 0), FRDMA_ACK_LOST);
	EXPECT_EQ(judge_ack(1, 0x1f), FRDMA_ACK_LOST);
	EXPECT_EQ(judge_ack(1, FRDMA_NAK_ACCESS), FRDMA_ACK_REM_ACCESS);

	EXPECT_EQ(judge_resp(FRDMA_READ_RESP_ONLY, 1, 0), FRDMA_ACK_DATA);
	frdma_ack_commit(&q.rq, sendq_psn(1), SENDQ_NOW);
	EXPECT_EQ(q.rq.rd_out, 0);
	EXPECT_EQ(reap_all(), 2);
}

TEST(frdma_ack_judge__flush)
{
	sendq_init(&q);
	sent(FRDMA_WR_FLUSH, 0);
	EXPECT_EQ(judge_ack(0, 0x1f), FRDMA_ACK_LOST);
	EXPECT_EQ(judge_ack(0, FRDMA_NAK_ACCESS), FRDMA_ACK_REM_ACCESS);
	EXPECT_EQ(judge_resp(FRDMA_READ_RESP_ONLY, 0, 0), FRDMA_ACK_DATA);
	frdma_ack_commit(&q.rq, sendq_psn(0), SENDQ_NOW);
	EXPECT_EQ(q.rq.rd_out, 0);
	EXPECT_EQ(reap_all(), 1);
}

TEST(frdma_ack_judge__answer_of_another_kind)
{
	sendq_init(&q);
	sent(IB_UVERBS_WR_SEND, 1);
	EXPECT_EQ(judge_resp(FRDMA_ATOMIC_ACK, 0, 0), FRDMA_ACK_BAD_RESP);
	EXPECT_EQ(judge_resp(FRDMA_READ_RESP_ONLY, 0, 1), FRDMA_ACK_BAD_RESP);

	sendq_init(&q);
	sent(IB_UVERBS_WR_RDMA_READ, 8);
	EXPECT_EQ(judge_resp(FRDMA_ATOMIC_ACK, 0, 0), FRDMA_ACK_BAD_RESP);

	sendq_init(&q);
	sent(IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD, 8);
	EXPECT_EQ(judge_resp(FRDMA_READ_RESP_ONLY, 0, 8), FRDMA_ACK_BAD_RESP);
}

TEST(frdma_ack_judge__negative_syndrome_in_a_response)
{
	struct frdma_hdr hdr;

	sendq_init(&q);
	sent(IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD, 8);
	hdr = answer(FRDMA_ATOMIC_ACK, 0, FRDMA_NAK_OP);
	EXPECT_EQ(frdma_ack_judge(&q.rq, &hdr), FRDMA_ACK_BAD_RESP);

	sendq_init(&q);
	sent(IB_UVERBS_WR_RDMA_READ, 8);
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
	EXPECT_EQ(reap_all(), 0);
}

TEST(frdma_ack_commit__limit_of_reads_holds_after_a_restart)
{
	u32 i;

	sendq_init(&q);
	for (i = 0; i < 8; i++)
		sendq_post(&q, IB_UVERBS_WR_RDMA_READ, 1);
	EXPECT_EQ(sendq_send_all(&q), 4);
	frdma_req_restart(&q.rq);
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
		sent(IB_UVERBS_WR_SEND, rnd_below(&rnd, 1000));
		sent(IB_UVERBS_WR_RDMA_READ, 256 * rnd_below(&rnd, 12));
		sent(IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD, 8);
		sent(IB_UVERBS_WR_SEND, rnd_below(&rnd, 1000));
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
	sent(IB_UVERBS_WR_SEND, 300);
	sent(IB_UVERBS_WR_RDMA_READ, 1);
	frdma_ack_commit(&q.rq, sendq_psn(1), SENDQ_NOW);
	EXPECT_EQ(judge_resp(FRDMA_READ_RESP_ONLY, 2, 1), FRDMA_ACK_DATA);
	EXPECT_EQ(frdma_ack_locate(&q.rq, sendq_psn(2)).wr->wqe.wr_id, 1);
}

/* What sends nothing has no PSN that could be meant. */
TEST(frdma_ack_judge__looks_past_local_operations)
{
	sendq_init(&q);
	sent(IB_UVERBS_WR_SEND, 1);
	sent(FRDMA_WR_REG_MR, 0);
	frdma_req_local_done(&q.rq);
	sent(IB_UVERBS_WR_RDMA_READ, 1);
	EXPECT_EQ(judge_ack(1, FRDMA_AETH_NO_CREDITS), FRDMA_ACK_LOST);
	EXPECT_EQ(judge_resp(FRDMA_READ_RESP_ONLY, 1, 1), FRDMA_ACK_DATA);
	EXPECT_EQ(frdma_ack_locate(&q.rq, sendq_psn(1)).wr->wqe.wr_id, 2);
}

/* Another request has to wait, too: the first one was executed. */
TEST(frdma_ack_judge__receiver_not_ready_for_a_later_request)
{
	sendq_init(&q);
	sent(IB_UVERBS_WR_SEND, 1);
	sent(IB_UVERBS_WR_SEND, 1);
	frdma_retry_rnr(&q.rq.retry, 1, SENDQ_NOW);
	EXPECT_EQ(judge_ack(1, 0x21), FRDMA_ACK_RNR_NAK);
}

TEST(frdma_ack_wait__as_long_as_the_syndrome_says)
{
	struct frdma_hdr hdr;
	u32 code;

	for (code = 0; code < 32; code++) {
		sendq_init(&q);
		sent(IB_UVERBS_WR_SEND, 300);
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
	sent(IB_UVERBS_WR_RDMA_READ, 1);
	frdma_req_restart(&q.rq);
	EXPECT_EQ(q.rq.rd_out, 0);
	EXPECT_EQ(judge_resp(FRDMA_READ_RESP_ONLY, 0, 1), FRDMA_ACK_DATA);
	frdma_ack_commit(&q.rq, sendq_psn(0), SENDQ_NOW);
	EXPECT_EQ(q.rq.rd_out, 0);
	EXPECT_EQ(reap_all(), 1);
}

/*
 * Runs: no packet more than would be stored one after the other, and the same
 * state after them.
 */

/* READs of which some was asked for, in pieces or again, and some has come. */
static void random_reads(struct rnd *rnd)
{
	u32 i, nr = 1 + rnd_below(rnd, 4), answered;

	sendq_init(&q);
	q.rq.read_grid = 1 + rnd_below(rnd, 32);
	q.rq.cc.window = 1 + rnd_below(rnd, SENDQ_WINDOW);
	for (i = 0; i < nr; i++)
		sendq_post(&q, rnd_below(rnd, 4) ? IB_UVERBS_WR_RDMA_READ :
						   IB_UVERBS_WR_RDMA_WRITE,
			   1 + rnd_below(rnd, 40 * SENDQ_MTU));
	sendq_send_all(&q);
	if (!rnd_below(rnd, 3)) {
		frdma_req_restart(&q.rq);
		q.rq.cc.window = 1 + rnd_below(rnd, SENDQ_WINDOW);
		sendq_send_all(&q);
	}
	answered = rnd_below(rnd, (q.rq.end_psn - q.rq.una_psn) &
				  FRDMA_PSN_MASK);
	for (i = 0; i < answered; i++)
		frdma_ack_commit(&q.rq, q.rq.una_psn, SENDQ_NOW);
	if (!rnd_below(rnd, 3))
		frdma_req_restart(&q.rq);
}

/* But for what a path or a patience learns from each answer. */
static void expect_same_window(const struct frdma_req *a,
			       const struct frdma_req *b)
{
	EXPECT_EQ(a->una_psn, b->una_psn);
	EXPECT_EQ(a->psn, b->psn);
	EXPECT_EQ(a->end_psn, b->end_psn);
	EXPECT_EQ(a->pkt, b->pkt);
	EXPECT_EQ(a->wr_next, b->wr_next);
	EXPECT_EQ(a->restart_psn, b->restart_psn);
	EXPECT_EQ(a->fine_psn, b->fine_psn);
	EXPECT_EQ(a->recovering, b->recovering);
	EXPECT_EQ(a->rd_out, b->rd_out);
	EXPECT_EQ(a->rd_old, b->rd_old);
	EXPECT_EQ(a->retry.wait, b->retry.wait);
	EXPECT_EQ(a->retry.retry_left, b->retry.retry_left);
}

/* Returns how many packets of the run were left for the next one. */
static u32 expect_run(struct frdma_hdr hdr, u32 nr)
{
	u32 i, taken = frdma_ack_count_run(&q.rq, &hdr, nr);
	struct frdma_hdr next = hdr;
	struct frdma_req one_by_one = q.rq;

	EXPECT(1 <= taken && taken <= nr);
	for (i = 0; i < taken; i++) {
		struct frdma_ack_data data, to;

		EXPECT_EQ(frdma_ack_judge(&one_by_one, &next), FRDMA_ACK_DATA);
		to = frdma_ack_locate(&q.rq, hdr.psn);
		data = frdma_ack_locate(&one_by_one, next.psn);
		EXPECT(data.wr == to.wr);
		EXPECT_EQ(data.off, to.off + i * SENDQ_MTU);
		frdma_ack_commit(&one_by_one, next.psn, SENDQ_NOW);
		frdma_hdr_skip(&next, 1);
	}
	frdma_ack_commit_run(&q.rq, hdr.psn, taken, SENDQ_NOW);
	expect_same_window(&q.rq, &one_by_one);
	return nr - taken;
}

TEST(frdma_ack_count_run__as_one_by_one)
{
	struct rnd rnd = { .state = 1 };
	u32 i, most = 0;

	for (i = 0; i < 100000; i++) {
		struct frdma_hdr hdr = {
			.opcode = FRDMA_READ_RESP_MIDDLE,
			.syndrome = FRDMA_AETH_NO_CREDITS,
			.payload_len = SENDQ_MTU,
		};
		u32 left, nr = 1 + rnd_below(&rnd, 40);

		random_reads(&rnd);
		hdr.psn = q.rq.una_psn;
		if (frdma_ack_judge(&q.rq, &hdr) != FRDMA_ACK_DATA)
			continue;
		left = expect_run(hdr, nr);
		most = max(most, nr - left);

		/* A run goes on behind what ends a fine piece, and only there. */
		hdr.psn = q.rq.una_psn;
		if (left && frdma_ack_judge(&q.rq, &hdr) == FRDMA_ACK_DATA)
			EXPECT(frdma_psn_diff(hdr.psn, q.rq.fine_psn) <= 3);
	}
	EXPECT(most > 25);
}

TEST(frdma_ack_count_run__up_to_the_end_of_a_response)
{
	struct frdma_hdr hdr;

	sendq_init(&q);
	q.rq.read_grid = 8;
	sent(IB_UVERBS_WR_RDMA_READ, 20 * SENDQ_MTU);
	hdr = answer(FRDMA_READ_RESP_MIDDLE, 1, FRDMA_AETH_NO_CREDITS);
	frdma_ack_commit(&q.rq, sendq_psn(0), SENDQ_NOW);
	EXPECT_EQ(frdma_ack_count_run(&q.rq, &hdr, 4), 4);
	EXPECT_EQ(frdma_ack_count_run(&q.rq, &hdr, 9), 6);
	frdma_ack_commit(&q.rq, sendq_psn(16), SENDQ_NOW);
	hdr.psn = sendq_psn(17);
	EXPECT_EQ(frdma_ack_count_run(&q.rq, &hdr, 9), 2);
}

/* What the peer misses is the first of many packets, and it says so. */
static enum frdma_recovery misses_first(void)
{
	return frdma_ack_recover(&q.rq, true);
}

/* A peer that was seen to keep what is ahead of its turn; all is answered. */
static void peer_that_keeps(void)
{
	sendq_init(&q);
	sent(IB_UVERBS_WR_SEND, 10 * SENDQ_MTU);
	misses_first();
	sendq_send(&q);
	frdma_ack_commit(&q.rq, sendq_psn(9), SENDQ_NOW + 100);
	reap_all();
	EXPECT(q.rq.keeps);
}

TEST(frdma_ack_recover__few_packets_until_it_is_known_whether_the_peer_keeps)
{
	sendq_init(&q);
	sent(IB_UVERBS_WR_SEND, 20 * SENDQ_MTU);
	EXPECT_EQ(misses_first(), FRDMA_RECOVERY_BEGUN);
	EXPECT_EQ(sendq_send_all(&q), FRDMA_CC_MIN);
	frdma_ack_implied(&q.rq, sendq_psn(15), SENDQ_NOW + 100);
	EXPECT(q.rq.keeps);
	EXPECT_EQ(q.rq.cc.window, q.rq.cc.threshold);

	/* It may miss that one, too; all behind it, it asks for if need be. */
	EXPECT_EQ(sendq_send(&q).hdr.psn, sendq_psn(15));
	EXPECT_EQ(q.rq.psn, q.rq.end_psn);
}

/* What was late was not lost; and of what was dropped behind it nothing is known. */
TEST(frdma_ack_recover__nothing_is_learnt_before_anything_is_sent_again)
{
	sendq_init(&q);
	sent(IB_UVERBS_WR_SEND, 20 * SENDQ_MTU);
	misses_first();
	frdma_ack_commit(&q.rq, sendq_psn(3), SENDQ_NOW + 100);
	EXPECT(!q.rq.keeps);
	EXPECT_EQ(sendq_send(&q).hdr.psn, sendq_psn(4));
	EXPECT_EQ(sendq_send(&q).hdr.psn, sendq_psn(5));
}

/* Nothing came behind what was lost, so that the peer would have asked. */
TEST(frdma_req_acked__the_tail_was_lost)
{
	peer_that_keeps();
	sent(IB_UVERBS_WR_SEND, 10 * SENDQ_MTU);
	EXPECT(frdma_req_mend(&q.rq));
	EXPECT_EQ(sendq_send(&q).hdr.psn, sendq_psn(10));
	frdma_ack_commit(&q.rq, sendq_psn(10), SENDQ_NOW + 100);
	EXPECT(q.rq.keeps);
	EXPECT_EQ(q.rq.cc.window, FRDMA_CC_MIN);
	EXPECT_EQ(sendq_send(&q).hdr.psn, sendq_psn(11));
	EXPECT_EQ(sendq_send_all(&q), FRDMA_CC_MIN - 1);

	/* And if it was not all of it, the rest is not sent once more. */
	frdma_ack_commit(&q.rq, sendq_psn(17), SENDQ_NOW + 200);
	EXPECT_EQ(sendq_send(&q).hdr.psn, sendq_psn(18));
}

/* What was posted after the probe is on its way. */
TEST(frdma_req_acked__the_tail_was_sent_after_the_probe)
{
	peer_that_keeps();
	q.rq.cc.window = SENDQ_WINDOW;
	q.rq.cc.threshold = SENDQ_WINDOW;
	sent(IB_UVERBS_WR_SEND, 1);
	EXPECT(frdma_req_mend(&q.rq));
	EXPECT_EQ(sendq_send(&q).hdr.psn, sendq_psn(10));
	sent(IB_UVERBS_WR_SEND, 1);
	frdma_ack_commit(&q.rq, sendq_psn(10), SENDQ_NOW + 100);
	EXPECT(q.rq.keeps);
	EXPECT_EQ(q.rq.cc.window, SENDQ_WINDOW);
	EXPECT_EQ(sendq_send_all(&q), 0);
}

/* Its round trip is known, and probes follow it. */
static void peer_that_is_probed(void)
{
	peer_that_keeps();
	q.rq.retry.timeout_ns = U32_MAX;
	q.rq.retry.mends = true;
	q.rq.retry.rtt.best_ns = 1000;
	q.rq.cc.window = SENDQ_WINDOW;
	q.rq.cc.threshold = SENDQ_WINDOW;
}

/* Ten packets, of which the first is sent again by a probe; returns when. */
static u64 probe_the_first(void)
{
	u64 now_ns;

	peer_that_is_probed();
	sent(IB_UVERBS_WR_SEND, 10 * SENDQ_MTU);
	now_ns = q.rq.retry.probe_ns;
	EXPECT_EQ(frdma_retry_expire(&q.rq.retry, now_ns), FRDMA_EXPIRY_PROBE);
	EXPECT(frdma_req_mend(&q.rq));
	EXPECT_EQ(sendq_send_all(&q), 1);
	return now_ns;
}

/* The peer was slow, and answers one after the other now: nothing was lost. */
TEST(frdma_req_acked__the_tail_was_late)
{
	u64 now_ns = probe_the_first();

	frdma_ack_commit(&q.rq, sendq_psn(10), now_ns + 1);
	EXPECT(q.rq.keeps);
	EXPECT_EQ(q.rq.cc.window, SENDQ_WINDOW);
	EXPECT_EQ(sendq_send_all(&q), 0);

	/* An answer to the probe itself says that it was needed. */
	now_ns = probe_the_first();
	frdma_ack_commit(&q.rq, sendq_psn(10), now_ns + 1000);
	EXPECT_EQ(q.rq.cc.window, FRDMA_CC_MIN);
	EXPECT_EQ(sendq_send_all(&q), FRDMA_CC_MIN);
}

/* A long piece of a READ is under way when the window gets small. */
TEST(frdma_ack_commit__long_piece_stays_long_in_a_small_window)
{
	struct frdma_hdr hdr;
	u32 n;

	sendq_init(&q);
	q.rq.read_grid = 32;
	q.rq.rd_max = 2;
	sendq_post(&q, IB_UVERBS_WR_RDMA_READ, 96 * SENDQ_MTU);
	EXPECT_EQ(sendq_send(&q).span, 32);
	q.rq.cc.window = 31;
	EXPECT_EQ(sendq_send(&q).span, 0);
	q.rq.cc.window = 40;
	EXPECT_EQ(sendq_send(&q).span, 32);
	q.rq.cc.window = 31;

	/* All but the last of the first piece: none is answered. */
	hdr = answer(FRDMA_READ_RESP_MIDDLE, 1, FRDMA_AETH_NO_CREDITS);
	for (n = 0; n < 31; n++) {
		hdr.psn = sendq_psn(n);
		frdma_ack_commit(&q.rq, hdr.psn, SENDQ_NOW);
		EXPECT_EQ(q.rq.rd_out, 2);
	}
	frdma_ack_commit(&q.rq, sendq_psn(31), SENDQ_NOW);
	EXPECT_EQ(q.rq.rd_out, 1);

	/* Behind a long piece, another; behind none, those that the window wants. */
	q.rq.cc.window = 31;
	frdma_ack_commit(&q.rq, sendq_psn(40), SENDQ_NOW);
	q.rq.cc.window = 31;
	EXPECT_EQ(sendq_send(&q).span, 32);
	EXPECT_EQ(q.rq.rd_out, 2);
	for (n = 41; n < 63; n++) {
		frdma_ack_commit(&q.rq, sendq_psn(n), SENDQ_NOW);
		EXPECT_EQ(q.rq.rd_out, 2);
	}
}

/* What may be the answer to either time that it was sent says nothing. */
TEST(frdma_ack_commit__round_trip_of_what_was_sent_again_alone)
{
	peer_that_keeps();
	EXPECT_EQ(q.rq.retry.rtt.smooth_ns, 0);
	sent(IB_UVERBS_WR_SEND, 10 * SENDQ_MTU);
	misses_first();
	sendq_send(&q);
	frdma_ack_implied(&q.rq, sendq_psn(15), SENDQ_NOW + 100);
	EXPECT_EQ(q.rq.retry.rtt.smooth_ns, 100);
	frdma_req_restart(&q.rq);
	sendq_send_all(&q);
	frdma_ack_commit(&q.rq, sendq_psn(19), SENDQ_NOW + 1000);
	EXPECT_EQ(q.rq.retry.rtt.smooth_ns, 100);
}

TEST(frdma_ack_recover__peer_that_drops_is_tried_ever_more_seldom)
{
	u32 n, psn = 0, tried = 0, losses = 0;

	sendq_init(&q);
	while (tried < FRDMA_DOUBTS_MAX + 2) {
		sent(IB_UVERBS_WR_SEND, 10 * SENDQ_MTU);
		EXPECT_EQ(misses_first(), FRDMA_RECOVERY_BEGUN);
		losses++;
		tried += q.rq.trying;
		sendq_send_all(&q);
		for (n = 0; n < 10; n++) {
			frdma_ack_commit(&q.rq, sendq_psn(psn++),
					 SENDQ_NOW + 100);
			EXPECT(!q.rq.keeps);
			sendq_send_all(&q);
		}
		reap_all();
		EXPECT(!q.rq.retry.mends);
	}
	/* After 2, 4, 8, 16, 32, and 32 again. */
	EXPECT_EQ(losses, tried + 2 + 4 + 8 + 16 + 32 + 32);
}

TEST(frdma_req_mend__one_packet_and_then_on)
{
	struct frdma_req_pkt pkt;

	peer_that_keeps();
	sent(IB_UVERBS_WR_SEND, 10 * SENDQ_MTU);
	sendq_post(&q, IB_UVERBS_WR_SEND, 1);
	EXPECT_EQ(misses_first(), FRDMA_RECOVERY_BEGUN);
	pkt = sendq_send(&q);
	EXPECT_EQ(pkt.hdr.psn, sendq_psn(10));
	EXPECT(pkt.hdr.ack_req);
	EXPECT_EQ(sendq_send(&q).hdr.psn, sendq_psn(20));
	EXPECT_EQ(misses_first(), FRDMA_RECOVERY_RUNS);

	/* The next that is missing. */
	frdma_ack_implied(&q.rq, sendq_psn(15), SENDQ_NOW);
	EXPECT_EQ(misses_first(), FRDMA_RECOVERY_BEGUN);
	EXPECT_EQ(sendq_send_all(&q), 1);
	EXPECT_EQ(q.rq.psn, q.rq.end_psn);
}

TEST(frdma_req_mend__window_shrinks_if_it_takes_long_and_once)
{
	const u64 late_ns = SENDQ_NOW + 10 * FRDMA_PROBE_MIN_NS;
	u32 window;

	peer_that_keeps();
	q.rq.retry.timeout_ns = U32_MAX;
	sent(IB_UVERBS_WR_SEND, 10 * SENDQ_MTU);
	window = q.rq.cc.threshold;
	misses_first();
	sendq_send(&q);
	frdma_ack_implied(&q.rq, sendq_psn(16), SENDQ_NOW + 100);
	EXPECT_EQ(q.rq.cc.threshold, window);

	q.rq.retry.rtt.best_ns = 100;
	misses_first();
	sendq_send(&q);
	frdma_ack_implied(&q.rq, sendq_psn(18), late_ns);
	window = window * 7 / 10;
	EXPECT_EQ(q.rq.cc.threshold, window);

	misses_first();
	sendq_send(&q);
	frdma_ack_implied(&q.rq, sendq_psn(19), late_ns);
	EXPECT_EQ(q.rq.cc.threshold, window);
}

/* Or else it would be just sent again, half a circle of PSNs later. */
TEST(frdma_req_mend__is_forgotten)
{
	u32 n;

	peer_that_keeps();
	sent(IB_UVERBS_WR_SEND, 10 * SENDQ_MTU);
	misses_first();
	sendq_send(&q);
	frdma_ack_implied(&q.rq, sendq_psn(15), SENDQ_NOW);
	for (n = 15; n < 20; n++) {
		frdma_ack_commit(&q.rq, sendq_psn(n), SENDQ_NOW);
		EXPECT_EQ(q.rq.mended_psn, q.rq.una_psn);
		EXPECT(!frdma_req_was_mended(&q.rq));
	}
}

/* Two that were lost may be neighbours. */
TEST(frdma_req_mend__the_next_one_is_missing_too)
{
	peer_that_keeps();
	sent(IB_UVERBS_WR_SEND, 10 * SENDQ_MTU);
	misses_first();
	sendq_send(&q);
	frdma_ack_commit(&q.rq, sendq_psn(10), SENDQ_NOW);
	EXPECT(q.rq.keeps);
	EXPECT_EQ(misses_first(), FRDMA_RECOVERY_RUNS);
	EXPECT_EQ(sendq_send(&q).hdr.psn, sendq_psn(11));
	EXPECT_EQ(sendq_send_all(&q), 0);

	/* That was all; so it would be with others, later. */
	frdma_ack_implied(&q.rq, sendq_psn(15), SENDQ_NOW);
	EXPECT_EQ(q.rq.in_a_row, 0);
}

/* Which cannot be sent alone, with a READ behind it. */
TEST(frdma_req_mend__the_next_one_is_missing_and_a_read)
{
	peer_that_keeps();
	sent(IB_UVERBS_WR_SEND, 10 * SENDQ_MTU);
	misses_first();
	sendq_send(&q);
	sent(IB_UVERBS_WR_RDMA_READ, 1);
	frdma_ack_commit(&q.rq, sendq_psn(10), SENDQ_NOW);
	EXPECT_EQ(sendq_send_all(&q), 10);
}

TEST(frdma_req_mend__let_down)
{
	u32 n;

	peer_that_keeps();
	sent(IB_UVERBS_WR_SEND, 10 * SENDQ_MTU);
	misses_first();
	for (n = 0; n < FRDMA_IN_A_ROW_MAX; n++) {
		EXPECT_EQ(sendq_send_all(&q), 1);
		frdma_ack_commit(&q.rq, sendq_psn(10 + n), SENDQ_NOW);
		EXPECT(q.rq.keeps);
	}
	EXPECT_EQ(sendq_send_all(&q), 1);
	frdma_ack_commit(&q.rq, sendq_psn(10 + n), SENDQ_NOW);
	EXPECT(!q.rq.keeps);
	EXPECT_EQ(misses_first(), FRDMA_RECOVERY_RUNS);
	EXPECT_EQ(sendq_send_all(&q), 9 - n);
}

/* What is late may be so more often; but what seems late may be lost. */
TEST(frdma_req_mend__all_of_them_are_late)
{
	u32 n;

	peer_that_keeps();
	q.rq.retry.rtt.best_ns = 1000;
	sent(IB_UVERBS_WR_SEND, 20 * SENDQ_MTU);
	misses_first();
	for (n = 0; n < FRDMA_LATE_IN_A_ROW_MAX + 1; n++) {
		EXPECT_EQ(sendq_send(&q).hdr.psn, sendq_psn(10 + n));
		EXPECT_EQ(sendq_send_all(&q), 0);
		EXPECT(q.rq.keeps);
		frdma_ack_commit(&q.rq, sendq_psn(10 + n), SENDQ_NOW + 1);
	}
	EXPECT(!q.rq.keeps);
	EXPECT_EQ(sendq_send_all(&q), 20 - n);
}

/* One message at a time, of which each twentieth is lost, is no congestion. */
TEST(frdma_ack_commit__tails_that_are_lost_far_apart)
{
	u32 i, psn = 10;
	u64 now_ns;

	peer_that_is_probed();
	for (i = 0; i < 400; i++) {
		now_ns = SENDQ_NOW;
		sent(IB_UVERBS_WR_SEND, 1);
		if (i % 20 == 19) {
			now_ns = q.rq.retry.probe_ns;
			EXPECT_EQ(frdma_retry_expire(&q.rq.retry, now_ns),
				  FRDMA_EXPIRY_PROBE);
			EXPECT(frdma_req_mend(&q.rq));
			EXPECT_EQ(sendq_send_all(&q), 1);
		}
		frdma_ack_commit(&q.rq, sendq_psn(psn++), now_ns + 1000);
		EXPECT_EQ(reap_all(), 1);
	}
	EXPECT_EQ(q.rq.cc.window, SENDQ_WINDOW);
}

/* A probe was planned, or sent, before the peer could say what it misses. */
TEST(frdma_ack_recover__the_peer_says_later_what_it_misses)
{
	peer_that_keeps();
	sent(IB_UVERBS_WR_SEND, 10 * SENDQ_MTU);
	EXPECT(frdma_req_mend(&q.rq));
	EXPECT_EQ(misses_first(), FRDMA_RECOVERY_RUNS);
	EXPECT(q.rq.missed);
	sendq_send(&q);
	frdma_ack_commit(&q.rq, sendq_psn(10), SENDQ_NOW);
	EXPECT_EQ(sendq_send_all(&q), 1);

	peer_that_keeps();
	sent(IB_UVERBS_WR_SEND, 10 * SENDQ_MTU);
	EXPECT(frdma_req_mend(&q.rq));
	sendq_send(&q);
	EXPECT_EQ(frdma_ack_recover(&q.rq, false), FRDMA_RECOVERY_RUNS);
	EXPECT(!q.rq.missed);
	EXPECT_EQ(misses_first(), FRDMA_RECOVERY_RUNS);
	EXPECT(q.rq.missed);
	frdma_ack_commit(&q.rq, sendq_psn(10), SENDQ_NOW);
	EXPECT_EQ(sendq_send_all(&q), 1);
}

/* Those behind what is missing have left the network. */
TEST(frdma_req_judge__another_window_while_one_is_missing)
{
	peer_that_keeps();
	q.rq.cc.window = 20;
	q.rq.cc.threshold = 20;
	sendq_post(&q, IB_UVERBS_WR_SEND, 100 * SENDQ_MTU);
	EXPECT_EQ(sendq_send_all(&q), 20);
	misses_first();
	EXPECT_EQ(sendq_send_all(&q), 1 + 20);
	EXPECT_EQ(frdma_req_outstanding(&q.rq), 40);

	/* One at most before the next one, which is sent again at once. */
	frdma_ack_implied(&q.rq, sendq_psn(15), SENDQ_NOW);
	EXPECT_EQ(frdma_req_judge(&q.rq), FRDMA_REQ_WINDOW);
	misses_first();
	EXPECT_EQ(sendq_send(&q).hdr.psn, sendq_psn(15));
	EXPECT_EQ(sendq_send_all(&q), 5);
}

/* A probe does not say where they are: they may wait in a queue. */
TEST(frdma_req_judge__no_other_window_after_a_probe)
{
	peer_that_keeps();
	q.rq.cc.window = 20;
	q.rq.cc.threshold = 20;
	sendq_post(&q, IB_UVERBS_WR_SEND, 100 * SENDQ_MTU);
	EXPECT_EQ(sendq_send_all(&q), 20);
	EXPECT(frdma_req_mend(&q.rq));
	EXPECT_EQ(sendq_send_all(&q), 1);
	EXPECT_EQ(frdma_req_outstanding(&q.rq), 20);

	/* But that it misses the first does, when the peer says so. */
	EXPECT_EQ(misses_first(), FRDMA_RECOVERY_RUNS);
	EXPECT_EQ(sendq_send_all(&q), 20);
	frdma_ack_commit(&q.rq, sendq_psn(10), SENDQ_NOW);
	EXPECT_EQ(sendq_send(&q).hdr.psn, sendq_psn(11));
	EXPECT_EQ(frdma_req_outstanding(&q.rq), 39);
}

/* By the same words as it says so, it is seen to keep. */
TEST(frdma_req_judge__another_window_at_the_first_of_all)
{
	sendq_init(&q);
	sendq_post(&q, IB_UVERBS_WR_SEND, 200 * SENDQ_MTU);
	EXPECT_EQ(sendq_send_all(&q), SENDQ_WINDOW);
	misses_first();
	EXPECT_EQ(sendq_send_all(&q), FRDMA_CC_MIN);
	frdma_ack_implied(&q.rq, sendq_psn(40), SENDQ_NOW);
	EXPECT_EQ(misses_first(), FRDMA_RECOVERY_RUNS);
	EXPECT_EQ(sendq_send(&q).hdr.psn, sendq_psn(40));
	sendq_send_all(&q);
	EXPECT_EQ(frdma_req_outstanding(&q.rq), 2 * q.rq.cc.window);
}

TEST(frdma_req_judge__not_more_than_the_peer_keeps)
{
	peer_that_keeps();
	q.rq.cc.max = 1024;
	q.rq.cc.window = 400;
	sendq_post(&q, IB_UVERBS_WR_SEND, 2000 * SENDQ_MTU);
	EXPECT_EQ(sendq_send_all(&q), 400);
	misses_first();
	EXPECT_EQ(sendq_send_all(&q), FRDMA_KEPT_SPAN - 400);
	EXPECT_EQ(frdma_req_outstanding(&q.rq), FRDMA_KEPT_SPAN - 1U);

	/* Nor more bytes. */
	peer_that_keeps();
	q.rq.mtu = 4096;
	q.rq.cc.max = 1024;
	q.rq.cc.window = 200;
	sendq_post(&q, IB_UVERBS_WR_SEND, 2000 * 4096);
	EXPECT_EQ(sendq_send_all(&q), 200);
	misses_first();
	EXPECT_EQ(sendq_send_all(&q), 1 + FRDMA_BEYOND_BYTES_MAX / 4096);
}

/* What it is answered with would not be kept. */
TEST(frdma_req_judge__no_read_beyond_the_window)
{
	peer_that_keeps();
	q.rq.cc.window = 20;
	q.rq.cc.threshold = 20;
	sendq_post(&q, IB_UVERBS_WR_SEND, 20 * SENDQ_MTU);
	sendq_post(&q, IB_UVERBS_WR_RDMA_READ, 1);
	EXPECT_EQ(sendq_send_all(&q), 20);
	misses_first();
	EXPECT_EQ(sendq_send_all(&q), 1);
	EXPECT_EQ(frdma_req_judge(&q.rq), FRDMA_REQ_WINDOW);
}

/* It is asked for more often, too. */
TEST(frdma_req_plan__asks_more_often_where_packets_are_lost)
{
	u32 n;

	peer_that_keeps();
	q.rq.cc.window = 32;
	q.rq.cc.threshold = 32;
	sendq_post(&q, IB_UVERBS_WR_SEND, 100 * SENDQ_MTU);
	for (n = 1; n <= 32; n++)
		EXPECT_EQ(sendq_send(&q).hdr.ack_req, n % 4 == 0);
}

TEST(frdma_req_mend__was_the_only_one)
{
	peer_that_keeps();
	sent(IB_UVERBS_WR_SEND, 1);
	misses_first();
	sendq_send(&q);
	frdma_ack_commit(&q.rq, sendq_psn(10), SENDQ_NOW);
	EXPECT(q.rq.keeps);
	EXPECT_EQ(sendq_send_all(&q), 0);
}

TEST(frdma_req_mend__arrived_before_it_was_sent_again)
{
	peer_that_keeps();
	sent(IB_UVERBS_WR_SEND, 10 * SENDQ_MTU);
	misses_first();
	frdma_ack_commit(&q.rq, sendq_psn(13), SENDQ_NOW);
	EXPECT(!q.rq.mending);
	EXPECT(q.rq.keeps);
	EXPECT_EQ(sendq_send_all(&q), 0);
}

/* All from the oldest on is being sent again when another one is missing. */
TEST(frdma_req_mend__in_the_middle_of_a_restart)
{
	peer_that_keeps();
	sent(IB_UVERBS_WR_SEND, 10 * SENDQ_MTU);
	frdma_req_restart(&q.rq);
	sendq_send(&q);
	sendq_send(&q);
	frdma_ack_commit(&q.rq, sendq_psn(10), SENDQ_NOW);
	misses_first();
	EXPECT_EQ(sendq_send(&q).hdr.psn, sendq_psn(11));
	EXPECT_EQ(sendq_send(&q).hdr.psn, sendq_psn(12));

	/* And beyond all of that, something has arrived. */
	frdma_ack_commit(&q.rq, sendq_psn(12), SENDQ_NOW);
	misses_first();
	frdma_ack_commit(&q.rq, sendq_psn(17), SENDQ_NOW);
	EXPECT_EQ(sendq_send(&q).hdr.psn, sendq_psn(18));
	EXPECT_EQ(sendq_send_all(&q), 0);
}

/* What the READ is answered with may have been lost as well. */
TEST(frdma_req_acked__asks_again_for_what_is_answered)
{
	sendq_init(&q);
	sent(IB_UVERBS_WR_SEND, 10 * SENDQ_MTU);
	sent(IB_UVERBS_WR_RDMA_READ, 1);
	misses_first();
	sendq_send(&q);
	frdma_ack_implied(&q.rq, sendq_psn(8), SENDQ_NOW);
	EXPECT(q.rq.keeps);
	EXPECT_EQ(sendq_send(&q).hdr.psn, sendq_psn(8));
	EXPECT_EQ(sendq_send_all(&q), 2);
}

/* A READ is answered packet by packet, whoever does it. */
static void read_behind_the_first(void)
{
	sent(IB_UVERBS_WR_SEND, 1);
	sent(IB_UVERBS_WR_RDMA_READ, 8 * SENDQ_MTU);
	sent(IB_UVERBS_WR_SEND, 10 * SENDQ_MTU);
	misses_first();
	EXPECT(q.rq.trying);
	sendq_send_all(&q);
}

TEST(frdma_req_acked__a_read_does_not_tell_whether_the_peer_keeps)
{
	/* One that does. */
	peer_that_keeps();
	read_behind_the_first();
	frdma_ack_commit(&q.rq, sendq_psn(11), SENDQ_NOW);
	EXPECT(q.rq.keeps);
	EXPECT(!q.rq.trying);
	frdma_ack_commit(&q.rq, sendq_psn(18), SENDQ_NOW);
	reap_all();
	frdma_ack_commit(&q.rq, sendq_psn(19), SENDQ_NOW);
	EXPECT(q.rq.keeps);

	/* One of which nothing is known: it is tried again the next time. */
	sendq_init(&q);
	read_behind_the_first();
	frdma_ack_commit(&q.rq, sendq_psn(1), SENDQ_NOW);
	EXPECT(!q.rq.keeps);
	EXPECT(!q.rq.trying);
	EXPECT_EQ(q.rq.doubts, 0);
	EXPECT_EQ(q.rq.spare, 0);
}

/* But what is answered before it does. */
TEST(frdma_req_acked__drops_what_is_before_a_read)
{
	sendq_init(&q);
	sent(IB_UVERBS_WR_SEND, 10 * SENDQ_MTU);
	sent(IB_UVERBS_WR_RDMA_READ, 1);
	misses_first();
	EXPECT_EQ(sendq_send_all(&q), FRDMA_CC_MIN);
	frdma_ack_commit(&q.rq, sendq_psn(0), SENDQ_NOW);
	EXPECT(!q.rq.trying);
	EXPECT_EQ(q.rq.doubts, 1);
}

TEST(frdma_req_mend__not_with_reads_nor_what_was_not_sent)
{
	peer_that_keeps();
	EXPECT(!frdma_req_mend(&q.rq));
	sent(IB_UVERBS_WR_RDMA_READ, 1);
	EXPECT(!frdma_req_mend(&q.rq));
	EXPECT_EQ(frdma_ack_recover(&q.rq, false), FRDMA_RECOVERY_BEGUN);
	EXPECT(!q.rq.trying);
	EXPECT_EQ(sendq_send_all(&q), 1);
}

#define FAR_NS	(2 * FRDMA_PACE_RTT_MIN_NS)

/* A peer that keeps, far away, which misses a packet; a window is 40. */
static void peer_far_away(void)
{
	peer_that_keeps();
	q.rq.retry.timeout_ns = U32_MAX;
	q.rq.cc.window = 40;
	q.rq.cc.threshold = 40;
	sendq_post(&q, IB_UVERBS_WR_SEND, 200 * SENDQ_MTU);
	EXPECT_EQ(sendq_send_all(&q), 40);
	misses_first();
	EXPECT_EQ(sendq_send(&q).hdr.psn, sendq_psn(10));
	frdma_ack_commit(&q.rq, sendq_psn(49), SENDQ_NOW + FAR_NS);
	EXPECT_EQ(q.rq.retry.rtt.smooth_ns, FAR_NS);
}

TEST(frdma_req_credit__a_window_is_spread_over_a_round_trip)
{
	const u64 now_ns = SENDQ_NOW + FAR_NS;
	u32 n;

	peer_far_away();
	EXPECT(frdma_req_is_paced(&q.rq));
	EXPECT_EQ(frdma_req_credit(&q.rq, now_ns), FRDMA_PACE_BURST_MIN);
	for (n = 0; n < FRDMA_PACE_BURST_MIN; n++)
		sendq_send(&q);
	frdma_req_spend(&q.rq, n, now_ns);
	EXPECT_EQ(frdma_req_credit(&q.rq, now_ns), 0);
	EXPECT_EQ(frdma_req_next_ns(&q.rq), now_ns + FAR_NS / q.rq.cc.window * FRDMA_PACE_BURST_MIN / 2);

	/* But not what the peer misses. */
	misses_first();
	EXPECT_EQ(frdma_req_credit(&q.rq, now_ns), 1);
	EXPECT_EQ(sendq_send(&q).hdr.psn, sendq_psn(50));
	EXPECT_EQ(frdma_req_credit(&q.rq, now_ns), 0);
}

TEST(frdma_req_next_ns__of_what_may_be_sent)
{
	peer_far_away();
	sendq_send_all(&q);
	EXPECT_EQ(frdma_req_judge(&q.rq), FRDMA_REQ_WINDOW);
	EXPECT_EQ(frdma_req_next_ns(&q.rq), U64_MAX);
}

TEST(frdma_req_is_paced__only_where_packets_were_lost_of_late)
{
	/* Nothing was lost. */
	sendq_init(&q);
	sent(IB_UVERBS_WR_SEND, 1);
	frdma_ack_commit(&q.rq, sendq_psn(0), SENDQ_NOW + FAR_NS);
	EXPECT_EQ(q.rq.retry.rtt.smooth_ns, FAR_NS);
	EXPECT(!frdma_req_is_paced(&q.rq));
	EXPECT_EQ(frdma_req_credit(&q.rq, 0), U32_MAX);
	EXPECT_EQ(frdma_req_next_ns(&q.rq), U64_MAX);
	frdma_req_spend(&q.rq, 100, SENDQ_NOW);
	EXPECT_EQ(q.rq.pace.due_ns, 0);

	/* The peer is near. */
	peer_that_keeps();
	sent(IB_UVERBS_WR_SEND, 10 * SENDQ_MTU);
	misses_first();
	sendq_send(&q);
	frdma_ack_commit(&q.rq, sendq_psn(19), SENDQ_NOW + 100);
	EXPECT(!frdma_req_is_paced(&q.rq));

	/* It was long ago. */
	peer_far_away();
	q.rq.paced_psn = frdma_psn_add(q.rq.una_psn, 10);
	sent(IB_UVERBS_WR_SEND, 1);
	frdma_ack_commit(&q.rq, sendq_psn(50 + 8), SENDQ_NOW);
	EXPECT(frdma_req_is_paced(&q.rq));
	frdma_ack_commit(&q.rq, sendq_psn(50 + 20), SENDQ_NOW);
	EXPECT(!frdma_req_is_paced(&q.rq));
	EXPECT_EQ(q.rq.paced_psn, q.rq.una_psn);
}

TEST(frdma_req_watch__times_what_asks_for_an_answer)
{
	sendq_init(&q);
	sendq_post(&q, IB_UVERBS_WR_SEND, 1);
	sendq_post(&q, IB_UVERBS_WR_SEND, 1);
	sendq_send(&q);
	EXPECT_EQ(q.rq.retry.rtt.timed_ns, 0);
	sendq_send(&q);
	EXPECT_EQ(q.rq.retry.rtt.timed_ns, SENDQ_NOW);
	EXPECT_EQ(q.rq.retry.rtt.timed_psn, sendq_psn(2));

	/* And a READ, until its answer begins; but not if it is sent again. */
	sendq_init(&q);
	sent(IB_UVERBS_WR_RDMA_READ, 4 * SENDQ_MTU);
	EXPECT_EQ(q.rq.retry.rtt.timed_ns, SENDQ_NOW);
	EXPECT_EQ(q.rq.retry.rtt.timed_psn, sendq_psn(1));
	frdma_req_restart(&q.rq);
	sendq_send_all(&q);
	EXPECT_EQ(q.rq.retry.rtt.timed_ns, 0);
}

/* As where it is passed to a peer on the same device. */
TEST(frdma_req_watch__what_is_answered_already_is_not_timed)
{
	struct frdma_req_pkt pkt;

	sendq_init(&q);
	sendq_post(&q, IB_UVERBS_WR_SEND, 1);
	frdma_req_plan(&q.rq, &pkt);
	frdma_req_sent(&q.rq, &pkt);
	frdma_ack_commit(&q.rq, sendq_psn(0), SENDQ_NOW);
	frdma_req_watch(&q.rq, SENDQ_NOW);
	EXPECT_EQ(q.rq.retry.rtt.timed_ns, 0);
}

/* The host had no room for any: that ends like a peer that never answers. */
TEST(frdma_req_watch__waits_where_nothing_could_leave)
{
	sendq_init(&q);
	frdma_req_watch(&q.rq, SENDQ_NOW);
	EXPECT_EQ(q.rq.retry.wait, FRDMA_WAIT_NONE);
	frdma_retry_local(&q.rq.retry, SENDQ_NOW);
	frdma_req_watch(&q.rq, SENDQ_NOW);
	EXPECT_EQ(q.rq.retry.wait, FRDMA_WAIT_ACK);
}

TEST(frdma_req_watch__what_leaves_at_last_has_all_of_its_time)
{
	const u64 timeout_ns = 2 * FRDMA_LOCAL_BACKOFF_NS;
	const u64 now_ns = SENDQ_NOW + FRDMA_LOCAL_BACKOFF_NS;
	struct frdma_req_pkt pkt;

	sendq_init(&q);
	q.rq.retry.timeout_ns = timeout_ns;
	sendq_post(&q, IB_UVERBS_WR_SEND, 1);
	frdma_retry_local(&q.rq.retry, SENDQ_NOW);
	frdma_req_watch(&q.rq, SENDQ_NOW);
	EXPECT_EQ(q.rq.retry.deadline_ns, SENDQ_NOW + timeout_ns);

	EXPECT_EQ(frdma_retry_expire(&q.rq.retry, now_ns), FRDMA_EXPIRY_RESUME);
	frdma_req_resume(&q.rq);
	frdma_req_plan(&q.rq, &pkt);
	frdma_req_sent(&q.rq, &pkt);
	frdma_retry_taken(&q.rq.retry);
	frdma_req_watch(&q.rq, now_ns);
	EXPECT_EQ(q.rq.retry.deadline_ns, now_ns + timeout_ns);
}

TEST(frdma_req_new_way__nothing_is_known_of_it)
{
	peer_far_away();
	frdma_req_new_way(&q.rq);
	EXPECT_EQ(q.rq.retry.rtt.smooth_ns, 0);
	EXPECT_EQ(q.rq.cc.window, FRDMA_CC_INITIAL);
	EXPECT(!frdma_req_is_paced(&q.rq));
}
