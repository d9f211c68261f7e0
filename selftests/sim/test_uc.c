// SPDX-License-Identifier: GPL-2.0
/*
 * An unreliable connection over a bad wire: what arrives is whole, and each
 * message of which nothing was lost arrives. Where the wire only loses
 * packets, it arrives once and in its turn, and no other does.
 */
#include <stdlib.h>
#include <string.h>

#include "env_u64.h"
#include "req.h"
#include "resp.h"
#include "rnd.h"
#include "tap.h"
#include "wire.h"

#define MESSAGES	64
#define SLOTS		8
#define MTU		64
#define MSG_MAX		(5 * MTU)
#define DEFAULT_RUNS	200
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
static struct wire wire;
static u64 now_ns;

static u8 byte_of(u32 msg, u32 at)
{
	return msg * 31 + at * 7 + (at >> 4);
}

/* Nothing overtakes, and nothing comes twice. */
static bool is_orderly(void)
{
	return !wire.mood.late && !wire.mood.copy;
}

static void check_message(const struct frdma_hdr *hdr, u32 len)
{
	const u8 *at = frdma_op(hdr->opcode)->kind == FRDMA_KIND_SEND ?
		       recv_buf : memory;
	u32 msg = (__force u32)hdr->imm_data, i;

	EXPECT(msg < MESSAGES);
	if (msg >= MESSAGES)
		return;
	if (is_orderly())
		EXPECT(msg >= next_to_arrive);
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

static void deliver_until(u64 ns)
{
	struct frdma_hdr hdr;
	const u8 *payload;

	while (wire.first && wire.first->due_ns <= ns) {
		struct wire_pkt *pkt = wire_take(&wire);

		if (wire_unpack(pkt, &hdr, &payload))
			take(&hdr, payload);
		free(pkt);
	}
}

static void send_packet(void)
{
	u32 msg = frdma_req_wr(&req, req.wr_next)->wqe.wr_id, i;
	struct wire_pkt sent = { };
	struct frdma_req_pkt pkt;
	u8 payload[MTU];

	frdma_req_plan(&req, &pkt);
	EXPECT(!pkt.hdr.ack_req);
	for (i = 0; i < pkt.len; i++)
		payload[i] = byte_of(msg, pkt.off + i);
	pkt.hdr.payload_len = pkt.len;
	sent.len = wire_pack(sent.bytes, &pkt.hdr, payload);
	if (!wire_send(&wire, &sent, now_ns, false))
		msgs[msg].lost = true;
	frdma_req_sent(&req, &pkt);
	EXPECT(!frdma_req_in_flight(&req));
	EXPECT_EQ(frdma_retry_next_ns(&req.retry), U64_MAX);
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

static void check_arrived(const struct uc_msg *msg)
{
	if (is_orderly())
		EXPECT_EQ(msg->arrived, !msg->lost);
	else
		EXPECT(msg->arrived <= (wire.mood.copy ? 2 : 1));
}

static void run(u64 seed, struct wire_mood mood)
{
	u32 psn, posted = 0, completed = 0, i;
	const struct frdma_swr *done;

	dice.state = seed * 0x9e3779b97f4a7c15ULL + 1;
	wire = (struct wire) { .mood = mood, .rnd = &dice };
	now_ns = 0;
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
		now_ns += rnd_below(&dice, 2000);
		if (posted < MESSAGES && posted - completed < SLOTS &&
		    rnd_below(&dice, 2))
			post(posted++);
		if (frdma_req_judge(&req) == FRDMA_REQ_SEND)
			send_packet();
		while ((done = frdma_req_reap(&req))) {
			EXPECT_EQ(done->wqe.wr_id, completed);
			EXPECT_EQ(done->status, FRDMA_WC_SUCCESS);
			completed++;
		}
		deliver_until(now_ns);
	}
	deliver_until(U64_MAX);
	for (i = 0; i < MESSAGES; i++)
		check_arrived(&msgs[i]);
}

/*
 * Where eight packets in a row are lost, and there are eight numbers, nobody
 * can notice; nor that one comes eight packets late.
 */
static void run_all(struct wire_mood mood)
{
	bool bad = mood.drop || mood.copy || mood.spoil || mood.late;
	u64 only = env_u64("FRDMA_SIM_SEED", 0);
	u64 seed = only ? only : env_u64("FRDMA_SIM_FIRST", 1);
	u64 end = seed + (only ? 1 : env_u64("FRDMA_SIM_RUNS", DEFAULT_RUNS));

	if (bad && FRDMA_PSN_BITS == 3) {
		tap_skip("too few numbers");
		return;
	}
	for (; seed < end; seed++) {
		run(seed, mood);
		if (tap_failed()) {
			tap_fail(__FILE__, __LINE__, "seed %llu", seed);
			return;
		}
	}
}

TEST(uc__nothing_is_lost)
{
	run_all((struct wire_mood) { });
}

TEST(uc__loss)
{
	run_all((struct wire_mood) { .drop = 100 });
}

TEST(uc__heavy_loss)
{
	run_all((struct wire_mood) { .drop = 400 });
}

TEST(uc__damage)
{
	run_all((struct wire_mood) { .spoil = 200 });
}

TEST(uc__copies)
{
	run_all((struct wire_mood) { .copy = 300 });
}

TEST(uc__reordering)
{
	run_all((struct wire_mood) { .late = 200, .late_ns = 30000 });
}

TEST(uc__everything_at_once)
{
	run_all((struct wire_mood) {
		.drop = 100, .copy = 100, .spoil = 50,
		.late = 200, .late_ns = 30000,
	});
}
