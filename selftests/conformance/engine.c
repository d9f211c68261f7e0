// SPDX-License-Identifier: GPL-2.0
/* The engine as a tested end, in virtual time. */
#include <arpa/inet.h>
#include <stdlib.h>

#include "engine.h"
#include "icrc.h"

#define FIRST_QPN	0x11
#define A_SPORT		0xc001

struct play *engine_play;
u64 engine_now_ns;

#define FIRST_SRQN	0x21
#define OWN_XRCD	1	/* of every target */

static struct engine_qp *qps[PLAY_QPS];
static size_t nr_qps;

/* Has anything been told? */
static u64 told(void)
{
	return engine_play->nr_sent + engine_play->nr_dones +
	       engine_play->nr_events;
}

static uint64_t now(void)
{
	return engine_now_ns;
}

void engine_step(struct engine_qp *qp)
{
	engine_requester_step(qp);
	engine_responder_step(qp);
}

void engine_error(struct engine_qp *qp, enum state state)
{
	qp->state = state;
}

static struct engine_qp *next_alarm(u64 *ns)
{
	struct engine_qp *next = NULL;
	size_t i;

	*ns = U64_MAX;
	for (i = 0; i < nr_qps; i++) {
		u64 at = min(frdma_retry_next_ns(&qps[i]->req.retry),
			     frdma_req_next_ns(&qps[i]->req));

		if (at < *ns) {
			*ns = at;
			next = qps[i];
		}
	}
	return next;
}

static void wait_until(uint64_t until_ns)
{
	u64 before = told(), at;

	for (;;) {
		struct engine_qp *qp = next_alarm(&at);

		if (at > until_ns) {
			engine_now_ns = max_t(u64, engine_now_ns, until_ns);
			return;
		}
		engine_now_ns = max(engine_now_ns, at);
		engine_step(qp);
		if (told() != before)
			return;
	}
}

/*
 * Packets.
 */

static void put16(u8 *at, u16 value)
{
	at[0] = value >> 8;
	at[1] = value;
}

static void put32(u8 *at, u32 value)
{
	put16(at, value >> 16);
	put16(at + 2, value);
}

/* The headers that the kernel's IP stack makes. */
static u32 make_ip(u8 *at, u32 transport_len)
{
	const struct packet_peer *peer = &engine_play->peer;
	u32 udp_len = FRDMA_ICRC_UDP_LEN + transport_len;

	at[0] = 0x45;
	put16(at + 2, FRDMA_ICRC_IPV4_LEN + udp_len);
	at[6] = 0x40;
	at[8] = 64;
	at[9] = 17;
	put32(at + 12, peer->host);
	put32(at + 16, peer->peer);
	at += FRDMA_ICRC_IPV4_LEN;
	put16(at, A_SPORT);
	put16(at + 2, FRDMA_UDP_DPORT);
	put16(at + 4, udp_len);
	return FRDMA_ICRC_IPV4_LEN + FRDMA_ICRC_UDP_LEN;
}

/**
 * engine_send - a packet goes out
 * @qp: whose
 * @hdr: its headers but for what all packets share; payload_len is set
 * @payload: that many bytes
 */
void engine_send(struct engine_qp *qp, struct frdma_hdr *hdr,
		 const void *payload)
{
	struct packet packet = { .at_ns = engine_now_ns };
	u32 rest = hdr->payload_len + hdr->pad;
	struct frdma_icrc_pseudo pseudo;
	u8 *bth, *data;
	__le32 icrc;
	u32 ip, crc;
	u32 hdr_len = frdma_hdr_len(hdr->opcode);

	hdr->dqpn = qp->spec->peer_qpn;
	hdr->pkey = FRDMA_PKEY_DEFAULT;
	hdr->migreq = true;

	ip = make_ip(packet.bytes, hdr_len + rest + FRDMA_ICRC_LEN);
	bth = packet.bytes + ip;
	frdma_hdr_build(bth, hdr);
	data = bth + hdr_len;
	if (hdr->payload_len)
		memcpy(data, payload, hdr->payload_len);
	frdma_icrc_pseudo_ipv4(&pseudo, packet.bytes,
			       packet.bytes + FRDMA_ICRC_IPV4_LEN);
	crc = frdma_icrc_seed(&pseudo, bth, hdr_len);
	icrc = frdma_icrc_final(frdma_crc32(crc, data, rest));
	memcpy(data + rest, &icrc, sizeof(icrc));
	packet.len = ip + hdr_len + rest + FRDMA_ICRC_LEN;
	if (packet_read(&packet))
		play_sent(engine_play, &packet);
}

static bool icrc_is_right(const struct packet *packet, const u8 *bth,
			  const struct frdma_hdr *hdr, u32 len)
{
	const u8 *udp = bth - FRDMA_ICRC_UDP_LEN;
	struct frdma_icrc_pseudo pseudo;
	__le32 icrc;
	u32 crc;

	if (packet->bytes[0] >> 4 == 6)
		frdma_icrc_pseudo_ipv6(&pseudo, packet->bytes, udp);
	else
		frdma_icrc_pseudo_ipv4(&pseudo, packet->bytes, udp);
	crc = frdma_icrc_seed(&pseudo, bth, hdr->hdr_len);
	crc = frdma_crc32(crc, bth + hdr->hdr_len,
			  len - hdr->hdr_len - FRDMA_ICRC_LEN);
	icrc = frdma_icrc_final(crc);
	return !memcmp(&icrc, bth + len - FRDMA_ICRC_LEN, sizeof(icrc));
}

static struct engine_qp *find_qp(u32 qpn)
{
	size_t i;

	for (i = 0; i < nr_qps; i++)
		if (qps[i]->spec->qpn == qpn)
			return qps[i];
	return NULL;
}

/* Initiators take no requests, targets no answers: a notification does nothing. */
static bool has_side_for(const struct engine_qp *qp, bool response)
{
	return qp->spec->type != (response ? IS_XRC_TGT : IS_XRC_INI);
}

/* As the kernel's cnp.c. */
static void obey_or_echo(struct engine_qp *qp, bool response)
{
	static const u8 zero[FRDMA_CNP_LEN];
	struct frdma_hdr hdr;

	if (response)
		frdma_cc_notified(&qp->req.cc, frdma_req_outstanding(&qp->req),
				  engine_now_ns);
	if (response || !frdma_cc_echo_due(&qp->echo, engine_now_ns))
		return;
	frdma_cc_echo_plan(&hdr);
	engine_send(qp, &hdr, zero);
}

static bool met_congestion(const struct packet *packet)
{
	u8 field = packet->bytes[0] >> 4 == 6 ? packet->bytes[1] >> 4 :
						packet->bytes[1];

	return (field & 3) == 3;
}

/* As the kernel's rx.c, where it does not ask who the packet is from. */
static void deliver(const struct packet *packet)
{
	const u8 *bth = packet->bytes + packet->at[HDR_BTH];
	u32 len = packet->len - packet->at[HDR_BTH];
	struct engine_qp *qp;
	struct frdma_hdr hdr;

	switch (frdma_hdr_parse(&hdr, bth, len, len)) {
	case FRDMA_HDR_SHORT:
	case FRDMA_HDR_VERSION:
		return;
	default:
		break;
	}
	qp = find_qp(hdr.dqpn);
	if (!qp || !icrc_is_right(packet, bth, &hdr, len) ||
	    !frdma_opcode_is_on(hdr.opcode, qp->req.transport) ||
	    !has_side_for(qp, frdma_op(hdr.opcode)->response))
		return;
	if (frdma_op(hdr.opcode)->response)
		engine_requester_answer(qp, &hdr, bth + hdr.hdr_len);
	else
		engine_responder_request(qp, &hdr, bth + hdr.hdr_len);
	if (frdma_hdr_brings_data(&hdr) && met_congestion(packet))
		obey_or_echo(qp, frdma_op(hdr.opcode)->response);
	engine_step(qp);
}

/*
 * Verbs.
 */

static bool make_region(struct region *region)
{
	/* Anything that two regions do not share. */
	region->lkey = 0x1000 + engine_play->nr_regions * 0x100;
	region->rkey = region->lkey;
	return true;
}

static bool drop_region(struct region *region)
{
	return true;
}

static bool make_qp(struct queue_pair *spec)
{
	struct engine_qp *qp;

	if (spec->type == IS_UD || spec->ipv6 || spec->srq ||
	    (spec->state != STATE_RTS && spec->state != STATE_RTR))
		return false;
	qp = calloc(1, sizeof(*qp));
	qp->spec = spec;
	qp->state = spec->state;
	spec->qpn = FIRST_QPN + nr_qps;
	spec->handle = qp;
	engine_requester_init(qp);
	engine_responder_init(qp);
	qps[nr_qps++] = qp;
	return true;
}

static bool modify(struct queue_pair *spec, enum state state)
{
	struct engine_qp *qp = spec->handle;

	if (state != STATE_ERR && state != STATE_RTS)
		return false;
	qp->state = state;
	engine_step(qp);
	return true;
}

static int state(struct queue_pair *spec)
{
	return ((struct engine_qp *)spec->handle)->state;
}

/* Those of XRC alone: the others are the kernel's from end to end. */
static bool make_srq(struct shared_queue *srq)
{
	if (!srq->xrcd)
		return false;
	srq->srqn = FIRST_SRQN + engine_play->nr_srqs;
	srq->handle = calloc(1, sizeof(struct engine_rq));
	return true;
}

static bool drop_srq(struct shared_queue *srq)
{
	free(srq->handle);
	srq->handle = NULL;
	return true;
}

static struct shared_queue *find_srq(u32 srqn)
{
	size_t i;

	for (i = 0; i < engine_play->nr_srqs; i++) {
		struct shared_queue *srq = &engine_play->srqs[i];

		if (srq->handle && srq->srqn == srqn &&
		    srq->xrcd == OWN_XRCD)
			return srq;
	}
	return NULL;
}

/**
 * engine_aim - receive for the queue that a request names
 * @qp: target
 * @srqn: number of the queue
 *
 * Return: false if there is none in its domain; as the kernel's xrc.c.
 */
bool engine_aim(struct engine_qp *qp, u32 srqn)
{
	struct shared_queue *srq = find_srq(srqn);

	if (!srq || (qp->have_cur && qp->srqn != srqn))
		return false;
	qp->rq = srq->handle;
	qp->srqn = srqn;
	qp->pd = srq->pd;
	return true;
}

/** engine_aim_read - answer a READ that named a queue; as the kernel's xrc.c */
bool engine_aim_read(struct engine_qp *qp, u32 srqn)
{
	struct shared_queue *srq = find_srq(srqn);

	if (srq)
		qp->pd = srq->pd;
	return srq;
}

static bool post_to(struct engine_rq *rq, const struct request *request)
{
	if (rq->prod - rq->cons == ENGINE_DEPTH)
		return false;
	rq->recvs[rq->prod++ % ENGINE_DEPTH] = *request;
	return true;
}

static bool post_srq(struct shared_queue *srq, const struct request *rq)
{
	return post_to(srq->handle, rq);
}

static bool post_recv(struct queue_pair *spec, const struct request *rq)
{
	struct engine_qp *qp = spec->handle;

	if (!post_to(&qp->own, rq))
		return false;
	engine_step(qp);
	return true;
}

static bool post_send(struct queue_pair *spec, const struct request *rq)
{
	struct engine_qp *qp = spec->handle;

	if (qp->post_prod - qp->req.wr_una == ENGINE_DEPTH)
		return false;
	qp->posted[qp->post_prod++ % ENGINE_DEPTH] = *rq;
	engine_step(qp);
	return true;
}

static int open_end(int argc, char **argv)
{
	return 0;
}

static bool begin(struct play *play)
{
	engine_play = play;
	engine_now_ns = 1000000000;
	play->peer.host = ntohl(inet_addr("10.79.0.1"));
	play->peer.peer = ntohl(inet_addr("10.79.0.2"));
	inet_pton(AF_INET6, "fd79::1", play->peer.host6);
	inet_pton(AF_INET6, "fd79::2", play->peer.peer6);
	return true;
}

static void finish(struct play *play)
{
	size_t i;

	while (nr_qps) {
		engine_forget(&qps[--nr_qps]->kept);
		engine_forget(&qps[nr_qps]->ahead);
		free(qps[nr_qps]);
	}
	for (i = 0; i < play->nr_srqs; i++)
		free(play->srqs[i].handle);
}

struct end the_end = {
	.name		= "engine",
	.is_frdma	= true,
	.prompt_ns	= 1000,
	.slack_ns	= 0,
	.quiet_ns	= 1000000,
	.open		= open_end,
	.begin		= begin,
	.finish		= finish,
	.now		= now,
	.wait		= wait_until,
	.make_region	= make_region,
	.drop_region	= drop_region,
	.make_qp	= make_qp,
	.modify		= modify,
	.state		= state,
	.make_srq	= make_srq,
	.drop_srq	= drop_srq,
	.post_recv	= post_recv,
	.post_srq	= post_srq,
	.post_send	= post_send,
	.deliver	= deliver,
};
