// SPDX-License-Identifier: GPL-2.0
/*
 * An unreliable connection over a wire that loses packets: each message of
 * which nothing was lost arrives, once, whole and in its turn, and no other.
 */
#include <string.h>

#include "req.h"
#include "resp.h"
#include "rnd.h"
#include "tap.h"

#define MESSAGES	64
#define SLOTS		8
#define MTU		64
#define MSG_MAX		(5 * MTU)
#define SEEDS		200
#define VA		0x1000ULL

/**
 * struct uc_msg - a message
 * @opcode: IB_UVERBS_WR_*
 * @len: bytes
 * @lost: one of its packets was, at least
 * @arrived: how often it was received
 */
struct uc_msg {
	u8 opcode;
	u32 len;
	bool lost;
	u32 arrived;
};

static struct uc_msg msgs[MESSAGES];
static struct frdma_swr slots[SLOTS];
static struct frdma_req req;
static struct frdma_resp resp;
static u8 memory[MSG_MAX], recv_buf[MSG_MAX];
static u32 next_to_arrive;
static struct rnd dice;

static u8 byte_of(u32 msg, u32 at)
{
	return msg * 31 + at * 7 + (at >> 4);
}

static void check_message(const struct frdma_hdr *hdr, u32 len)
{
	const u8 *at = frdma_op(hdr->opcode)->kind == FRDMA_KIND_SEND ?
		       recv_buf : memory;
	u32 msg = (__force u32)hdr->imm_data, i;

	EXPECT(msg >= next_to_arrive && msg < MESSAGES);
	if (msg >= MESSAGES)
		return;
	next_to_arrive = msg + 1;
	msgs[msg].arrived++;
	EXPECT_EQ(len, msgs[msg].len);
	for (i = 0; i < len; i++)
		EXPECT_EQ(at[i], byte_of(msg, i));
}

static void execute(const struct frdma_hdr *hdr, const u8 *payload)
{
	const struct frdma_op *op = frdma_op(hdr->opcode);
	u32 len = resp.got + hdr->payload_len;

	EXPECT(len <= MSG_MAX);
	if (op->kind == FRDMA_KIND_SEND)
		memcpy(recv_buf + resp.got, payload, hdr->payload_len);
	else
		memcpy(memory + (op->starts ? 0 : resp.va - VA), payload,
		       hdr->payload_len);
	if (op->ends)
		check_message(hdr, len);
}

static void take(const struct frdma_hdr *hdr, const u8 *payload)
{
	struct frdma_resp_recv recv = { .ready = true, .len = MSG_MAX };

	if (frdma_resp_breaks(&resp, hdr))
		frdma_resp_abandon(&resp);
	if (frdma_resp_judge_uc(&resp, hdr, recv) != FRDMA_RESP_ACCEPT) {
		frdma_resp_abandon(&resp);
		return;
	}
	execute(hdr, payload);
	frdma_resp_commit_uc(&resp, hdr);
}

static void send_packet(u32 drop)
{
	u32 msg = frdma_req_wr(&req, req.wr_next)->wqe.wr_id, i;
	struct frdma_req_pkt pkt;
	u8 payload[MTU];

	frdma_req_plan(&req, &pkt);
	EXPECT(!pkt.hdr.ack_req);
	for (i = 0; i < pkt.len; i++)
		payload[i] = byte_of(msg, pkt.off + i);
	pkt.hdr.payload_len = pkt.len;
	if (rnd_below(&dice, 1000) < drop)
		msgs[msg].lost = true;
	else
		take(&pkt.hdr, payload);
	frdma_req_sent(&req, &pkt);
	EXPECT(!frdma_req_in_flight(&req));
}

/* Only what ends with immediate data says which one it is. */
static void post(u32 msg)
{
	u8 opcode = rnd_below(&dice, 2) ? IB_UVERBS_WR_SEND_WITH_IMM :
					  IB_UVERBS_WR_RDMA_WRITE_WITH_IMM;
	u32 len = rnd_below(&dice, MSG_MAX + 1);

	msgs[msg] = (struct uc_msg) { .opcode = opcode, .len = len };
	*frdma_req_wr(&req, req.wr_prod) = (struct frdma_swr) {
		.wqe = {
			.wr_id	= msg,
			.opcode	= opcode,
			.ex	= msg,
			.remote_addr = VA,
		},
	};
	frdma_req_fetched(&req, len);
}

static void run(u64 seed, u32 drop)
{
	u32 psn, posted = 0, completed = 0, i;
	const struct frdma_swr *done;

	dice.state = seed * 0x9e3779b97f4a7c15ULL + 1;
	psn = frdma_psn_add(0, -(s32)rnd_below(&dice, 100));
	req = (struct frdma_req) {
		.slots = slots, .stride = sizeof(slots[0]), .mask = SLOTS - 1,
		.transport = FRDMA_UC, .mtu = MTU, .cc.window = 1,
	};
	resp = (struct frdma_resp) { .mtu = MTU, .access = FRDMA_ACC_REMOTE };
	frdma_req_init(&req, psn);
	frdma_resp_init(&resp, psn);
	next_to_arrive = 0;

	while (completed < MESSAGES) {
		if (posted < MESSAGES && posted - completed < SLOTS &&
		    rnd_below(&dice, 2))
			post(posted++);
		if (frdma_req_judge(&req) == FRDMA_REQ_SEND)
			send_packet(drop);
		while ((done = frdma_req_reap(&req))) {
			EXPECT_EQ(done->wqe.wr_id, completed);
			EXPECT_EQ(done->status, FRDMA_WC_SUCCESS);
			completed++;
		}
	}
	for (i = 0; i < MESSAGES; i++)
		EXPECT_EQ(msgs[i].arrived, !msgs[i].lost);
}

/*
 * Where eight packets in a row are lost, and there are eight numbers, nobody
 * can notice.
 */
static void run_all(u32 drop)
{
	u64 seed;

	if (drop && FRDMA_PSN_BITS == 3) {
		tap_skip("too few numbers");
		return;
	}
	for (seed = 1; seed <= SEEDS; seed++)
		run(seed, drop);
}

TEST(uc__nothing_is_lost)
{
	run_all(0);
}

TEST(uc__loss)
{
	run_all(100);
}

TEST(uc__heavy_loss)
{
	run_all(400);
}
