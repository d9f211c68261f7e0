// SPDX-License-Identifier: GPL-2.0
/*
 * Many connections by rdma_cm at a time, each of which is used once.
 *
 *	connections serve ADDRESS TOTAL		echoes until so many have ended
 *	connections open ADDRESS COUNT ROUNDS	COUNT at a time, ROUNDS times
 *
 * Every connection has a queue pair, a receive request and 64 bytes of its
 * own; all share a completion queue.
 */
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdbool.h>
#include <unistd.h>

#include <rdma/rdma_cma.h>

#include "../lib/pair.h"

#define PORT		"7500"
#define MESSAGE_LEN	64

/*
 * Connections that do something at a time. Between emulated guests on a busy
 * host some hundred packets pass in a second. What rdma_cm sets is a timeout
 * of half a second, which may be stretched to four times that (IBTA
 * 9.7.6.1.3): a thousand messages at once are sent again before they have all
 * been answered, and what is sent again keeps the answers back until no
 * retries are left.
 */
#define BUSY_MAX	64

/** struct connection - one of them, by number in the array of all */
struct connection {
	struct rdma_cm_id *id;
	bool done;
};

static struct rdma_event_channel *channel;
static struct ibv_cq *cq;
static struct ibv_mr *mr;
static struct connection *all;
static char *memory;
static uint32_t capacity;

static char *memory_of(uint32_t n, bool recv)
{
	return memory + (2 * n + recv) * MESSAGE_LEN;
}

static uint32_t number_of(const struct rdma_cm_id *id)
{
	return (uintptr_t)id->context;
}

/* A completion that failed says how far the others were. */
static void expect_success(const struct ibv_wc *wc, uint32_t left)
{
	if (wc->status == IBV_WC_SUCCESS)
		return;
	printf("connection %u: %s, vendor error %u, %u completions to come\n",
	       (uint32_t)wc->wr_id, ibv_wc_status_str(wc->status),
	       wc->vendor_err, left);
	exit(1);
}

/* What is common to all connections exists once there is a device. */
static void set_up(struct ibv_context *verbs)
{
	size_t len = (size_t)capacity * 2 * MESSAGE_LEN;

	if (cq)
		return;
	pd = ibv_alloc_pd(verbs);
	cq = ibv_create_cq(verbs, capacity * 2, NULL, NULL, 0);
	memory = aligned_alloc(4096, (len + 4095) & ~4095UL);
	EXPECT(pd && cq && memory);
	mr = ibv_reg_mr(pd, memory, len, IBV_ACCESS_LOCAL_WRITE);
	EXPECT(mr);
}

static void tear_down(void)
{
	if (!cq)
		return;
	EXPECT(!ibv_dereg_mr(mr));
	EXPECT(!ibv_destroy_cq(cq));
	EXPECT(!ibv_dealloc_pd(pd));
	free(memory);
	cq = NULL;
}

static void post_recv(struct rdma_cm_id *id)
{
	uint32_t n = number_of(id);
	struct ibv_sge sge = {
		.addr = (uintptr_t)memory_of(n, true), .length = MESSAGE_LEN,
		.lkey = mr->lkey,
	};
	struct ibv_recv_wr wr = { .wr_id = n, .sg_list = &sge, .num_sge = 1 };
	struct ibv_recv_wr *bad;

	EXPECT(!ibv_post_recv(id->qp, &wr, &bad));
}

static void post_send(struct rdma_cm_id *id)
{
	uint32_t n = number_of(id);
	struct ibv_sge sge = {
		.addr = (uintptr_t)memory_of(n, false), .length = MESSAGE_LEN,
		.lkey = mr->lkey,
	};
	struct ibv_send_wr wr = {
		.wr_id = n, .sg_list = &sge, .num_sge = 1,
		.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED,
	};
	struct ibv_send_wr *bad;

	EXPECT(!ibv_post_send(id->qp, &wr, &bad));
}

static void make_qp_of(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};

	set_up(id->verbs);
	init.send_cq = cq;
	init.recv_cq = cq;
	EXPECT(!rdma_create_qp(id, pd, &init));
	post_recv(id);
}

static struct rdma_conn_param param(void)
{
	return (struct rdma_conn_param) {
		.responder_resources = 1, .initiator_depth = 1,
		.retry_count = 7, .rnr_retry_count = 7,
	};
}

static void end_connection(uint32_t n)
{
	rdma_destroy_qp(all[n].id);
	EXPECT(!rdma_destroy_id(all[n].id));
	all[n].id = NULL;
}

static uint32_t free_number(void)
{
	static uint32_t next;
	uint32_t tries;

	for (tries = 0; tries < capacity; tries++)
		if (!all[next++ % capacity].id)
			return (next - 1) % capacity;
	EXPECT(!"more connections than there may be");
	return 0;
}

/* The next event, or NULL if there is none now; the caller acknowledges. */
static struct rdma_cm_event *next_event(void)
{
	struct rdma_cm_event *event;

	if (!rdma_get_cm_event(channel, &event))
		return event;
	EXPECT(errno == EAGAIN);
	return NULL;
}

static void wait_for_event(int ms)
{
	struct pollfd fd = { .fd = channel->fd, .events = POLLIN };

	poll(&fd, 1, ms);
}

static struct addrinfo *address(const char *name)
{
	struct addrinfo *found, hints = { .ai_socktype = SOCK_STREAM };

	EXPECT(!getaddrinfo(name, PORT, &hints, &found));
	return found;
}

static void open_channel(uint32_t count)
{
	capacity = count;
	all = calloc(count, sizeof(*all));
	channel = rdma_create_event_channel();
	EXPECT(all && channel);
	EXPECT(!fcntl(channel->fd, F_SETFL, O_NONBLOCK));
}

/*
 * The side that waits
 */

static void serve_request(struct rdma_cm_id *id)
{
	struct rdma_conn_param accept = param();
	uint32_t n = free_number();

	all[n].id = id;
	id->context = (void *)(uintptr_t)n;
	make_qp_of(id);
	EXPECT(!rdma_accept(id, &accept));
}

/* Returns how many connections have ended. */
static int serve_event(void)
{
	struct rdma_cm_event *event = next_event();
	struct rdma_cm_id *id;
	int type;

	if (!event)
		return 0;
	id = event->id;
	type = event->event;
	EXPECT(!rdma_ack_cm_event(event));

	switch (type) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		serve_request(id);
		return 0;
	case RDMA_CM_EVENT_ESTABLISHED:
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		return 0;
	case RDMA_CM_EVENT_DISCONNECTED:
		rdma_disconnect(id);
		end_connection(number_of(id));
		return 1;
	default:
		printf("event %s\n", rdma_event_str(type));
		exit(1);
	}
}

static void serve_completions(void)
{
	struct ibv_wc wc;

	while (cq && ibv_poll_cq(cq, 1, &wc) == 1) {
		if (wc.status == IBV_WC_WR_FLUSH_ERR)
			continue;
		expect_success(&wc, 0);
		if (wc.opcode != IBV_WC_RECV)
			continue;
		memcpy(memory_of(wc.wr_id, false), memory_of(wc.wr_id, true),
		       MESSAGE_LEN);
		post_send(all[wc.wr_id].id);
	}
}

static void serve(const char *name, uint32_t total)
{
	struct rdma_cm_id *listener;
	uint32_t ended = 0;

	open_channel(4096);
	EXPECT(!rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP));
	EXPECT(!rdma_bind_addr(listener, address(name)->ai_addr));
	EXPECT(!rdma_listen(listener, 1024));
	while (ended < total) {
		serve_completions();
		wait_for_event(1);
		ended += serve_event();
	}
	EXPECT(!rdma_destroy_id(listener));
	tear_down();
	printf("%u ended\n", ended);
}

/*
 * The side that connects
 */

/** struct progress - of a round: how many connections got how far */
struct progress {
	uint32_t begun;
	uint32_t established;
	uint32_t ended;
};

static void open_one(uint32_t n, struct addrinfo *to)
{
	EXPECT(!rdma_create_id(channel, &all[n].id, (void *)(uintptr_t)n,
			       RDMA_PS_TCP));
	all[n].done = false;
	EXPECT(!rdma_resolve_addr(all[n].id, NULL, to->ai_addr, 5000));
}

static void open_event(struct progress *p)
{
	struct rdma_cm_event *event = next_event();
	struct rdma_conn_param connect = param();
	struct rdma_cm_id *id;
	int type, status;

	if (!event)
		return;
	id = event->id;
	type = event->event;
	status = event->status;
	EXPECT(!rdma_ack_cm_event(event));

	switch (type) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		EXPECT(!rdma_resolve_route(id, 5000));
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		make_qp_of(id);
		EXPECT(!rdma_connect(id, &connect));
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		p->established++;
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		p->ended++;
		break;
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		break;
	default:
		printf("event %s, status %d, after %u connections\n",
		       rdma_event_str(type), status, p->established);
		exit(1);
	}
}

static void connect_all(struct progress *p, struct addrinfo *to)
{
	double patience = now() + 100 * slow();

	while (p->established < capacity) {
		if (p->begun < capacity &&
		    p->begun - p->established < BUSY_MAX)
			open_one(p->begun++, to);
		else
			wait_for_event(100);
		open_event(p);
		EXPECT(now() < patience);
	}
}

/* Waits for that many completions. */
static void poll_for(uint32_t left)
{
	double patience = now() + 60 * slow();
	struct ibv_wc wc;

	while (left) {
		EXPECT(now() < patience);
		/* Who polls without a pause takes the time of the other guest. */
		if (ibv_poll_cq(cq, 1, &wc) != 1) {
			usleep(1000);
			continue;
		}
		expect_success(&wc, left);
		left--;
	}
}

/* What each sends, while all are open, comes back to it. */
static void use_all(void)
{
	uint32_t n, busy = 0;

	for (n = 0; n < capacity; n++) {
		memset(memory_of(n, false), n * 7 + 1, MESSAGE_LEN);
		memset(memory_of(n, true), 0, MESSAGE_LEN);
		post_send(all[n].id);
		if (++busy == BUSY_MAX || n + 1 == capacity) {
			poll_for(2 * busy);
			busy = 0;
		}
	}
	for (n = 0; n < capacity; n++)
		EXPECT(!memcmp(memory_of(n, true), memory_of(n, false),
			       MESSAGE_LEN));
}

static void close_all(struct progress *p)
{
	double patience = now() + 100 * slow();
	struct ibv_wc wc;
	uint32_t n;

	for (n = 0; n < capacity; n++) {
		EXPECT(!rdma_disconnect(all[n].id));
		open_event(p);
	}
	while (p->ended < capacity) {
		wait_for_event(100);
		open_event(p);
		EXPECT(now() < patience);
	}
	for (n = 0; n < capacity; n++)
		end_connection(n);
	while (ibv_poll_cq(cq, 1, &wc) == 1)
		EXPECT(wc.status == IBV_WC_WR_FLUSH_ERR);
}

static void open_all(const char *name, uint32_t count, uint32_t rounds)
{
	struct addrinfo *to = address(name);
	double begin, connected, used;
	uint32_t round;

	open_channel(count);
	for (round = 0; round < rounds; round++) {
		struct progress p = { };

		begin = now();
		connect_all(&p, to);
		connected = now();
		use_all();
		used = now();
		close_all(&p);
		printf("%u connected in %.3f s, used in %.3f s, closed in %.3f s\n",
		       count, connected - begin, used - connected,
		       now() - used);
	}
	tear_down();
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	EXPECT(argc >= 4);
	if (!strcmp(argv[1], "serve"))
		serve(argv[2], arg_number(argv[3]));
	else
		open_all(argv[2], arg_number(argv[3]), arg_number(argv[4]));
	return 0;
}
