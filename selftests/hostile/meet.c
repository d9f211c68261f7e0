// SPDX-License-Identifier: GPL-2.0
/*
 * Connections of rdma_cm over a network that may do anything to them. Each is
 * made, used and ended, well or for a reason, and nothing of that hangs.
 *
 *	meet serve ADDRESS		echoes until SIGTERM
 *	meet open ADDRESS COUNT SECONDS RETRIES
 *		opens COUNT at a time, one after the other, for so long, and says
 *		how many were well, and how many for what reason not. Those that
 *		are under way in the end are left as they are.
 */
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

#include <rdma/rdma_cma.h>

#include "../lib/pair.h"

#define PORT		"7501"
#define BYTES		4000
#define ROUNDS		8
#define SERVED_MAX	128

/*
 * Seconds after which something hangs: sixteen messages of the connection
 * manager, of 4.3 s each, go unanswered before it gives up, which an echo may
 * wait for, too; eight packets of a queue pair, at half a second, stretched to
 * four times that at most; and whoever ends something waits for nobody.
 */
#define EVENT_S		80
#define SEND_S		25
#define END_S		5

/**
 * struct meeting - one end of a connection, and what it sends and receives
 * @failed: retries are spent; the peer has to be told
 */
struct meeting {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	bool failed;
	unsigned char sent[BYTES], received[BYTES];
};

static const char left[] = "left";
static volatile sig_atomic_t stopped;
static double deadline;
static int retries;

static void stop(int sig)
{
	(void)sig;
	stopped = 1;
}

static bool is_over(void)
{
	return stopped || now() > deadline;
}

static struct rdma_event_channel *open_channel(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();

	EXPECT(channel && !fcntl(channel->fd, F_SETFL, O_NONBLOCK));
	return channel;
}

static struct addrinfo *address(const char *name)
{
	struct addrinfo *found, hints = { .ai_socktype = SOCK_STREAM };

	EXPECT(!getaddrinfo(name, PORT, &hints, &found));
	return found;
}

static struct rdma_conn_param param(void)
{
	return (struct rdma_conn_param) {
		.responder_resources = 1, .initiator_depth = 1,
		.retry_count = retries, .rnr_retry_count = 7,
	};
}

static void post_recv(struct meeting *m)
{
	struct ibv_sge sge = { (uintptr_t)m->received, BYTES, m->mr->lkey };
	struct ibv_recv_wr *bad, wr = { .sg_list = &sge, .num_sge = 1 };

	EXPECT(!ibv_post_recv(m->id->qp, &wr, &bad));
}

static void post_send(struct meeting *m)
{
	struct ibv_sge sge = { (uintptr_t)m->sent, BYTES, m->mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	};

	EXPECT(!ibv_post_send(m->id->qp, &wr, &bad));
}

/* False if there is nobody to connect to any more. */
static bool prepare(struct meeting *m)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = ROUNDS, .max_recv_wr = 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};

	m->cq = ibv_create_cq(m->id->verbs, 2 * ROUNDS, NULL, NULL, 0);
	m->mr = ibv_reg_mr(m->id->pd, m, sizeof(*m), IBV_ACCESS_LOCAL_WRITE);
	EXPECT(m->cq && m->mr);
	init.send_cq = m->cq;
	init.recv_cq = m->cq;
	if (rdma_create_qp(m->id, m->id->pd, &init))
		return false;
	post_recv(m);
	return true;
}

/* In whatever state it is. */
static void forget(struct meeting *m)
{
	double begin = now();

	if (m->id->qp)
		rdma_destroy_qp(m->id);
	EXPECT(!m->mr || !ibv_dereg_mr(m->mr));
	EXPECT(!m->cq || !ibv_destroy_cq(m->cq));
	EXPECT(!rdma_destroy_id(m->id));
	EXPECT(now() < begin + END_S * slow());
}

/*
 * The side that connects. What can go wrong returns NULL, or why it did.
 */

static const char *await_event(struct meeting *m,
			       enum rdma_cm_event_type wanted)
{
	struct pollfd fd = { .fd = m->channel->fd, .events = POLLIN };
	double end = now() + EVENT_S * slow();
	struct rdma_cm_event *event;
	enum rdma_cm_event_type got;

	while (rdma_get_cm_event(m->channel, &event)) {
		EXPECT(errno == EAGAIN && now() < end);
		if (is_over())
			return left;
		poll(&fd, 1, 100);
	}
	got = event->event;
	EXPECT(!rdma_ack_cm_event(event));
	return got == wanted ? NULL : rdma_event_str(got);
}

/* What the other side does: it has given up. */
static const char *other_event(struct meeting *m)
{
	struct rdma_cm_event *event;
	const char *why;

	if (rdma_get_cm_event(m->channel, &event))
		return NULL;
	why = rdma_event_str(event->event);
	EXPECT(!rdma_ack_cm_event(event));
	return why;
}

static const char *await_completion(struct meeting *m,
				    enum ibv_wc_opcode *opcode, double seconds)
{
	double end = now() + seconds * slow();
	const char *why;
	struct ibv_wc wc;

	while (!ibv_poll_cq(m->cq, 1, &wc)) {
		EXPECT(now() < end);
		why = is_over() ? left : other_event(m);
		if (why)
			return why;
		usleep(500);
	}
	*opcode = wc.opcode;
	return wc.status ? ibv_wc_status_str(wc.status) : NULL;
}

/* The message was sent, and its echo is there, in any order. */
static const char *await_echo(struct meeting *m)
{
	enum ibv_wc_opcode first;
	const char *why = await_completion(m, &first, SEND_S);

	if (why)
		return why;
	return await_completion(m, &first,
				first == IBV_WC_SEND ? EVENT_S : SEND_S);
}

static const char *resolve(struct meeting *m, struct addrinfo *to)
{
	const char *why;

	if (rdma_resolve_addr(m->id, NULL, to->ai_addr, 3000))
		return strerror(errno);
	why = await_event(m, RDMA_CM_EVENT_ADDR_RESOLVED);
	if (why)
		return why;
	if (rdma_resolve_route(m->id, 3000))
		return strerror(errno);
	return await_event(m, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

/* What is sent comes back. */
static const char *use(struct meeting *m)
{
	const char *why;
	int round;

	for (round = 0; round < ROUNDS; round++) {
		fill(m->sent, BYTES, round * 2 + 1);
		post_send(m);
		why = await_echo(m);
		if (why)
			return why;
		EXPECT(is_filled(m->received, BYTES, round * 2 + 1));
		post_recv(m);
	}
	return NULL;
}

static const char *converse(struct meeting *m, struct addrinfo *to)
{
	struct rdma_conn_param connect = param();
	const char *why = resolve(m, to);

	if (why)
		return why;
	if (!prepare(m) || rdma_connect(m->id, &connect))
		return strerror(errno);
	why = await_event(m, RDMA_CM_EVENT_ESTABLISHED) ?: use(m);
	if (why)
		return why;
	if (rdma_disconnect(m->id))
		return strerror(errno);
	return await_event(m, RDMA_CM_EVENT_DISCONNECTED);
}

static const char *meet(struct addrinfo *to)
{
	struct meeting m = { .channel = open_channel() };
	const char *why;

	EXPECT(!rdma_create_id(m.channel, &m.id, &m, RDMA_PS_TCP));
	why = converse(&m, to);
	forget(&m);
	rdma_destroy_event_channel(m.channel);
	return why;
}

/** struct ending - how often meetings have ended for that reason */
struct ending {
	const char *why;
	unsigned int times;
};

static struct ending endings[32] = { { "well", 0 } };
static pthread_mutex_t endings_lock = PTHREAD_MUTEX_INITIALIZER;

static void count(const char *why)
{
	struct ending *e = endings;

	pthread_mutex_lock(&endings_lock);
	while (e->why && strcmp(e->why, why))
		EXPECT(++e < endings + sizeof(endings) / sizeof(endings[0]));
	e->why = strdup(why);
	e->times++;
	pthread_mutex_unlock(&endings_lock);
}

static void *meet_again(void *to)
{
	const char *why;

	while (!is_over()) {
		why = meet(to);
		count(why ?: "well");
		/* What fails at once would fail often. */
		if (why)
			usleep(20000);
	}
	return NULL;
}

static void meet_many(const char *name, int nr, int seconds)
{
	struct addrinfo *to = address(name);
	struct ending *e = endings;
	pthread_t threads[nr];
	int i;

	deadline = now() + seconds;
	for (i = 0; i < nr; i++)
		EXPECT(!pthread_create(&threads[i], NULL, meet_again, to));
	for (i = 0; i < nr; i++)
		EXPECT(!pthread_join(threads[i], NULL));
	printf("%u well", e->times);
	while ((++e)->why)
		printf(", %u %s", e->times, e->why);
	printf("\n");
}

/*
 * The side that is connected to
 */

static struct meeting *served[SERVED_MAX];
static unsigned int answered;

static void serve_end(struct meeting *m)
{
	int i;

	for (i = 0; served[i] != m; i++)
		;
	served[i] = NULL;
	forget(m);
	free(m);
}

static void serve_request(struct rdma_cm_id *id)
{
	struct rdma_conn_param accept = param();
	struct meeting *m;
	int i;

	for (i = 0; i < SERVED_MAX - 1 && served[i]; i++)
		;
	if (served[i]) {
		rdma_reject(id, NULL, 0);
		EXPECT(!rdma_destroy_id(id));
		return;
	}
	m = calloc(1, sizeof(*m));
	EXPECT(m);
	m->id = id;
	id->context = m;
	served[i] = m;
	if (!prepare(m) || rdma_accept(id, &accept)) {
		rdma_reject(id, NULL, 0);
		serve_end(m);
	}
}

static void serve_event(struct rdma_event_channel *channel)
{
	struct rdma_cm_event *event;
	enum rdma_cm_event_type type;
	struct rdma_cm_id *id;
	struct meeting *m;

	if (rdma_get_cm_event(channel, &event))
		return;
	type = event->event;
	id = event->id;
	m = id->context;
	EXPECT(!rdma_ack_cm_event(event));
	switch (type) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		serve_request(id);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		if (m->failed)
			rdma_disconnect(id);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		rdma_disconnect(id);
		serve_end(m);
		break;
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_REJECTED:
		serve_end(m);
		break;
	default:
		break;
	}
}

/*
 * What has failed says so to its peer, and waits for its answer: now, or when
 * it is known that the peer takes them for connected.
 */
static void serve_completions(struct meeting *m)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(m->cq, 1, &wc) == 1) {
		if (wc.status == IBV_WC_WR_FLUSH_ERR)
			continue;
		if (wc.status) {
			m->failed = true;
			rdma_disconnect(m->id);
			continue;
		}
		if (wc.opcode != IBV_WC_RECV)
			continue;
		memcpy(m->sent, m->received, BYTES);
		post_recv(m);
		post_send(m);
		answered++;
	}
}

static void serve(const char *name)
{
	struct rdma_event_channel *channel = open_channel();
	struct pollfd fd = { .fd = channel->fd, .events = POLLIN };
	struct rdma_cm_id *listener;
	int i;

	EXPECT(!rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP));
	EXPECT(!rdma_bind_addr(listener, address(name)->ai_addr));
	EXPECT(!rdma_listen(listener, 64));
	while (!stopped) {
		poll(&fd, 1, 1);
		serve_event(channel);
		for (i = 0; i < SERVED_MAX; i++)
			if (served[i])
				serve_completions(served[i]);
	}
	for (i = 0; i < SERVED_MAX; i++)
		if (served[i])
			serve_end(served[i]);
	EXPECT(!rdma_destroy_id(listener));
	rdma_destroy_event_channel(channel);
	printf("%u answered\n", answered);
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	signal(SIGTERM, stop);
	retries = 7;
	if (argc == 3 && !strcmp(argv[1], "serve")) {
		serve(argv[2]);
		return 0;
	}
	if (argc != 6 || strcmp(argv[1], "open"))
		return 2;
	retries = arg_number(argv[5]);
	meet_many(argv[2], arg_number(argv[3]), arg_number(argv[4]));
	return 0;
}
