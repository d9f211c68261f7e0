// SPDX-License-Identifier: GPL-2.0
/*
 * ATOMIC WRITE and FLUSH: what they do, when, and what is refused.
 * placement.sh builds and runs it:
 *
 *	placement DEVICE GID_INDEX CASE [FILE]
 *	placement DEVICE GID_INDEX serve PORT
 *	placement DEVICE GID_INDEX reach PORT HOST
 *
 * In each pair of queue pairs far has the memory, and near reaches for it. FILE
 * is persistent memory, where a case needs such. The last two are a pair over
 * two machines.
 */
#include <fcntl.h>
#include <netdb.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../lib/pair.h"

#define SIZE	8192

/* libibverbs has no names for them. */
#define DEVICE_FLUSH_PERSISTENT	(1ULL << 39)
#define DEVICE_ATOMIC_WRITE	(1ULL << 40)

#define FLUSH_RIGHTS	(IBV_ACCESS_FLUSH_GLOBAL | IBV_ACCESS_FLUSH_PERSISTENT)

#define OPS	(IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_READ | \
		 IBV_QP_EX_WITH_ATOMIC_WRITE | IBV_QP_EX_WITH_FLUSH)

static unsigned char memory[SIZE] __attribute__((aligned(8)));
static unsigned char local[SIZE] __attribute__((aligned(8)));
static struct ibv_mr *mr, *local_mr;

static uint64_t at(uint32_t offset)
{
	return (uintptr_t)memory + offset;
}

static void post(struct ibv_qp *qp, enum ibv_wr_opcode opcode, uint32_t len,
		 uint64_t addr, uint32_t key, int flags)
{
	struct ibv_sge sge = { (uintptr_t)local, len, local_mr->lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = opcode,
		.send_flags = flags,
		.wr.rdma = { .remote_addr = addr, .rkey = key },
	}, *bad;

	EXPECT(!ibv_post_send(qp, &wr, &bad));
}

/* How an ATOMIC WRITE ends, on a pair for itself. */
static int outcome(uint32_t len, uint64_t addr, uint32_t key, int flags)
{
	struct pair p = make_pair(4);
	int result;

	post(p.near, IBV_WR_ATOMIC_WRITE, len, addr, key, flags);
	result = status(p.near_cq);
	unmake_pair(&p);
	return result;
}

static void device_says_so(void)
{
	struct ibv_device_attr_ex attr;

	EXPECT(!ibv_query_device_ex(ctx, NULL, &attr));
	EXPECT(attr.device_cap_flags_ex & DEVICE_ATOMIC_WRITE);
	EXPECT(attr.device_cap_flags_ex & DEVICE_FLUSH_GLOBAL);
	EXPECT(attr.device_cap_flags_ex & DEVICE_FLUSH_PERSISTENT);
}

static void eight_bytes(void)
{
	struct pair p = make_pair(4);
	struct ibv_wc wc;

	memset(memory, 0x11, SIZE);
	memcpy(local, "one, two", 8);
	post(p.near, IBV_WR_ATOMIC_WRITE, 8, at(8), mr->rkey, 0);
	wc = next_wc(p.near_cq);
	EXPECT(!wc.status && wc.opcode == IBV_WC_ATOMIC_WRITE);
	EXPECT(!memcmp(memory + 8, "one, two", 8));
	EXPECT(memory[7] == 0x11 && memory[16] == 0x11);

	memcpy(local, "inlined.", 8);
	post(p.near, IBV_WR_ATOMIC_WRITE, 8, at(SIZE - 8), mr->rkey,
	     IBV_SEND_INLINE);
	EXPECT(!status(p.near_cq));
	EXPECT(!memcmp(memory + SIZE - 8, "inlined.", 8));
	unmake_pair(&p);
}

static struct ibv_qp_ex *make_ex(struct ibv_cq *near_cq)
{
	struct ibv_qp_init_attr_ex init = {
		.send_cq = near_cq, .recv_cq = near_cq,
		.qp_type = IBV_QPT_RC, .sq_sig_all = 1,
		.cap = { .max_send_wr = 8, .max_recv_wr = 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			     IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = pd,
		.send_ops_flags = OPS,
	};
	struct ibv_qp *qp = ibv_create_qp_ex(ctx, &init);

	EXPECT(qp);
	return ibv_qp_to_qp_ex(qp);
}

/* Far may have other rights than usual. */
static struct ibv_qp_ex *make_builder(struct pair *p, int rights)
{
	struct ibv_qp_attr init = init_attr(), rtr, rts = rts_attr();
	struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };
	struct ibv_qp_ex *ex;

	*p = make_pair(8);
	EXPECT(!ibv_destroy_qp(p->near));
	ex = make_ex(p->near_cq);
	p->near = &ex->qp_base;
	EXPECT(!connect_qp(p->near, p->far->qp_num));

	rtr = rtr_attr(p->near->qp_num);
	init.qp_access_flags = rights;
	EXPECT(!ibv_modify_qp(p->far, &reset, IBV_QP_STATE));
	EXPECT(!ibv_modify_qp(p->far, &init, TO_INIT));
	EXPECT(!ibv_modify_qp(p->far, &rtr, TO_RTR));
	EXPECT(!ibv_modify_qp(p->far, &rts, TO_RTS));
	return ex;
}

static void builder(void)
{
	struct pair p;
	struct ibv_qp_ex *ex = make_builder(&p, RIGHTS);

	memset(local, 0x22, 64);
	ibv_wr_start(ex);
	ibv_wr_rdma_write(ex, mr->rkey, at(64));
	ibv_wr_set_sge(ex, local_mr->lkey, (uintptr_t)local, 64);
	ibv_wr_atomic_write(ex, mr->rkey, at(64), "builder!");
	EXPECT(!ibv_wr_complete(ex));
	EXPECT(!status(p.near_cq));
	EXPECT(next_wc(p.near_cq).opcode == IBV_WC_ATOMIC_WRITE);
	EXPECT(!memcmp(memory + 64, "builder!", 8));
	EXPECT(memory[72] == 0x22 && memory[127] == 0x22);
	unmake_pair(&p);
}

static void refuses(void)
{
	struct ibv_mr *readable = ibv_reg_mr(pd, memory, SIZE,
					     IBV_ACCESS_LOCAL_WRITE |
					     IBV_ACCESS_REMOTE_READ |
					     IBV_ACCESS_REMOTE_ATOMIC);

	EXPECT(readable);
	memset(memory, 0x33, SIZE);
	memset(local, 0x44, 64);
	EXPECT(outcome(8, at(4), mr->rkey, 0) == IBV_WC_REM_INV_REQ_ERR);
	EXPECT(outcome(8, at(SIZE), mr->rkey, 0) == IBV_WC_REM_ACCESS_ERR);
	EXPECT(outcome(8, at(8), mr->rkey ^ 1, 0) == IBV_WC_REM_ACCESS_ERR);
	EXPECT(outcome(8, at(8), readable->rkey, 0) == IBV_WC_REM_ACCESS_ERR);
	EXPECT(outcome(4, at(8), mr->rkey, 0) == IBV_WC_LOC_LEN_ERR);
	EXPECT(outcome(16, at(8), mr->rkey, 0) == IBV_WC_LOC_LEN_ERR);
	EXPECT(outcome(16, at(8), mr->rkey, IBV_SEND_INLINE) ==
	       IBV_WC_LOC_LEN_ERR);
	EXPECT(memory[4] == 0x33 && memory[8] == 0x33 && memory[15] == 0x33);
	EXPECT(!ibv_dereg_mr(readable));
}

/* It is a write to the queue pair, and is answered as READs are. */
static void needs_rights_of_the_queue_pair(void)
{
	struct ibv_qp_attr init = init_attr(), rtr, rts = rts_attr();
	struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };
	struct pair p;
	int i;

	for (i = 0; i < 2; i++) {
		p = make_pair(4);
		rtr = rtr_attr(p.near->qp_num);
		if (i)
			rtr.max_dest_rd_atomic = 0;
		else
			init.qp_access_flags = RIGHTS & ~IBV_ACCESS_REMOTE_WRITE;
		EXPECT(!ibv_modify_qp(p.far, &reset, IBV_QP_STATE));
		EXPECT(!ibv_modify_qp(p.far, &init, TO_INIT));
		EXPECT(!ibv_modify_qp(p.far, &rtr, TO_RTR));
		EXPECT(!ibv_modify_qp(p.far, &rts, TO_RTS));
		post(p.near, IBV_WR_ATOMIC_WRITE, 8, at(8), mr->rkey, 0);
		EXPECT(status(p.near_cq) == IBV_WC_REM_INV_REQ_ERR);
		unmake_pair(&p);
		init = init_attr();
	}
}

#define MESSAGE		2048
#define MESSAGES	300

/*
 * What a CPU sees: the flag never before the message that it stands for. The
 * message is of several packets, the flag lies in front of it.
 */
static void *watch(void *arg)
{
	_Atomic uint64_t *flag = (void *)memory;
	uint64_t seen = 0, value;
	double end = now() + 60 * slow();
	bool *right = arg;
	uint32_t i;

	while (seen < MESSAGES && now() < end) {
		value = *flag;
		if (value == seen)
			continue;
		seen = value;
		/* A later one may be under way; none before this one is. */
		for (i = 0; i < MESSAGE; i += sizeof(value)) {
			memcpy(&value, memory + 64 + i, sizeof(value));
			if (value < seen)
				return NULL;
		}
	}
	*right = seen == MESSAGES;
	return NULL;
}

static void comes_after_what_was_written(void)
{
	struct pair p = make_pair(8);
	bool right = false;
	pthread_t watcher;
	uint64_t n;
	uint32_t i;

	memset(memory, 0, SIZE);
	EXPECT(!pthread_create(&watcher, NULL, watch, &right));
	for (n = 1; n <= MESSAGES; n++) {
		for (i = 0; i < MESSAGE; i += sizeof(n))
			memcpy(local + i, &n, sizeof(n));
		post(p.near, IBV_WR_RDMA_WRITE, MESSAGE, at(64), mr->rkey, 0);
		post(p.near, IBV_WR_ATOMIC_WRITE, 8, at(0), mr->rkey, 0);
		EXPECT(!status(p.near_cq) && !status(p.near_cq));
	}
	EXPECT(!pthread_join(watcher, NULL));
	EXPECT(right);
	unmake_pair(&p);
}

/* How a FLUSH of a part of a region ends, on a pair for itself. */
static int flush_outcome(const struct ibv_mr *of, int rights, uint64_t addr,
			 size_t len, int placement, int select)
{
	struct pair p;
	struct ibv_qp_ex *ex = make_builder(&p, rights);
	struct ibv_wc wc;

	ibv_wr_start(ex);
	ibv_wr_flush(ex, of->rkey, addr, len, placement, select);
	EXPECT(!ibv_wr_complete(ex));
	wc = next_wc(p.near_cq);
	EXPECT(wc.status || wc.opcode == IBV_WC_FLUSH);
	unmake_pair(&p);
	return wc.status;
}

static struct ibv_mr *flushable(void)
{
	struct ibv_mr *of = ibv_reg_mr(pd, memory, SIZE, RIGHTS |
				       IBV_ACCESS_FLUSH_GLOBAL);

	EXPECT(of);
	return of;
}

/* What was written is flushed, in part and all of it. */
static void flush_region(const struct ibv_mr *of)
{
	struct pair p;
	struct ibv_qp_ex *ex = make_builder(&p, RIGHTS | FLUSH_RIGHTS);
	int i;

	memset(local, 0x55, 3000);
	ibv_wr_start(ex);
	ibv_wr_rdma_write(ex, of->rkey, at(1));
	ibv_wr_set_sge(ex, local_mr->lkey, (uintptr_t)local, 3000);
	ibv_wr_flush(ex, of->rkey, at(1), 3000, IBV_FLUSH_GLOBAL,
		     IBV_FLUSH_RANGE);
	ibv_wr_rdma_read(ex, of->rkey, at(1));
	ibv_wr_set_sge(ex, local_mr->lkey, (uintptr_t)local + 4096, 3000);
	ibv_wr_flush(ex, of->rkey, 77, 1 << 30, IBV_FLUSH_GLOBAL, IBV_FLUSH_MR);
	ibv_wr_flush(ex, of->rkey, at(SIZE), 0, IBV_FLUSH_GLOBAL,
		     IBV_FLUSH_RANGE);
	EXPECT(!ibv_wr_complete(ex));
	for (i = 0; i < 5; i++)
		EXPECT(!status(p.near_cq));
	EXPECT(!memcmp(local, local + 4096, 3000));
	EXPECT(!memcmp(local, memory + 1, 3000));
	unmake_pair(&p);
}

static void flush(void)
{
	flush_region(flushable());
}

static void flush_what_is_not_pinned(void)
{
	const int rights = RIGHTS | IBV_ACCESS_ON_DEMAND;
	struct ibv_mr *of = ibv_reg_mr(pd, memory, SIZE, rights |
				       IBV_ACCESS_FLUSH_GLOBAL);

	EXPECT(of);
	/* Nothing of it was brought so far. */
	EXPECT(!flush_outcome(of, RIGHTS | FLUSH_RIGHTS, at(0), SIZE,
			      IBV_FLUSH_GLOBAL, IBV_FLUSH_RANGE));
	flush_region(of);
	errno = 0;
	EXPECT(!ibv_reg_mr(pd, memory, SIZE, rights |
			   IBV_ACCESS_FLUSH_PERSISTENT) && errno == EOPNOTSUPP);
}

static void flush_refuses(void)
{
	const int all = RIGHTS | FLUSH_RIGHTS;
	struct ibv_mr *of = flushable();

	EXPECT(!flush_outcome(of, all, at(0), SIZE, IBV_FLUSH_GLOBAL,
			      IBV_FLUSH_RANGE));
	EXPECT(flush_outcome(of, all, at(1), SIZE, IBV_FLUSH_GLOBAL,
			     IBV_FLUSH_RANGE) == IBV_WC_REM_ACCESS_ERR);
	EXPECT(flush_outcome(mr, all, at(0), 8, IBV_FLUSH_GLOBAL,
			     IBV_FLUSH_RANGE) == IBV_WC_REM_ACCESS_ERR);
	EXPECT(flush_outcome(of, all, at(0), 8, IBV_FLUSH_PERSISTENT,
			     IBV_FLUSH_MR) == IBV_WC_REM_ACCESS_ERR);
	EXPECT(flush_outcome(of, all, at(0), 8, IBV_FLUSH_PERSISTENT |
			     IBV_FLUSH_GLOBAL, IBV_FLUSH_RANGE) ==
	       IBV_WC_REM_ACCESS_ERR);
	EXPECT(flush_outcome(of, RIGHTS, at(0), 8, IBV_FLUSH_GLOBAL,
			     IBV_FLUSH_RANGE) == IBV_WC_REM_INV_REQ_ERR);
	EXPECT(flush_outcome(of, all, at(0), 8, 0, IBV_FLUSH_RANGE) ==
	       IBV_WC_LOC_QP_OP_ERR);
	EXPECT(flush_outcome(of, all, at(0), 8, IBV_FLUSH_GLOBAL, 2) ==
	       IBV_WC_LOC_QP_OP_ERR);
	EXPECT(flush_outcome(of, all, at(0), 1UL << 32, IBV_FLUSH_GLOBAL,
			     IBV_FLUSH_RANGE) == IBV_WC_LOC_LEN_ERR);
}

/* Memory that forgets is not registered for persistence, nor made so later. */
static void memory_that_forgets(void)
{
	struct ibv_mr *of = flushable();

	errno = 0;
	EXPECT(!ibv_reg_mr(pd, memory, SIZE, IBV_ACCESS_LOCAL_WRITE |
			   IBV_ACCESS_FLUSH_PERSISTENT));
	EXPECT(errno == EINVAL);
	EXPECT(ibv_rereg_mr(of, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			    RIGHTS | FLUSH_RIGHTS));
	EXPECT(!flush_outcome(of, RIGHTS | FLUSH_RIGHTS, at(0), SIZE,
			      IBV_FLUSH_GLOBAL, IBV_FLUSH_RANGE));
}

#define FILE_SIZE	(4 << 20)

static const char *file;

static void memory_that_does_not(void)
{
	int rights = RIGHTS | FLUSH_RIGHTS, fd = open(file, O_RDWR), i;
	struct ibv_qp_ex *ex;
	struct ibv_mr *of;
	struct pair p;
	char *kept;

	EXPECT(fd >= 0);
	kept = mmap(NULL, FILE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	EXPECT(kept != MAP_FAILED);
	of = ibv_reg_mr(pd, kept, FILE_SIZE, rights);
	EXPECT(of);

	ex = make_builder(&p, rights);
	memset(local, 0x66, SIZE);
	ibv_wr_start(ex);
	ibv_wr_rdma_write(ex, of->rkey, (uintptr_t)kept + 4000);
	ibv_wr_set_sge(ex, local_mr->lkey, (uintptr_t)local, SIZE);
	ibv_wr_flush(ex, of->rkey, (uintptr_t)kept + 4000, SIZE,
		     IBV_FLUSH_PERSISTENT, IBV_FLUSH_RANGE);
	ibv_wr_flush(ex, of->rkey, 0, 0, IBV_FLUSH_PERSISTENT |
		     IBV_FLUSH_GLOBAL, IBV_FLUSH_MR);
	EXPECT(!ibv_wr_complete(ex));
	for (i = 0; i < 3; i++)
		EXPECT(!status(p.near_cq));
	EXPECT(!memcmp(kept + 4000, local, SIZE));
	EXPECT(flush_outcome(of, rights, (uintptr_t)kept + 1, FILE_SIZE,
			     IBV_FLUSH_PERSISTENT, IBV_FLUSH_RANGE) ==
	       IBV_WC_REM_ACCESS_ERR);
	unmake_pair(&p);
}

#define LONG	(40 << 20)

static long counter(const char *name)
{
	char path[200];
	long n = -1;
	FILE *f;

	snprintf(path, sizeof(path),
		 "/sys/class/infiniband/%s/ports/1/hw_counters/%s",
		 ibv_get_device_name(ctx->device), name);
	usleep(20000);
	f = fopen(path, "r");
	EXPECT(f && fscanf(f, "%ld", &n) == 1);
	fclose(f);
	return n;
}

/* A work item flushes it, and the peer comes again. */
static void memory_that_is_long(void)
{
	int rights = RIGHTS | FLUSH_RIGHTS, fd = open(file, O_RDWR);
	long before = counter("sent_rnr_naks");
	struct ibv_mr *of;
	char *kept;

	EXPECT(fd >= 0);
	kept = mmap(NULL, LONG, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	EXPECT(kept != MAP_FAILED);
	of = ibv_reg_mr(pd, kept, LONG, rights);
	EXPECT(of);
	EXPECT(!flush_outcome(of, rights, 0, 0, IBV_FLUSH_PERSISTENT,
			      IBV_FLUSH_MR));
	EXPECT(counter("sent_rnr_naks") > before);
	before = counter("sent_rnr_naks");
	EXPECT(!flush_outcome(of, rights, (uintptr_t)kept, LONG,
			      IBV_FLUSH_PERSISTENT, IBV_FLUSH_RANGE));
	EXPECT(counter("sent_rnr_naks") > before);
}

/* What one end tells the other. */
struct end {
	union ibv_gid gid;
	uint64_t addr;
	uint32_t rkey;
	uint32_t qpn;
};

/* A field of the path that the environment may set. */
static int field(const char *name, int otherwise)
{
	const char *value = getenv(name);

	return value ? (int)arg_number(value) : otherwise;
}

static void connect_ends(struct ibv_qp *qp, const struct end *peer)
{
	struct ibv_qp_attr init = init_attr(), rtr = rtr_attr(peer->qpn);
	struct ibv_qp_attr rts = rts_attr();

	init.qp_access_flags = RIGHTS | IBV_ACCESS_FLUSH_GLOBAL;
	rtr.ah_attr.grh.dgid = peer->gid;
	rtr.ah_attr.grh.traffic_class = field("TCLASS", 0);
	rtr.ah_attr.grh.flow_label = field("LABEL", 0);
	rtr.ah_attr.grh.hop_limit = field("HOPS", 4);
	rtr.ah_attr.static_rate = field("RATE", 0);
	rtr.ah_attr.sl = field("SL", 0);
	rts.timeout = 18;
	EXPECT(!ibv_modify_qp(qp, &init, TO_INIT));
	EXPECT(!ibv_modify_qp(qp, &rtr, TO_RTR));
	EXPECT(!ibv_modify_qp(qp, &rts, TO_RTS));
}

/* Exchanges addresses, and connects; both are connected on return. */
static struct end meet(int sock, struct ibv_qp *qp)
{
	struct ibv_mr *of = flushable();
	struct end me = { .addr = at(0), .rkey = of->rkey, .qpn = qp->qp_num };
	struct end peer;
	char ready;

	EXPECT(!ibv_query_gid(ctx, 1, gid_index, &me.gid));
	EXPECT(write(sock, &me, sizeof(me)) == sizeof(me));
	EXPECT(recv(sock, &peer, sizeof(peer), MSG_WAITALL) == sizeof(peer));
	connect_ends(qp, &peer);
	EXPECT(write(sock, "r", 1) == 1 && read(sock, &ready, 1) == 1);
	return peer;
}

static int serve(const char *port)
{
	struct ibv_cq *cq = ibv_create_cq(ctx, 8, NULL, NULL, 0);
	struct addrinfo hints = { .ai_family = AF_INET6,
				  .ai_socktype = SOCK_STREAM,
				  .ai_flags = AI_PASSIVE }, *addr;
	int sock, on = 1;
	char end;

	EXPECT(!getaddrinfo(NULL, port, &hints, &addr));
	sock = socket(addr->ai_family, addr->ai_socktype, 0);
	EXPECT(!setsockopt(sock, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)));
	EXPECT(!bind(sock, addr->ai_addr, addr->ai_addrlen));
	EXPECT(!listen(sock, 1));
	sock = accept(sock, NULL, NULL);
	EXPECT(sock >= 0);
	meet(sock, &make_ex(cq)->qp_base);
	EXPECT(!read(sock, &end, 1));
	return 0;
}

#define ROUNDS	20

static int reach(const char *port, const char *host)
{
	struct ibv_cq *cq = ibv_create_cq(ctx, 16, NULL, NULL, 0);
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *addr;
	struct ibv_qp_ex *ex = make_ex(cq);
	int flushes = field("FLUSH", 1);
	struct end peer;
	uint64_t round;
	int sock, i;

	EXPECT(!getaddrinfo(host, port, &hints, &addr));
	sock = socket(addr->ai_family, addr->ai_socktype, 0);
	EXPECT(!connect(sock, addr->ai_addr, addr->ai_addrlen));
	peer = meet(sock, &ex->qp_base);

	for (round = 1; round <= ROUNDS; round++) {
		memset(local, round, 3000);
		memcpy(local + 8, &round, 8);
		ibv_wr_start(ex);
		ibv_wr_rdma_write(ex, peer.rkey, peer.addr);
		ibv_wr_set_sge(ex, local_mr->lkey, (uintptr_t)local, 3000);
		ibv_wr_atomic_write(ex, peer.rkey, peer.addr + 8, &round);
		if (flushes)
			ibv_wr_flush(ex, peer.rkey, peer.addr, 3000,
				     IBV_FLUSH_GLOBAL, IBV_FLUSH_RANGE);
		ibv_wr_rdma_read(ex, peer.rkey, peer.addr);
		ibv_wr_set_sge(ex, local_mr->lkey, (uintptr_t)local + 4096,
			       3000);
		EXPECT(!ibv_wr_complete(ex));
		for (i = 0; i < 3 + flushes; i++)
			EXPECT(!status(cq));
		EXPECT(!memcmp(local, local + 4096, 3000));
	}
	return 0;
}

static const struct test_case cases[] = {
	CASE(device_says_so),
	CASE(eight_bytes),
	CASE(builder),
	CASE(refuses),
	CASE(needs_rights_of_the_queue_pair),
	CASE(comes_after_what_was_written),
	CASE(flush),
	CASE(flush_refuses),
	CASE(flush_what_is_not_pinned),
	CASE(memory_that_forgets),
	CASE(memory_that_does_not),
	CASE(memory_that_is_long),
	{ }
};

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	file = argv[4];
	open_device(argv[1], argv[2]);
	mr = ibv_reg_mr(pd, memory, SIZE, RIGHTS);
	local_mr = ibv_reg_mr(pd, local, SIZE, IBV_ACCESS_LOCAL_WRITE);
	EXPECT(mr && local_mr);

	if (!strcmp(argv[3], "serve"))
		return serve(argv[4]);
	if (!strcmp(argv[3], "reach"))
		return reach(argv[4], argv[5]);
	return run_case(cases, argv[3]);
}
