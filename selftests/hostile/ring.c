// SPDX-License-Identifier: GPL-2.0
/*
 * A process that writes nonsense into its rings. ring.sh builds and runs it:
 *
 *	ring DEVICE GID_INDEX CASE [SECONDS [SEED]]
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../kernel/uapi/frdma-abi.h"
#include "../lib/doorbell.h"
#include "../lib/pair.h"
#include "../lib/maps.h"
#include "../lib/statistic.h"

#define MEMORY		(256 << 10)
#define DEPTH		64
#define QKEY		0x1234

/* Those that libibverbs has no name for, or has since rdma-core 45. */
#define WR_FLUSH	14
#define WR_ATOMIC_WRITE	15
#define WR_REG_MR	0x20		/* the kernel's own */
#define FLUSH_GLOBAL	(1 << 8)

/* Bytes of a slot, each with room for four pieces. */
#define SEND_STRIDE	(sizeof(struct frdma_send_wqe) + \
			 4 * sizeof(struct frdma_sge))
#define RECV_STRIDE	(sizeof(struct frdma_recv_wqe) + \
			 4 * sizeof(struct frdma_sge))

static unsigned char *memory;
static struct ibv_mr *mr;
static struct ibv_mw *window;
static volatile bool stopped;
static int rights = RIGHTS | FLUSH_GLOBAL;	/* that, if there is */
static int seconds = 5;
static unsigned int seed = 1;

/* What the provider does after posting, whatever the ring says. */
static void ring_doorbell(struct ibv_qp *qp)
{
	EXPECT(!ring_doorbell_of(qp->context->cmd_fd, qp->handle));
}

static int state_of(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	EXPECT(!ibv_query_qp(qp, &attr, IBV_QP_STATE, &init));
	return attr.qp_state;
}

/* Counts events of this kind until it is quiet. */
static int async_events(enum ibv_event_type type)
{
	struct pollfd fd = { .fd = ctx->async_fd, .events = POLLIN };
	struct ibv_async_event event;
	int n = 0;

	while (poll(&fd, 1, 500)) {
		EXPECT(!ibv_get_async_event(ctx, &event));
		n += event.event_type == type;
		ibv_ack_async_event(&event);
	}
	return n;
}

static struct frdma_ring_head *head_of(int map)
{
	return (void *)maps[map].at;
}

static struct frdma_send_wqe *send_slot(int map, uint32_t stride, int i)
{
	return (void *)(maps[map].at + FRDMA_RING_SLOTS + i * stride);
}

/*
 * Two ends of each service
 */

/**
 * struct service - what two queue pairs are to each other
 * @near: type of the one
 * @far: type of the other
 * @shared: what they receive comes from shared receive queues
 */
static const struct service {
	enum ibv_qp_type near, far;
	bool shared;
} services[] = {
	{ IBV_QPT_RC, IBV_QPT_RC, false },
	{ IBV_QPT_RC, IBV_QPT_RC, true },
	{ IBV_QPT_UC, IBV_QPT_UC, false },
	{ IBV_QPT_UD, IBV_QPT_UD, false },
	{ IBV_QPT_XRC_SEND, IBV_QPT_XRC_RECV, true },
};

#define SERVICES	(sizeof(services) / sizeof(services[0]))

/** struct end - a queue pair; @srq: NULL where it needs none */
static struct end {
	enum ibv_qp_type type;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	struct ibv_qp *qp;
} ends[2];

/* What the rings are for, in the order in which they were made. */
static enum ring { COMPLETIONS, SENDS, RECEIVES } rings[MAX_MAPS];
static int nr_rings;

/* What work requests have to name. */
static struct ibv_xrcd *domain;
static struct ibv_ah *ah;
static uint32_t ah_number, srqn;

static struct ibv_srq *make_srq(bool extended, struct ibv_cq *cq)
{
	struct ibv_srq_init_attr_ex init = {
		.attr = { .max_wr = DEPTH, .max_sge = 4 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD,
		.srq_type = IBV_SRQT_BASIC, .pd = pd,
	};
	struct ibv_srq *srq;

	if (extended) {
		init.comp_mask |= IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
		init.srq_type = IBV_SRQT_XRC;
		init.xrcd = domain;
		init.cq = cq;
	}
	srq = ibv_create_srq_ex(ctx, &init);
	EXPECT(srq && (!extended || !ibv_get_srq_num(srq, &srqn)));
	return srq;
}

static void make_end(struct end *end, enum ibv_qp_type type, bool shared)
{
	struct ibv_qp_init_attr_ex init = {
		.qp_type = type, .sq_sig_all = 1, .pd = pd,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = DEPTH,
			 .max_send_sge = 4, .max_recv_sge = 4,
			 .max_inline_data = 64 },
	};

	*end = (struct end) { .type = type };
	end->cq = ibv_create_cq(ctx, 4 * DEPTH, NULL, NULL, 0);
	EXPECT(end->cq);
	rings[nr_rings++] = COMPLETIONS;
	if (shared && type != IBV_QPT_XRC_SEND) {
		end->srq = make_srq(type == IBV_QPT_XRC_RECV, end->cq);
		rings[nr_rings++] = RECEIVES;
	}

	init.send_cq = end->cq;
	init.recv_cq = type == IBV_QPT_XRC_SEND ? NULL : end->cq;
	init.srq = end->srq;
	if (type == IBV_QPT_XRC_RECV)
		init = (struct ibv_qp_init_attr_ex) {
			.qp_type = type, .xrcd = domain,
			.comp_mask = IBV_QP_INIT_ATTR_XRCD,
		};
	else
		rings[nr_rings++] = SENDS;
	if (!shared)
		rings[nr_rings++] = RECEIVES;
	end->qp = ibv_create_qp_ex(ctx, &init);
	EXPECT(end->qp);
}

static void make_ends(const struct service *service)
{
	nr_rings = 0;
	make_end(&ends[0], service->near, service->shared);
	make_end(&ends[1], service->far, service->shared);
	find_maps();
	EXPECT(nr_maps == nr_rings);
}

static void unmake_ends(void)
{
	struct end *end;

	for (end = ends; end < ends + 2; end++) {
		EXPECT(!ibv_destroy_qp(end->qp));
		EXPECT(!end->srq || !ibv_destroy_srq(end->srq));
		EXPECT(!ibv_destroy_cq(end->cq));
	}
}

/* Attributes of the way to RTS. */
static int mask_to(enum ibv_qp_state state, enum ibv_qp_type type)
{
	bool asks = type == IBV_QPT_RC || type == IBV_QPT_XRC_SEND;
	bool answers = type == IBV_QPT_RC || type == IBV_QPT_XRC_RECV;
	const int asking = TO_RTS & ~UC_TO_RTS, answering = TO_RTR & ~UC_TO_RTR;
	bool ud = type == IBV_QPT_UD;

	switch (state) {
	case IBV_QPS_INIT:
		return ud ? (TO_INIT & ~IBV_QP_ACCESS_FLAGS) | IBV_QP_QKEY :
			    TO_INIT;
	case IBV_QPS_RTR:
		return ud ? IBV_QP_STATE :
			    UC_TO_RTR | (answers ? answering : 0);
	default:
		return UC_TO_RTS | (asks ? asking : 0) |
		       (answers ? IBV_QP_TIMEOUT : 0);
	}
}

/*
 * Up again, unless what the rings say by then has broken it on the way: the
 * peer's nonsense comes in from RTR on, and a broken queue pair goes nowhere.
 */
static void bring_up(struct end *end, const struct end *peer)
{
	struct ibv_qp_attr init = init_attr(), rts = rts_attr();
	struct ibv_qp_attr rtr = rtr_attr(peer->qp->qp_num);
	int err;

	init.qp_access_flags = rights;
	init.qkey = QKEY;
	err = ibv_modify_qp(end->qp, &init,
			    mask_to(IBV_QPS_INIT, end->type)) ?:
	      ibv_modify_qp(end->qp, &rtr, mask_to(IBV_QPS_RTR, end->type)) ?:
	      ibv_modify_qp(end->qp, &rts, mask_to(IBV_QPS_RTS, end->type));
	EXPECT(!err || (err == EINVAL && state_of(end->qp) == IBV_QPS_ERR));
}

static void connect_ends(void)
{
	bring_up(&ends[0], &ends[1]);
	bring_up(&ends[1], &ends[0]);
}

static void connect_anew(void)
{
	struct ibv_qp_attr reset = { };

	EXPECT(!ibv_modify_qp(ends[0].qp, &reset, IBV_QP_STATE));
	EXPECT(!ibv_modify_qp(ends[1].qp, &reset, IBV_QP_STATE));
	connect_ends();
}

/* The map that @end sends from. */
static int sends_of(const struct end *end)
{
	int i, found = -1;

	for (i = 0; i < nr_rings; i++)
		if (rings[i] == SENDS && (end == &ends[1] || found < 0))
			found = i;
	EXPECT(found >= 0);
	return found;
}

/* The provider tells nobody the number of an address handle but the ring. */
static void make_ah(void)
{
	struct ibv_qp_attr rtr = rtr_attr(0);
	struct ibv_send_wr *bad, wr = { .opcode = IBV_WR_SEND };

	ah = ibv_create_ah(pd, &rtr.ah_attr);
	EXPECT(ah);
	make_ends(&services[3]);
	connect_ends();
	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qkey = QKEY;
	EXPECT(!ibv_post_send(ends[0].qp, &wr, &bad));
	ah_number = send_slot(sends_of(&ends[0]), 0, 0)->ud.ah;
	unmake_ends();
}

static void make_what_is_named(void)
{
	struct ibv_xrcd_init_attr init = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD |
			     IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1, .oflags = O_CREAT,
	};

	domain = ibv_open_xrcd(ctx, &init);
	window = ibv_alloc_mw(pd, IBV_MW_TYPE_2);
	EXPECT(domain && window);
	make_ah();
}

static void unmake_what_is_named(void)
{
	EXPECT(!ibv_dealloc_mw(window) && !ibv_close_xrcd(domain));
	EXPECT(!ibv_destroy_ah(ah));
}

/*
 * Nonsense
 */

static uint32_t any(unsigned int *state)
{
	return 2u * rand_r(state) ^ rand_r(state);
}

static uint32_t some(unsigned int *state, uint32_t n)
{
	return any(state) % n;
}

/* The region, or the window under one of its first keys. */
static uint32_t some_key(unsigned int *state)
{
	if (!some(state, 32))
		return any(state);
	return some(state, 8) ? mr->rkey :
				(window->rkey & ~0xff) | some(state, 4);
}

/* Mostly up to @most bytes. */
static struct frdma_sge some_sge(unsigned int *state, uint32_t most)
{
	if (!some(state, 16))
		most = MEMORY;
	return (struct frdma_sge) {
		.addr = (uintptr_t)memory + some(state, MEMORY - most + 1),
		.length = some(state, 32) ? some(state, most) : any(state),
		.lkey = some(state, 32) ? mr->lkey : any(state),
	};
}

/* What a service can be asked for. */
static bool is_known(enum ibv_qp_type type, int opcode)
{
	switch (opcode) {
	case IBV_WR_SEND:
	case IBV_WR_SEND_WITH_IMM:
		return true;
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
	case IBV_WR_LOCAL_INV:
	case IBV_WR_BIND_MW:
		return type != IBV_QPT_UD;
	case IBV_WR_RDMA_READ:
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
	case IBV_WR_SEND_WITH_INV:
	case WR_FLUSH:
	case WR_ATOMIC_WRITE:
		return type == IBV_QPT_RC || type == IBV_QPT_XRC_SEND;
	default:
		return false;
	}
}

/* Mostly what can be asked for; else a name, one of the kernel, or none. */
static uint8_t some_opcode(unsigned int *state)
{
	uint8_t opcode;

	switch (some(state, 16)) {
	case 0:
		return some(state, 2) ? WR_REG_MR : any(state);
	case 1:
		return some(state, WR_ATOMIC_WRITE + 1);
	default:
		do
			opcode = some(state, WR_ATOMIC_WRITE + 1);
		while (!is_known(ends[0].type, opcode));
		return opcode;
	}
}

/* What depends on the opcode, or on the service. */
static void fit_wqe(struct frdma_send_wqe *wqe, struct frdma_sge *sge,
		    unsigned int *state)
{
	switch (wqe->opcode) {
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
	case WR_ATOMIC_WRITE:
		wqe->num_sge = 1;
		sge->length = 8;
		wqe->remote_addr &= ~7ULL;
		break;
	case IBV_WR_BIND_MW:
		wqe->bind.addr = (uintptr_t)memory;
		wqe->bind.length = 1 + some(state, MEMORY);
		wqe->bind.key = (window->rkey & ~0xff) | some(state, 4);
		wqe->bind.mr_key = mr->lkey;
		wqe->bind.access = RIGHTS;
		return;
	case WR_FLUSH:
		wqe->num_sge = 0;
		wqe->flush.length = some(state, MEMORY / 2);
		wqe->flush.placement = some(state, 8) ? 1 : some(state, 4);
		wqe->flush.select = some(state, 2);
		return;
	case IBV_WR_LOCAL_INV:
	case IBV_WR_SEND_WITH_INV:
		wqe->ex = (window->rkey & ~0xff) | some(state, 4);
		break;
	case WR_REG_MR:
		wqe->reg.mr = some(state, 2) ? (uintptr_t)memory :
					       some(state, 8);
		wqe->reg.key = mr->rkey;
		return;
	}
	if (ends[0].type == IBV_QPT_UD) {
		wqe->ud.ah = ah_number;
		wqe->ud.dqpn = ends[some(state, 2)].qp->qp_num;
		wqe->ud.qkey = QKEY;
	} else {
		wqe->xrc.srqn = srqn;
	}
}

/* A work request that is right but for what chance makes wrong. */
static void write_send(char *at, unsigned int *state)
{
	struct frdma_send_wqe wqe = {
		.opcode = some_opcode(state),
		.flags = some(state, 8) ? some(state, IBV_SEND_INLINE) :
			 some(state, 4) ? IBV_SEND_INLINE : any(state),
		.num_sge = some(state, 32) ? 1 + some(state, 2) : any(state),
		.inline_len = some(state, 16) ? some(state, 65) : any(state),
		.ex = some_key(state),
		.rkey = some_key(state),
		.remote_addr = (uintptr_t)memory + some(state, MEMORY / 2),
		.reserved = { any(state), any(state) },
	};
	struct frdma_sge sge[2] = { some_sge(state, 512), some_sge(state, 512) };

	if (some(state, 32))
		fit_wqe(&wqe, sge, state);
	memcpy(at, &wqe, sizeof(wqe));
	memcpy(at + sizeof(wqe), sge, sizeof(sge));
}

static void write_recv(char *at, unsigned int *state)
{
	struct frdma_recv_wqe wqe = {
		.wr_id = any(state),
		.num_sge = some(state, 32) ? 1 + some(state, 2) : any(state),
		.reserved = some(state, 32) ? 0 : any(state),
	};
	struct frdma_sge sge[2] = { some_sge(state, 4096),
				    some_sge(state, 4096) };

	memcpy(at, &wqe, sizeof(wqe));
	memcpy(at + sizeof(wqe), sge, sizeof(sge));
}

static void write_slot(int map, uint32_t i, unsigned int *state)
{
	char *slots = maps[map].at + FRDMA_RING_SLOTS;

	if (rings[map] == SENDS)
		write_send(slots + i * SEND_STRIDE, state);
	else if (rings[map] == RECEIVES)
		write_recv(slots + i * RECV_STRIDE, state);
}

/* As a process does that keeps to the indices, but for what is in the slots. */
static void go_on(int map, unsigned int *state)
{
	volatile struct frdma_ring_head *head = head_of(map);

	if (rings[map] == COMPLETIONS)
		return;
	if (!some(state, 4) && head->prod - head->cons < DEPTH)
		__atomic_fetch_add(&head->prod, 1, __ATOMIC_RELEASE);
	else
		write_slot(map, some(state, DEPTH), state);
}

/* Whatever there is, anything. */
static void break_it(int map, unsigned int *state)
{
	volatile struct frdma_ring_head *head = head_of(map);
	uint32_t off = some(state, maps[map].len);

	switch (some(state, 32)) {
	case 0:
		head->prod = any(state);
		break;
	case 1:
		head->cons = any(state);
		break;
	case 2:
		head->prod += some(state, 9) - 4;
		break;
	case 3:
		head->cons += some(state, 9) - 4;
		break;
	case 4:
		head->flags = any(state);
		break;
	case 5:
		head->armed = any(state);
		break;
	case 6:
		memset(maps[map].at + off, any(state),
		       some(state, maps[map].len - off));
		break;
	case 7 ... 13:
		head->prod++;
		break;
	default:
		write_slot(map, some(state, DEPTH), state);
		break;
	}
}

/** struct scribbler - @breaks: it writes over indices, too */
struct scribbler {
	pthread_t thread;
	unsigned int state;
	bool breaks;
};

static void *scribble(void *arg)
{
	struct scribbler *me = arg;
	int map;

	while (!stopped) {
		map = some(&me->state, nr_maps);
		if (me->breaks)
			break_it(map, &me->state);
		else
			go_on(map, &me->state);
		if (!some(&me->state, 16))
			usleep(some(&me->state, 50));
	}
	return NULL;
}

/* By opcode, of rings that nobody breaks. */
static unsigned int completed[256];

static void take_completions(const struct end *end, bool count)
{
	struct ibv_wc wc[8];
	int i, n = ibv_poll_cq(end->cq, 8, wc);

	for (i = 0; count && i < n; i++)
		if (!wc[i].status)
			completed[wc[i].opcode & 255]++;
}

/* One life of a pair whose rings are written over while it works. */
static void random_life(unsigned int number)
{
	const struct service *service = &services[number % SERVICES];
	bool breaks = number / SERVICES % 2;
	struct scribbler scribblers[2];
	double end;
	int i, j;

	make_ends(service);
	for (i = 0; i < nr_maps; i++)
		for (j = 0; j < DEPTH; j++)
			write_slot(i, j, &number);
	connect_ends();
	stopped = false;
	for (i = 0; i < 2; i++) {
		scribblers[i].state = 2 * number + i;
		scribblers[i].breaks = breaks;
		EXPECT(!pthread_create(&scribblers[i].thread, NULL, scribble,
				       &scribblers[i]));
	}

	/* A completion queue, or a shared one, that is broken stays so. */
	for (end = now() + (breaks ? 0.05 : 0.2); now() < end;) {
		for (i = 0; i < 2; i++) {
			if (ends[i].type != IBV_QPT_XRC_RECV)
				ring_doorbell(ends[i].qp);
			take_completions(&ends[i], !breaks);
		}
		if (state_of(ends[0].qp) != IBV_QPS_RTS ||
		    state_of(ends[1].qp) != IBV_QPS_RTS)
			connect_anew();
	}

	stopped = true;
	for (i = 0; i < 2; i++)
		pthread_join(scribblers[i].thread, NULL);
	unmake_ends();
}

/* What nonsense can bring about. */
static const char * const effects[] = {
	"rx_send_requests", "rx_write_requests", "rx_read_requests",
	"rx_atomic_requests", "rx_atomic_write_requests", "rx_flush_requests",
};

#define EFFECTS	(sizeof(effects) / sizeof(effects[0]))

/* Of everything that there is, something. */
static bool all_had_effect(const struct statistic *before)
{
	static struct statistic now;
	size_t i;

	statistic_read(&now);
	/* The last one, where memory can be registered so. */
	for (i = 0; i < EFFECTS - !(rights & FLUSH_GLOBAL); i++)
		if (!statistic_since(before, &now, effects[i]))
			return false;
	return completed[IBV_WC_BIND_MW] && completed[IBV_WC_LOCAL_INV];
}

static void say_effects(const struct statistic *before)
{
	static struct statistic now;
	size_t i;

	statistic_read(&now);
	for (i = 0; i < EFFECTS; i++)
		printf("%s: %llu, ", effects[i], (unsigned long long)
		       statistic_since(before, &now, effects[i]));
	printf("bound: %u, invalidated: %u\n", completed[IBV_WC_BIND_MW],
	       completed[IBV_WC_LOCAL_INV]);
}

/* Machines stall: it goes on for longer if something was not met by then. */
static void random_nonsense(void)
{
	double begin = now(), most = begin + 100 * slow();
	static struct statistic before;
	unsigned int n = seed;
	bool all;

	make_what_is_named();
	statistic_read(&before);
	do {
		random_life(n++);
		all = all_had_effect(&before);
	} while (now() < begin + seconds || (!all && now() < most));
	printf("%u queue pairs broken\n", 2 * (n - seed));
	say_effects(&before);
	EXPECT(all);
	unmake_what_is_named();
}

/*
 * Known nonsense
 */

static void post_recv(const struct end *end)
{
	struct ibv_sge sge = { (uintptr_t)memory, 4096, mr->lkey };
	struct ibv_recv_wr *bad, wr = { .sg_list = &sge, .num_sge = 1 };

	/* A shared one is full sooner or later. */
	if (end->srq)
		ibv_post_srq_recv(end->srq, &wr, &bad);
	else
		EXPECT(!ibv_post_recv(end->qp, &wr, &bad));
}

/* Writes it into the ring, without the provider; how it ends. */
static struct ibv_wc outcome_of(uint8_t opcode)
{
	int map = sends_of(&ends[0]);
	struct frdma_ring_head *head = head_of(map);
	unsigned int chance = opcode;
	struct frdma_send_wqe wqe = {
		.wr_id = opcode, .opcode = opcode, .num_sge = 1,
		.ex = window->rkey, .rkey = mr->rkey,
		.remote_addr = (uintptr_t)memory,
	};
	struct frdma_sge sge = { (uintptr_t)memory, 8, mr->lkey };
	struct frdma_send_wqe *slot;

	fit_wqe(&wqe, &sge, &chance);
	slot = send_slot(map, SEND_STRIDE, head->prod % DEPTH);
	memcpy(slot, &wqe, sizeof(wqe));
	memcpy(slot + 1, &sge, sizeof(sge));
	__atomic_store_n(&head->prod, head->prod + 1, __ATOMIC_RELEASE);
	ring_doorbell(ends[0].qp);
	return next_wc(ends[0].cq);
}

/* Each ends, and what cannot be asked for says so. */
static void opcodes_of(const struct service *service)
{
	struct ibv_wc wc;
	int opcode;

	make_ends(service);
	connect_ends();
	for (opcode = 0; opcode < 256; opcode++) {
		post_recv(&ends[1]);
		wc = outcome_of(opcode);
		if (wc.wr_id != (unsigned int)opcode ||
		    is_known(service->near, opcode) ==
		    (wc.status == IBV_WC_LOC_QP_OP_ERR)) {
			printf("type %d, opcode %d: %s\n", service->near,
			       opcode, ibv_wc_status_str(wc.status));
			exit(1);
		}
		if (wc.status)
			connect_anew();
		while (ibv_poll_cq(ends[1].cq, 1, &wc) > 0)
			;
	}
	unmake_ends();
}

static void every_opcode(void)
{
	const struct service *service;

	make_what_is_named();
	for (service = services; service < services + SERVICES; service++)
		opcodes_of(service);
	unmake_what_is_named();
}

/* A queue pair whose peer does not answer; its maps: CQ, SQ, RQ. */
static struct ibv_qp *make_lonely(struct ibv_cq **cq)
{
	struct ibv_qp *qp;

	*cq = ibv_create_cq(ctx, 16, NULL, NULL, 0);
	EXPECT(*cq);
	qp = make_qp(*cq, 4);
	EXPECT(qp && !connect_qp(qp, 0xfffffe));
	find_maps();
	EXPECT(nr_maps == 3);
	return qp;
}

static void ends_in_error(struct ibv_qp *qp)
{
	ring_doorbell(qp);
	EXPECT(async_events(IBV_EVENT_QP_FATAL) == 1);
	EXPECT(state_of(qp) == IBV_QPS_ERR);
}

/*
 * The index goes back over a message that is being sent, and its slot is made
 * a short inline one: what lies behind that must not be sent in its place.
 */
static void send_index_goes_back(void)
{
	struct ibv_cq *cq;
	struct ibv_qp *qp = make_lonely(&cq);
	struct ibv_sge sge = { (uintptr_t)memory, MEMORY, mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = { (uintptr_t)memory, mr->rkey },
	};
	int i;

	EXPECT(!ibv_post_send(qp, &wr, &bad));
	EXPECT(!ibv_post_send(qp, &wr, &bad));
	EXPECT(head_of(1)->prod == 2);
	for (i = 0; i < 4; i++)
		*send_slot(1, SEND_STRIDE, i) = (struct frdma_send_wqe) {
			.flags = IBV_SEND_INLINE, .inline_len = 8,
		};
	head_of(1)->prod = 1;
	ends_in_error(qp);
	EXPECT(!ibv_destroy_qp(qp) && !ibv_destroy_cq(cq));
}

static void send_index_jumps(void)
{
	struct ibv_cq *cq;
	struct ibv_qp *qp = make_lonely(&cq);

	head_of(1)->prod = 5;
	ends_in_error(qp);
	EXPECT(!ibv_destroy_qp(qp) && !ibv_destroy_cq(cq));
}

static char *map_again(const struct map *map)
{
	void *at = mmap(NULL, map->len, PROT_READ | PROT_WRITE, MAP_SHARED,
			ctx->cmd_fd, map->offset);

	EXPECT(at != MAP_FAILED);
	return at;
}

/* A child maps two rings, unmaps a page of one, and writes to the other. */
static void use_kept_mapping(int mapped, int destroyed)
{
	char *half = map_again(&maps[1]), *kept = map_again(&maps[2]);
	char byte = 0;

	if (maps[1].len > 4096)
		munmap(half, 4096);
	EXPECT(write(mapped, &byte, 1) == 1);
	EXPECT(read(destroyed, &byte, 1) == 1);
	memset(kept, 0x5a, maps[2].len);
	_exit(0);
}

/* Pages live as long as a mapping of them. */
static void mapping_outlives_queue(void)
{
	int mapped[2], destroyed[2], wait_status;
	struct ibv_cq *cq;
	struct ibv_qp *qp = make_lonely(&cq);
	char byte = 0;
	pid_t child;

	EXPECT(!pipe(mapped) && !pipe(destroyed));
	child = fork();
	EXPECT(child >= 0);
	if (!child)
		use_kept_mapping(mapped[1], destroyed[0]);
	EXPECT(read(mapped[0], &byte, 1) == 1);
	EXPECT(!ibv_destroy_qp(qp) && !ibv_destroy_cq(cq));
	EXPECT(write(destroyed[1], &byte, 1) == 1);
	EXPECT(waitpid(child, &wait_status, 0) == child);
	EXPECT(!wait_status);
}

static const struct test_case cases[] = {
	CASE(random_nonsense),
	CASE(every_opcode),
	CASE(send_index_goes_back),
	CASE(send_index_jumps),
	CASE(mapping_outlives_queue),
	{ }
};

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	open_device(argv[1], argv[2]);
	statistic_open(argv[1]);
	if (argc > 4)
		seconds = arg_number(argv[4]);
	if (argc > 5)
		seed = arg_number(argv[5]);
	memory = aligned_alloc(4096, MEMORY);
	mr = ibv_reg_mr(pd, memory, MEMORY, rights | IBV_ACCESS_MW_BIND);
	if (!mr) {
		rights = RIGHTS;
		mr = ibv_reg_mr(pd, memory, MEMORY, rights | IBV_ACCESS_MW_BIND);
	}
	EXPECT(memory && mr);
	return run_case(cases, argv[3]);
}
