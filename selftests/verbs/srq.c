// SPDX-License-Identifier: GPL-2.0
/*
 * Queue pairs of one device that take from a shared receive queue. srq.sh
 * builds and runs it:
 *
 *	srq DEVICE GID_INDEX CASE
 */
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

#include "../../kernel/uapi/frdma-abi.h"
#include "../lib/pair.h"

#define SLOT		256
#define SLOTS		1024
#define NR_PAIRS	4
#define QKEY		0x1234
#define GRH		40

static unsigned char memory[SLOTS * SLOT];
static struct ibv_mr *mr;
static struct ibv_cq *send_cq, *recv_cq;

static struct ibv_srq *make_srq_of(struct ibv_pd *of, uint32_t max_wr)
{
	struct ibv_srq_init_attr init = {
		.attr = { .max_wr = max_wr, .max_sge = 2 },
	};
	struct ibv_srq *srq = ibv_create_srq(of, &init);

	EXPECT(srq && init.attr.max_wr >= max_wr && init.attr.max_sge >= 2);
	return srq;
}

static struct ibv_srq *make_srq(uint32_t max_wr)
{
	return make_srq_of(pd, max_wr);
}

static struct ibv_qp *make_srq_qp(enum ibv_qp_type type, struct ibv_srq *srq)
{
	struct ibv_qp_init_attr init = {
		.send_cq = send_cq, .recv_cq = recv_cq, .qp_type = type,
		.sq_sig_all = 1, .srq = srq,
		.cap = { .max_send_wr = 256, .max_recv_wr = srq ? 0 : 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_qp *qp = ibv_create_qp(pd, &init);

	EXPECT(qp);
	return qp;
}

/* Two queue pairs, of which @far takes from the shared queue. */
struct two {
	struct ibv_qp *near, *far;
};

static struct two make_two(struct ibv_srq *srq)
{
	struct two two = {
		make_srq_qp(IBV_QPT_RC, NULL), make_srq_qp(IBV_QPT_RC, srq),
	};

	EXPECT(!connect_qp(two.near, two.far->qp_num));
	EXPECT(!connect_qp(two.far, two.near->qp_num));
	return two;
}

static void unmake_two(struct two *two)
{
	EXPECT(!ibv_destroy_qp(two->near) && !ibv_destroy_qp(two->far));
}

static struct ibv_sge slot_sge(uint64_t n)
{
	return (struct ibv_sge) {
		(uintptr_t)memory + n % SLOTS * SLOT, SLOT, mr->lkey,
	};
}

/* Receive into slot n, whose number is that of the work request. */
static int post_srq(struct ibv_srq *srq, uint64_t n)
{
	struct ibv_sge sge = slot_sge(n);
	struct ibv_recv_wr *bad, wr = {
		.wr_id = n, .sg_list = &sge, .num_sge = 1,
	};

	return ibv_post_srq_recv(srq, &wr, &bad);
}

static int try_send(struct ibv_qp *qp, uint32_t len)
{
	struct ibv_sge sge = { (uintptr_t)memory, len, mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
	};

	return ibv_post_send(qp, &wr, &bad);
}

static void post_send(struct ibv_qp *qp, uint32_t len)
{
	EXPECT(!try_send(qp, len));
}

static bool completes(struct ibv_cq *cq)
{
	struct ibv_wc wc;

	return ibv_poll_cq(cq, 1, &wc);
}

static struct ibv_async_event next_event(void)
{
	struct pollfd fd = { .fd = ctx->async_fd, .events = POLLIN };
	struct ibv_async_event event;

	EXPECT(poll(&fd, 1, 20000 * slow()) == 1);
	EXPECT(!ibv_get_async_event(ctx, &event));
	printf("%s\n", ibv_event_type_str(event.event_type));
	ibv_ack_async_event(&event);
	return event;
}

/* The next event must be this one, of that object. */
static void expect_event(enum ibv_event_type type, const void *element)
{
	struct ibv_async_event event = next_event();

	EXPECT(event.event_type == type);
	EXPECT((void *)event.element.srq == element);
}

static void expect_no_event(void)
{
	struct pollfd fd = { .fd = ctx->async_fd, .events = POLLIN };

	EXPECT(!poll(&fd, 1, 200));
}

static int set_limit(struct ibv_srq *srq, uint32_t limit)
{
	struct ibv_srq_attr attr = { .srq_limit = limit };

	return ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT);
}

static int set_size(struct ibv_srq *srq, uint32_t max_wr)
{
	struct ibv_srq_attr attr = { .max_wr = max_wr };

	return ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR);
}

static struct ibv_srq_attr query(struct ibv_srq *srq)
{
	struct ibv_srq_attr attr;

	EXPECT(!ibv_query_srq(srq, &attr));
	return attr;
}

static void send_one(struct two *two)
{
	post_send(two->near, 8);
	EXPECT(next_wc(send_cq).status == IBV_WC_SUCCESS);
	EXPECT(next_wc(recv_cq).status == IBV_WC_SUCCESS);
}

static void verbs(void)
{
	struct ibv_srq_init_attr_ex ex = {
		.attr = { .max_wr = 5, .max_sge = 1 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD,
		.srq_type = IBV_SRQT_BASIC, .pd = pd,
	};
	struct ibv_srq_init_attr init = { };
	struct ibv_qp_init_attr qp_init;
	struct ibv_device_attr limits;
	struct ibv_qp_attr qp_attr;
	struct ibv_recv_wr wr = { }, *bad;
	struct ibv_sge sges[3] = { };
	struct ibv_srq *srq;
	struct ibv_qp *qp;
	uint32_t i;

	EXPECT(!ibv_query_device(ctx, &limits));
	EXPECT(limits.max_srq && limits.max_srq_wr && limits.max_srq_sge);
	EXPECT(limits.device_cap_flags & IBV_DEVICE_SRQ_RESIZE);
	init.attr.max_wr = limits.max_srq_wr + 1;
	EXPECT(!ibv_create_srq(pd, &init) && errno == EINVAL);
	init.attr.max_wr = 1;
	init.attr.max_sge = limits.max_srq_sge + 1;
	EXPECT(!ibv_create_srq(pd, &init) && errno == EINVAL);
	init.attr.max_sge = limits.max_srq_sge;
	srq = ibv_create_srq(pd, &init);
	EXPECT(srq && !ibv_destroy_srq(srq));

	srq = ibv_create_srq_ex(ctx, &ex);
	EXPECT(srq && !ibv_destroy_srq(srq));
	ex.srq_type = IBV_SRQT_TM;
	EXPECT(!ibv_create_srq_ex(ctx, &ex) && errno == EOPNOTSUPP);

	srq = make_srq(4);
	qp = make_srq_qp(IBV_QPT_RC, srq);
	EXPECT(ibv_post_recv(qp, &wr, &bad) == EINVAL && bad == &wr);
	EXPECT(!ibv_query_qp(qp, &qp_attr, IBV_QP_CAP, &qp_init));
	EXPECT(!qp_attr.cap.max_recv_wr && !qp_attr.cap.max_recv_sge);
	EXPECT(ibv_destroy_srq(srq) == EBUSY);

	wr.sg_list = sges;
	wr.num_sge = query(srq).max_sge + 1;
	EXPECT(ibv_post_srq_recv(srq, &wr, &bad) == EINVAL && bad == &wr);
	for (i = 0; i < query(srq).max_wr; i++)
		EXPECT(!post_srq(srq, i));
	EXPECT(post_srq(srq, i) == ENOMEM);

	EXPECT(set_limit(srq, i + 1) == EINVAL);
	EXPECT(set_size(srq, i - 1 - i / 2) == EINVAL);
	EXPECT(set_size(srq, limits.max_srq_wr + 1) == EINVAL);
	EXPECT(query(srq).max_wr == i && !query(srq).srq_limit);
	EXPECT(!ibv_destroy_qp(qp) && !ibv_destroy_srq(srq));
}

/* It comes once per arming, and at once where there are too few already. */
static void limit(void)
{
	struct ibv_srq *srq = make_srq(16);
	struct two two = make_two(srq);
	int i;

	for (i = 0; i < 10; i++)
		EXPECT(!post_srq(srq, i));
	EXPECT(!set_limit(srq, 7) && query(srq).srq_limit == 7);
	for (i = 0; i < 3; i++)
		send_one(&two);
	expect_no_event();
	send_one(&two);
	expect_event(IBV_EVENT_SRQ_LIMIT_REACHED, srq);
	EXPECT(!query(srq).srq_limit);
	send_one(&two);
	expect_no_event();

	EXPECT(!set_limit(srq, 5));
	expect_no_event();
	EXPECT(!set_limit(srq, 6));
	expect_event(IBV_EVENT_SRQ_LIMIT_REACHED, srq);
	unmake_two(&two);
	EXPECT(!ibv_destroy_srq(srq));
}

/* The peer is told to wait, and goes on when there is something to take. */
static void empty_then_posted(void)
{
	struct ibv_srq *srq = make_srq(4);
	struct two two = make_two(srq);

	post_send(two.near, 8);
	stays_empty(recv_cq);
	EXPECT(!completes(send_cq));
	EXPECT(!post_srq(srq, 0));
	EXPECT(next_wc(send_cq).status == IBV_WC_SUCCESS);
	EXPECT(next_wc(recv_cq).status == IBV_WC_SUCCESS);
	unmake_two(&two);
	EXPECT(!ibv_destroy_srq(srq));
}

static void to_error(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	EXPECT(!ibv_modify_qp(qp, &attr, IBV_QP_STATE));
}

/* What nobody has taken is not flushed with a queue pair. */
static void last_wqe(void)
{
	struct ibv_srq *srq = make_srq(4);
	struct two ends = make_two(srq), stays = make_two(srq);

	EXPECT(!post_srq(srq, 0) && !post_srq(srq, 1));
	send_one(&ends);
	to_error(ends.far);
	expect_event(IBV_EVENT_QP_LAST_WQE_REACHED, ends.far);
	EXPECT(!completes(recv_cq));
	to_error(ends.far);
	expect_no_event();
	send_one(&stays);
	unmake_two(&ends);
	unmake_two(&stays);
	EXPECT(!ibv_destroy_srq(srq));
}

static struct ibv_qp *make_ud(struct ibv_srq *srq)
{
	struct ibv_qp *qp = make_srq_qp(IBV_QPT_UD, srq);
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY,
	};

	EXPECT(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
			      IBV_QP_PORT | IBV_QP_QKEY));
	attr.qp_state = IBV_QPS_RTR;
	EXPECT(!ibv_modify_qp(qp, &attr, IBV_QP_STATE));
	attr.qp_state = IBV_QPS_RTS;
	EXPECT(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN));
	return qp;
}

static void send_ud(struct ibv_qp *from, struct ibv_ah *ah, struct ibv_qp *to,
		    uint32_t len)
{
	struct ibv_sge sge = { (uintptr_t)memory, len, mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
		.wr.ud = { ah, to->qp_num, QKEY },
	};

	EXPECT(!ibv_post_send(from, &wr, &bad));
	EXPECT(next_wc(send_cq).status == IBV_WC_SUCCESS);
}

/*
 * Datagrams take from it, too. One that is too long is dropped, and the
 * receive that was taken for it stays in use: that one is flushed.
 */
static void datagrams(void)
{
	struct ibv_ah_attr ah_attr = rtr_attr(0).ah_attr;
	struct ibv_ah *ah = ibv_create_ah(pd, &ah_attr);
	struct ibv_srq *srq = make_srq(4);
	struct ibv_qp *qp = make_ud(srq);
	struct ibv_wc wc;

	EXPECT(ah);
	EXPECT(!post_srq(srq, 1) && !post_srq(srq, 2) && !post_srq(srq, 3));
	send_ud(qp, ah, qp, SLOT - GRH);
	wc = next_wc(recv_cq);
	EXPECT(wc.status == IBV_WC_SUCCESS && wc.wr_id == 1);
	EXPECT(wc.byte_len == SLOT);

	send_ud(qp, ah, qp, SLOT - GRH + 1);
	stays_empty(recv_cq);
	to_error(qp);
	wc = next_wc(recv_cq);
	EXPECT(wc.status == IBV_WC_WR_FLUSH_ERR && wc.wr_id == 2);
	expect_event(IBV_EVENT_QP_LAST_WQE_REACHED, qp);
	EXPECT(!completes(recv_cq));
	EXPECT(!ibv_destroy_qp(qp) && !ibv_destroy_srq(srq));
	EXPECT(!ibv_destroy_ah(ah));
}

static struct two make_two_uc(struct ibv_srq *srq)
{
	struct two two = {
		make_srq_qp(IBV_QPT_UC, NULL), make_srq_qp(IBV_QPT_UC, srq),
	};

	EXPECT(!connect_uc(two.near, two.far->qp_num));
	EXPECT(!connect_uc(two.far, two.near->qp_num));
	return two;
}

/* A message that is refused at its beginning takes nothing with its end. */
static void rest_takes_none(void)
{
	struct ibv_srq *srq = make_srq(4);
	struct two two = make_two_uc(srq);
	struct ibv_sge sge = { (uintptr_t)memory, 1500, mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge, .num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		.wr.rdma = { (uintptr_t)memory, mr->rkey ^ 1 },
	};

	EXPECT(!post_srq(srq, 0) && !post_srq(srq, 1));
	EXPECT(!ibv_post_send(two.near, &wr, &bad));
	EXPECT(next_wc(send_cq).status == IBV_WC_SUCCESS);
	stays_empty(recv_cq);
	to_error(two.far);
	expect_event(IBV_EVENT_QP_LAST_WQE_REACHED, two.far);
	EXPECT(!completes(recv_cq));
	unmake_two(&two);
	EXPECT(!ibv_destroy_srq(srq));
}

/* Keys of receives are those of the queue's protection domain. */
static void other_domain(void)
{
	struct ibv_pd *other = ibv_alloc_pd(ctx);
	struct ibv_mr *far = ibv_reg_mr(other, memory, SLOT, RIGHTS);
	struct ibv_srq *srq = make_srq_of(other, 4);
	struct two two = make_two(srq);
	struct ibv_sge sge = { (uintptr_t)memory, SLOT, far->lkey };
	struct ibv_recv_wr *bad, wr = { .sg_list = &sge, .num_sge = 1 };

	EXPECT(!ibv_post_srq_recv(srq, &wr, &bad));
	send_one(&two);
	sge.lkey = mr->lkey;
	EXPECT(!ibv_post_srq_recv(srq, &wr, &bad));
	post_send(two.near, 8);
	EXPECT(next_wc(recv_cq).status == IBV_WC_LOC_PROT_ERR);
	EXPECT(next_wc(send_cq).status == IBV_WC_REM_OP_ERR);
	expect_event(IBV_EVENT_QP_LAST_WQE_REACHED, two.far);
	unmake_two(&two);
	EXPECT(ibv_dealloc_pd(other));
	EXPECT(!ibv_destroy_srq(srq) && !ibv_dereg_mr(far));
	EXPECT(!ibv_dealloc_pd(other));
}

static struct ibv_srq *shared;
static volatile bool stopped;

/* Posts receives 0 to *arg - 1 as there is room. */
static void *post_all(void *arg)
{
	uint64_t n, count = *(uint64_t *)arg;
	int err;

	for (n = 0; n < count && !stopped;) {
		err = post_srq(shared, n);
		EXPECT(!err || err == ENOMEM);
		n += !err;
	}
	return NULL;
}

struct sender {
	pthread_t thread;
	struct ibv_qp *qp;
	uint64_t count;
};

static void *send_from(void *arg)
{
	struct sender *sender = arg;
	int err;

	while (sender->count) {
		err = try_send(sender->qp, 8);
		EXPECT(!err || err == ENOMEM);
		sender->count -= !err;
	}
	return NULL;
}

/*
 * Sends count messages, a share of them from a thread for each near end, so
 * that far ends take on several CPUs; polls; seen[] counts receives.
 */
static void send_all(struct two *pairs, int nr, uint64_t count, int *seen)
{
	struct sender senders[NR_PAIRS];
	uint64_t done = 0, received = 0;
	double end = now() + 60 * slow();
	struct ibv_wc wc;
	int i;

	for (i = 0; i < nr; i++) {
		senders[i].qp = pairs[i].near;
		senders[i].count = count / nr;
		EXPECT(!pthread_create(&senders[i].thread, NULL, send_from,
				       &senders[i]));
	}
	while (received < count || done < count) {
		EXPECT(now() < end);
		while (ibv_poll_cq(send_cq, 1, &wc)) {
			EXPECT(wc.status == IBV_WC_SUCCESS);
			done++;
		}
		while (ibv_poll_cq(recv_cq, 1, &wc)) {
			EXPECT(wc.status == IBV_WC_SUCCESS);
			EXPECT(wc.wr_id < count && !seen[wc.wr_id]++);
			/* One queue pair takes in order. */
			EXPECT(nr > 1 || wc.wr_id == received);
			received++;
		}
	}
	for (i = 0; i < nr; i++)
		EXPECT(!pthread_join(senders[i].thread, NULL));
}

/* None is lost, none comes twice. */
static void many_takers(void)
{
	static int seen[2000];
	uint64_t count = 2000;
	struct two pairs[NR_PAIRS];
	pthread_t poster;
	int i;

	shared = make_srq(64);
	for (i = 0; i < NR_PAIRS; i++)
		pairs[i] = make_two(shared);
	EXPECT(!pthread_create(&poster, NULL, post_all, &count));
	send_all(pairs, NR_PAIRS, count, seen);
	EXPECT(!pthread_join(poster, NULL));
	for (i = 0; i < NR_PAIRS; i++)
		unmake_two(&pairs[i]);
	EXPECT(!ibv_destroy_srq(shared));
}

static void *resize_on(void *arg)
{
	int *times = arg, n, err;

	for (n = 0; !stopped; n++) {
		err = set_size(shared, n % 2 ? 64 : 512);
		/* It may hold more than the small one has room for. */
		EXPECT(!err || (err == EINVAL && n % 2));
		*times += !err;
		usleep(1000);
	}
	return NULL;
}

static void resize_under_traffic(void)
{
	static int seen[2000];
	uint64_t count = 2000;
	pthread_t poster, resizer;
	int times = 0;
	struct two two;

	shared = make_srq(64);
	two = make_two(shared);
	EXPECT(!pthread_create(&poster, NULL, post_all, &count));
	EXPECT(!pthread_create(&resizer, NULL, resize_on, &times));
	send_all(&two, 1, count, seen);
	stopped = true;
	EXPECT(!pthread_join(poster, NULL) && !pthread_join(resizer, NULL));
	printf("resized %d times\n", times);
	EXPECT(times > 1);
	unmake_two(&two);
	EXPECT(!ibv_destroy_srq(shared));
}

/* The ring that was mapped last. */
static struct frdma_ring_head *newest_ring(void)
{
	unsigned long from, offset, newest = 0;
	struct frdma_ring_head *head = NULL;
	FILE *f = fopen("/proc/self/maps", "r");
	char line[512];

	EXPECT(f);
	while (fgets(line, sizeof(line), f))
		if (strstr(line, "/uverbs") &&
		    sscanf(line, "%lx-%*x %*s %lx", &from, &offset) == 2 &&
		    offset >= newest) {
			newest = offset;
			head = (void *)from;
		}
	fclose(f);
	EXPECT(head);
	return head;
}

/* It breaks those who take from it, and nobody else. */
static void hostile_index(void)
{
	struct ibv_srq *good = make_srq(4), *bad = make_srq(4);
	struct frdma_ring_head *head = newest_ring();
	struct two bystander = make_two(good), victim = make_two(bad);
	int srq_err = 0, qp_fatal = 0, last = 0;

	EXPECT(!post_srq(good, 0) && !post_srq(bad, 1));
	EXPECT(head->prod == 1);
	head->prod = 77;
	post_send(victim.near, 8);
	/* Of two objects, so in no order. */
	while (!srq_err || !qp_fatal || !last) {
		struct ibv_async_event event = next_event();

		srq_err += event.event_type == IBV_EVENT_SRQ_ERR &&
			   event.element.srq == bad;
		qp_fatal += event.event_type == IBV_EVENT_QP_FATAL &&
			    event.element.qp == victim.far;
		last += event.event_type == IBV_EVENT_QP_LAST_WQE_REACHED &&
			event.element.qp == victim.far;
	}
	EXPECT(srq_err + qp_fatal + last == 3);
	expect_no_event();
	EXPECT(set_limit(bad, 1) == EINVAL && set_size(bad, 8) == EINVAL);
	send_one(&bystander);
	unmake_two(&victim);
	unmake_two(&bystander);
	EXPECT(!ibv_destroy_srq(bad) && !ibv_destroy_srq(good));
}

static const struct test_case cases[] = {
	CASE(verbs),
	CASE(limit),
	CASE(empty_then_posted),
	CASE(last_wqe),
	CASE(datagrams),
	CASE(rest_takes_none),
	CASE(other_domain),
	CASE(many_takers),
	CASE(resize_under_traffic),
	CASE(hostile_index),
	{ }
};

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	open_device(argv[1], argv[2]);
	mr = ibv_reg_mr(pd, memory, sizeof(memory), RIGHTS);
	/* Threads send without looking whether anyone polls. */
	send_cq = ibv_create_cq(ctx, 4096, NULL, NULL, 0);
	recv_cq = ibv_create_cq(ctx, 4096, NULL, NULL, 0);
	EXPECT(mr && send_cq && recv_cq);
	return run_case(cases, argv[3]);
}
