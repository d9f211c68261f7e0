// SPDX-License-Identifier: GPL-2.0
/*
 * An unprivileged user who may open the device, and knows more of another
 * process than he should: its handles, its keys, its addresses, its queue pair
 * numbers. stranger.sh builds and runs it:
 *
 *	stranger DEVICE GID_INDEX CASE
 */
#include <fcntl.h>
#include <grp.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rdma/ib_user_verbs.h>

#include "../lib/doorbell.h"
#include "../lib/pair.h"
#include "../lib/bystander.h"

#define PAGE		4096
#define NOBODY		65534
#define CONTROLLED	0x80010000	/* the Q_Key of the GSI */
#define GSI		1
#define QKEY		0x1234
#define SECRET		"what nobody else knows"
#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))

#define REFUSED(call, err) do {						\
	errno = 0;							\
	EXPECT(!(call) && errno == (err));				\
} while (0)

/* Of the privileged process, and known to the other one. */
static struct facts {
	unsigned char memory[PAGE] __attribute__((aligned(PAGE)));
	uint64_t addr;
	uint32_t lkey, rkey, qpn, ud_qpn;
} *facts;

static int secret_file;
static struct ibv_mr *mr;
static unsigned char *memory;

static void become_nobody(void)
{
	EXPECT(!setgroups(0, NULL));
	EXPECT(!setresgid(NOBODY, NOBODY, NOBODY));
	EXPECT(!setresuid(NOBODY, NOBODY, NOBODY));
}

/*
 * Another's objects
 */

/* A command whose first word, or second but one, is a handle. */
static ssize_t command_on(uint32_t number, uint32_t handle, size_t in,
			  size_t out)
{
	unsigned char answer[256];
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		uint32_t words[64];
	} command = {
		.hdr = { number, (sizeof(command.hdr) + in) / 4, out / 4 },
	};
	uint64_t response = (uintptr_t)answer;

	if (out)
		memcpy(command.words, &response, sizeof(response));
	command.words[out ? 2 : 0] = handle;
	return write(ctx->cmd_fd, &command, sizeof(command.hdr) + in);
}

/*
 * Handles mean something in their own file only: here nothing has been made,
 * but for a protection domain and a region.
 */
static void handles_of_others(void)
{
	static const struct {
		uint32_t number;
		size_t in, out;
	} commands[] = {
		{ IB_USER_VERBS_CMD_DESTROY_QP,
		  sizeof(struct ib_uverbs_destroy_qp),
		  sizeof(struct ib_uverbs_destroy_qp_resp) },
		{ IB_USER_VERBS_CMD_DESTROY_CQ,
		  sizeof(struct ib_uverbs_destroy_cq),
		  sizeof(struct ib_uverbs_destroy_cq_resp) },
		{ IB_USER_VERBS_CMD_QUERY_QP,
		  sizeof(struct ib_uverbs_query_qp),
		  sizeof(struct ib_uverbs_query_qp_resp) },
		{ IB_USER_VERBS_CMD_RESIZE_CQ,
		  sizeof(struct ib_uverbs_resize_cq),
		  sizeof(struct ib_uverbs_resize_cq_resp) },
		{ IB_USER_VERBS_CMD_DEREG_MR,
		  sizeof(struct ib_uverbs_dereg_mr), 0 },
		{ IB_USER_VERBS_CMD_DEALLOC_PD,
		  sizeof(struct ib_uverbs_dealloc_pd), 0 },
	};
	uint32_t handle;
	size_t i;

	for (handle = 0; handle < 300; handle++) {
		if (handle == pd->handle || handle == mr->handle)
			continue;
		for (i = 0; i < COUNT(commands); i++)
			EXPECT(command_on(commands[i].number, handle,
					  commands[i].in,
					  commands[i].out) < 0 &&
			       (errno == EINVAL || errno == ENOENT));
		EXPECT(ring_doorbell_of(ctx->cmd_fd, handle) &&
		       errno == ENOENT);
	}
}

static int reach(enum ibv_wr_opcode opcode, uint64_t addr, uint32_t lkey,
		 uint64_t remote, uint32_t rkey)
{
	struct ibv_sge sge = { addr, 64, lkey };
	struct ibv_send_wr wr = {
		.opcode = opcode, .wr.rdma = { remote, rkey },
	};
	struct pair p = make_pair(4);
	int how = post_wait(p.near, p.near_cq, wr, sge);

	unmake_pair(&p);
	return how;
}

/* Keys open nothing in another's protection domain. */
static void keys_of_others(void)
{
	uint64_t own = (uintptr_t)memory;
	uint32_t key;

	for (key = 0; key < 3; key++) {
		EXPECT(reach(IBV_WR_RDMA_READ, own, mr->lkey, facts->addr,
			     facts->rkey + key) == IBV_WC_REM_ACCESS_ERR);
		EXPECT(reach(IBV_WR_RDMA_WRITE, own, mr->lkey, facts->addr,
			     facts->rkey + key) == IBV_WC_REM_ACCESS_ERR);
		EXPECT(reach(IBV_WR_RDMA_WRITE, facts->addr,
			     facts->lkey + key, own, mr->rkey) ==
		       IBV_WC_LOC_PROT_ERR);
		EXPECT(reach(IBV_WR_RDMA_READ, facts->addr,
			     facts->lkey + key, own, mr->rkey) ==
		       IBV_WC_LOC_PROT_ERR);
	}
	EXPECT(!memmem(memory, PAGE, SECRET, strlen(SECRET)));
}

static void windows_on_others(void)
{
	struct ibv_cq *cq = ibv_create_cq(ctx, 8, NULL, NULL, 0);
	struct ibv_qp *qp = make_qp(cq, 4);
	struct ibv_mw *mw = ibv_alloc_mw(pd, IBV_MW_TYPE_2);
	struct ibv_mr theirs = *mr;
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_BIND_MW,
		.bind_mw = {
			.mw = mw, .rkey = ibv_inc_rkey(mw->rkey),
			.bind_info = {
				.mr = &theirs, .addr = facts->addr,
				.length = 64,
				.mw_access_flags = IBV_ACCESS_REMOTE_READ,
			},
		},
	};

	theirs.lkey = facts->lkey;
	EXPECT(cq && qp && mw && !connect_qp(qp, qp->qp_num));
	EXPECT(!ibv_post_send(qp, &wr, &bad));
	EXPECT(status(cq) != IBV_WC_SUCCESS);
	EXPECT(!ibv_dealloc_mw(mw) && !ibv_destroy_qp(qp));
	EXPECT(!ibv_destroy_cq(cq));
}

/*
 * A connection of his own to a queue pair that is connected to another. There
 * is one chance in 16 million that a packet has the right number.
 */
static void connections_of_others(void)
{
	struct ibv_cq *cq = ibv_create_cq(ctx, 8, NULL, NULL, 0);
	struct ibv_sge sge = { (uintptr_t)memory, 64, mr->lkey };
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = { facts->addr, facts->rkey },
	};
	struct ibv_qp_attr rts, rtr, init = init_attr();
	struct ibv_qp *qp;
	int i;

	srandom(getpid());
	for (i = 0; i < 3; i++) {
		qp = make_qp(cq, 4);
		EXPECT(qp);
		rtr = rtr_attr(facts->qpn);
		rts = rts_attr();
		rts.sq_psn = random() & 0xffffff;
		rts.retry_cnt = 1;
		EXPECT(!ibv_modify_qp(qp, &init, TO_INIT));
		EXPECT(!ibv_modify_qp(qp, &rtr, TO_RTR));
		EXPECT(!ibv_modify_qp(qp, &rts, TO_RTS));
		EXPECT(post_wait(qp, cq, wr, sge) != IBV_WC_SUCCESS);
		EXPECT(!ibv_destroy_qp(qp));
	}
	EXPECT(!ibv_destroy_cq(cq));
}

/*
 * Memory that is not his
 */

static void memory_of_others(void)
{
	static const uint64_t kernel[] = {
		0xffff888000000000, 0xffffffff81000000, 0xffffc90000000000,
		-8192ULL, 0x800000000000, 0x7ffffffff000,
	};
	unsigned char *file;
	size_t i;

	for (i = 0; i < COUNT(kernel); i++)
		REFUSED(ibv_reg_mr(pd, (void *)kernel[i], 4096,
				   IBV_ACCESS_LOCAL_WRITE), EFAULT);
	/* What the other process has at its address is nothing here. */
	EXPECT(!munmap(facts, sizeof(*facts)));
	REFUSED(ibv_reg_mr(pd, facts, 4096, IBV_ACCESS_REMOTE_READ), EFAULT);

	/* A file that he may read: pinned for writing, and written on demand. */
	file = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, secret_file, 0);
	EXPECT(file != MAP_FAILED);
	REFUSED(ibv_reg_mr(pd, file, PAGE, RIGHTS), EFAULT);
}

static void file_is_only_read(void)
{
	unsigned char *file = mmap(NULL, PAGE, PROT_READ, MAP_SHARED,
				   secret_file, 0);
	uint64_t own = (uintptr_t)memory, to = (uintptr_t)file;
	struct ibv_mr *on_demand;

	EXPECT(file != MAP_FAILED);
	on_demand = ibv_reg_mr(pd, file, PAGE, RIGHTS | IBV_ACCESS_ON_DEMAND);
	EXPECT(on_demand);
	EXPECT(reach(IBV_WR_RDMA_READ, own, mr->lkey, to, on_demand->rkey) ==
	       IBV_WC_SUCCESS);
	EXPECT(!memcmp(memory, file, 64));
	memset(memory, 0xff, 64);
	EXPECT(reach(IBV_WR_RDMA_WRITE, own, mr->lkey, to, on_demand->rkey) !=
	       IBV_WC_SUCCESS);
	EXPECT(reach(IBV_WR_RDMA_READ, to, on_demand->lkey, own, mr->rkey) !=
	       IBV_WC_SUCCESS);
	EXPECT(!strcmp((char *)file, SECRET));
	EXPECT(!ibv_dereg_mr(on_demand));
}

static void pinned_memory_is_limited(void)
{
	struct rlimit limit = { 1 << 20, 1 << 20 };
	struct ibv_mr *mrs[64];
	unsigned char *much;
	int i, n = 0;

	EXPECT(!setrlimit(RLIMIT_MEMLOCK, &limit));
	much = mmap(NULL, 4 << 20, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	EXPECT(much != MAP_FAILED);
	REFUSED(ibv_reg_mr(pd, much, 4 << 20, RIGHTS), ENOMEM);
	while (n < 64 && (mrs[n] = ibv_reg_mr(pd, much, 64 << 10, RIGHTS)))
		n++;
	EXPECT(errno == ENOMEM && n >= 14 && n <= 16);
	for (i = 0; i < n; i++)
		EXPECT(!ibv_dereg_mr(mrs[i]));
	mrs[0] = ibv_reg_mr(pd, much, 512 << 10, RIGHTS);
	EXPECT(mrs[0] && !ibv_dereg_mr(mrs[0]));
}

/*
 * What needs a privilege
 */

/* A queue pair for datagrams, ready. */
static struct ibv_qp *make_ud(struct ibv_cq *cq, uint32_t qkey)
{
	struct ibv_qp_attr rtr = { .qp_state = IBV_QPS_RTR };
	struct ibv_qp_attr rts = { .qp_state = IBV_QPS_RTS };
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = qkey,
	};
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_UD,
		.sq_sig_all = 1,
		.cap = { 4, 4, 1, 1, 64 },
	};
	struct ibv_qp *qp = ibv_create_qp(pd, &init);

	EXPECT(qp);
	EXPECT(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
			      IBV_QP_PORT | IBV_QP_QKEY));
	EXPECT(!ibv_modify_qp(qp, &rtr, IBV_QP_STATE));
	EXPECT(!ibv_modify_qp(qp, &rts, IBV_QP_STATE | IBV_QP_SQ_PSN));
	return qp;
}

static unsigned long wrong_qkeys(void)
{
	char path[128];
	unsigned long n;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/"
		 "hw_counters/drop_bad_qkey", ibv_get_device_name(ctx->device));
	f = fopen(path, "r");
	EXPECT(f && fscanf(f, "%lu", &n) == 1);
	fclose(f);
	return n;
}

/* To the GSI, and to a queue pair of the privileged one, who would see it. */
static void controlled_queue_keys(void)
{
	struct ibv_cq *cq = ibv_create_cq(ctx, 8, NULL, NULL, 0);
	struct ibv_qp *qp = make_ud(cq, QKEY);
	struct ibv_qp_attr attr = { .qkey = CONTROLLED };
	struct ibv_ah_attr ah_attr = rtr_attr(1).ah_attr;
	struct ibv_ah *ah = ibv_create_ah(pd, &ah_attr);
	struct ibv_sge sge = { (uintptr_t)memory, 256, mr->lkey };
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_SEND,
		.wr.ud = { .ah = ah, .remote_qkey = CONTROLLED },
	};
	const uint32_t to[] = { GSI, facts->ud_qpn };
	unsigned long before = wrong_qkeys();
	double end = now() + 10 * slow();
	uint64_t key;
	size_t i;

	EXPECT(ah);
	EXPECT(ibv_modify_qp(qp, &attr, IBV_QP_QKEY) == EPERM);
	for (key = 1; key; key = (uint32_t)(key << 1)) {
		attr.qkey = key;
		EXPECT(ibv_modify_qp(qp, &attr, IBV_QP_QKEY) ==
		       (key >> 31 ? EPERM : 0));
	}
	for (i = 0; i < COUNT(to); i++) {
		wr.wr.ud.remote_qpn = to[i];
		EXPECT(!post_wait(qp, cq, wr, sge));
	}
	while (wrong_qkeys() < before + COUNT(to)) {
		EXPECT(now() < end);
		usleep(10000);
	}
	EXPECT(!ibv_destroy_qp(qp) && !ibv_destroy_ah(ah));
	EXPECT(!ibv_destroy_cq(cq));
}

/* Types from those of the management to those of other devices. */
static void kinds_of_queue_pairs(void)
{
	struct ibv_cq *cq = ibv_create_cq(ctx, 8, NULL, NULL, 0);
	struct ib_uverbs_create_qp_resp resp;
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_create_qp create;
		uint64_t room[8];
	} command = {
		.hdr = { IB_USER_VERBS_CMD_CREATE_QP,
			 (sizeof(command.hdr) + sizeof(command.create)) / 4,
			 sizeof(resp) / 4 },
		.create = {
			.response = (uintptr_t)&resp,
			.pd_handle = pd->handle, .send_cq_handle = cq->handle,
			.recv_cq_handle = cq->handle, .max_send_wr = 1,
			.max_recv_wr = 1, .max_send_sge = 1,
			.max_recv_sge = 1,
		},
	};
	int type;

	for (type = 0; type < 256; type++) {
		if (type >= IBV_QPT_RC && type <= IBV_QPT_UD)
			continue;
		if (type == IBV_QPT_XRC_SEND || type == IBV_QPT_XRC_RECV)
			continue;
		command.create.qp_type = type;
		EXPECT(write(ctx->cmd_fd, &command, command.hdr.in_words * 4)
		       < 0);
		EXPECT(errno == EINVAL || errno == EPERM ||
		       errno == EOPNOTSUPP);
	}
	EXPECT(!ibv_destroy_cq(cq));
}

/* The management's own files, and the other one's. */
static void files_of_others(void)
{
	static const char * const files[] = {
		"/dev/infiniband/umad0", "/dev/infiniband/issm0",
	};
	char path[64];
	size_t i;
	int fd;

	for (i = 0; i < COUNT(files); i++)
		EXPECT(open(files[i], O_RDWR) < 0 &&
		       (errno == EACCES || errno == ENOENT));
	for (fd = 0; fd < 32; fd++) {
		snprintf(path, sizeof(path), "/proc/%d/fd/%d", getppid(), fd);
		EXPECT(open(path, O_RDWR) < 0);
	}
	snprintf(path, sizeof(path), "/proc/%d/mem", getppid());
	EXPECT(open(path, O_RDONLY) < 0 && errno == EACCES);
}

static const struct test_case cases[] = {
	CASE(handles_of_others),
	CASE(keys_of_others),
	CASE(windows_on_others),
	CASE(connections_of_others),
	CASE(memory_of_others),
	CASE(file_is_only_read),
	CASE(pinned_memory_is_limited),
	CASE(controlled_queue_keys),
	CASE(kinds_of_queue_pairs),
	CASE(files_of_others),
	{ }
};

/* The stranger opens the device himself, as whoever he is then. */
static int be_stranger(const char *device, const char *gid, const char *name)
{
	become_nobody();
	open_device(device, gid);
	memory = aligned_alloc(PAGE, PAGE);
	memset(memory, 0, PAGE);
	mr = ibv_reg_mr(pd, memory, PAGE, RIGHTS);
	EXPECT(mr);
	return run_case(cases, name);
}

static void make_secret_file(void)
{
	char name[] = "/tmp/secret.XXXXXX";
	char page[PAGE] = SECRET;
	int fd = mkstemp(name);

	EXPECT(fd >= 0 && write(fd, page, PAGE) == PAGE);
	EXPECT(!fchmod(fd, 0644));
	secret_file = open(name, O_RDONLY | O_CLOEXEC);
	EXPECT(secret_file >= 0 && !close(fd) && !unlink(name));
}

/*
 * The privileged process: a connection at work, with memory for its own peer,
 * and a queue pair for datagrams with a controlled Q_Key.
 */
static struct ibv_cq *ud_cq;
static struct ibv_qp *ud;

static void begin(const char *device, const char *gid)
{
	struct ibv_recv_wr *bad, recv = { .num_sge = 1 };
	struct ibv_sge sge;

	qp_timeout = 18;
	open_device(device, gid);
	bystander_begins();
	strcpy((char *)facts->memory, SECRET);
	mr = ibv_reg_mr(pd, facts->memory, PAGE, RIGHTS);
	ud_cq = ibv_create_cq(ctx, 8, NULL, NULL, 0);
	EXPECT(mr && ud_cq);
	ud = make_ud(ud_cq, CONTROLLED);
	sge = (struct ibv_sge) {
		(uintptr_t)facts->memory + PAGE / 2, PAGE / 2, mr->lkey,
	};
	recv.sg_list = &sge;
	EXPECT(!ibv_post_recv(ud, &recv, &bad));
	facts->addr = (uintptr_t)facts->memory;
	facts->lkey = mr->lkey;
	facts->rkey = mr->rkey;
	facts->qpn = bystander.far->qp_num;
	facts->ud_qpn = ud->qp_num;
}

/* Nothing has come, and nothing has changed. */
static void end(void)
{
	struct ibv_wc wc;

	bystander_goes_on();
	EXPECT(!strcmp((char *)facts->memory, SECRET));
	EXPECT(!ibv_poll_cq(ud_cq, 1, &wc));
	EXPECT(!ibv_destroy_qp(ud) && !ibv_destroy_cq(ud_cq));
	EXPECT(!ibv_dereg_mr(mr));
	bystander_ends();
}

/* The stranger is forked first, so that he has no file of the other one. */
int main(int argc, char **argv)
{
	int told[2], wait_status;
	char byte;
	pid_t pid;

	if (argc != 4)
		return 2;
	facts = mmap(NULL, sizeof(*facts), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	EXPECT(facts != MAP_FAILED && !pipe(told));
	make_secret_file();
	pid = fork();
	EXPECT(pid >= 0);
	if (!pid) {
		EXPECT(read(told[0], &byte, 1) == 1);
		return be_stranger(argv[1], argv[2], argv[3]);
	}
	begin(argv[1], argv[2]);
	EXPECT(write(told[1], "", 1) == 1);
	while (!waitpid(pid, &wait_status, WNOHANG))
		bystander_goes_on();
	end();
	return wait_status ? 1 : 0;
}
