// SPDX-License-Identifier: GPL-2.0
/*
 * Makes many objects of one kind, uses and unmakes them, so that what is slow
 * with many shows.
 *
 *	objects DEVICE GID KIND COUNT		that many, or it fails
 *	objects DEVICE GID KIND COUNT fill	as many as there can be, which
 *						must be fewer, end in ENOMEM
 *						and lose nothing
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdbool.h>
#include <unistd.h>

#include "../lib/pair.h"
#include "../lib/meminfo.h"

#define QKEY	1
#define PAGE	4096

/** struct kind - a kind of object; @use, if there is one, must succeed */
struct kind {
	const char *name;
	void *(*make)(void);
	void (*use)(void *object);
	int (*unmake)(void *object);
};

static char *common;
static struct ibv_mr *common_mr;
static struct ibv_cq *cq;

/* Datagrams, not connected; and a connection with itself. */
static struct ibv_qp *ud, *rc;

/* The object that is being made, used or unmade. */
static uint32_t at;

static void send_to_itself(struct ibv_qp *qp, struct ibv_send_wr wr)
{
	struct ibv_sge sge = { (uintptr_t)common, 8, common_mr->lkey };
	struct ibv_send_wr *bad;

	wr.send_flags = IBV_SEND_SIGNALED;
	if (wr.opcode != IBV_WR_BIND_MW) {
		wr.sg_list = &sge;
		wr.num_sge = 1;
	}
	EXPECT(!ibv_post_send(qp, &wr, &bad));
	EXPECT(status(cq) == IBV_WC_SUCCESS);
}

static void *make_pd(void)
{
	return ibv_alloc_pd(ctx);
}

static void use_pd(void *pd)
{
	struct ibv_ah_attr attr = rtr_attr(1).ah_attr;
	struct ibv_ah *ah = ibv_create_ah(pd, &attr);

	EXPECT(ah && !ibv_destroy_ah(ah));
}

static int unmake_pd(void *pd)
{
	return ibv_dealloc_pd(pd);
}

static void *make_cq(void)
{
	return ibv_create_cq(ctx, 1, NULL, NULL, 0);
}

static void use_cq(void *cq)
{
	struct ibv_wc wc;

	EXPECT(!ibv_req_notify_cq(cq, 0) && !ibv_poll_cq(cq, 1, &wc));
}

static int unmake_cq(void *cq)
{
	return ibv_destroy_cq(cq);
}

static void *make_srq(void)
{
	struct ibv_srq_init_attr init = {
		.attr = { .max_wr = 1, .max_sge = 1 },
	};

	return ibv_create_srq(pd, &init);
}

static void use_srq(void *srq)
{
	struct ibv_recv_wr wr = { }, *bad;
	struct ibv_srq_attr attr;

	EXPECT(!ibv_post_srq_recv(srq, &wr, &bad));
	EXPECT(!ibv_query_srq(srq, &attr) && attr.max_wr == 1);
}

static int unmake_srq(void *srq)
{
	return ibv_destroy_srq(srq);
}

static void *make_mr(void)
{
	return ibv_reg_mr(pd, common, PAGE, RIGHTS);
}

static void use_mr(void *object)
{
	struct ibv_mr *mr = object;

	send_to_itself(rc, (struct ibv_send_wr) {
		.opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = { (uintptr_t)common + 64, mr->rkey },
	});
}

static int unmake_mr(void *mr)
{
	return ibv_dereg_mr(mr);
}

static void *make_mw(void)
{
	return ibv_alloc_mw(pd, IBV_MW_TYPE_1);
}

/* Nobody is shown anything, but the kernel has to find it. */
static void use_mw(void *object)
{
	struct ibv_mw *mw = object;

	send_to_itself(rc, (struct ibv_send_wr) {
		.opcode = IBV_WR_BIND_MW,
		.bind_mw = { .mw = mw, .rkey = ibv_inc_rkey(mw->rkey) },
	});
}

static int unmake_mw(void *mw)
{
	return ibv_dealloc_mw(mw);
}

static void *make_ah(void)
{
	struct ibv_ah_attr attr = rtr_attr(1).ah_attr;

	return ibv_create_ah(pd, &attr);
}

static void use_ah(void *ah)
{
	send_to_itself(ud, (struct ibv_send_wr) {
		.opcode = IBV_WR_SEND,
		.wr.ud = { ah, ud->qp_num, QKEY },
	});
}

static int unmake_ah(void *ah)
{
	return ibv_destroy_ah(ah);
}

static void *make_dm(void)
{
	struct ibv_alloc_dm_attr attr = { .length = PAGE };

	return ibv_alloc_dm(ctx, &attr);
}

static void use_dm(void *dm)
{
	uint32_t there;

	EXPECT(!ibv_memcpy_to_dm(dm, 0, &at, sizeof(at)));
	EXPECT(!ibv_memcpy_from_dm(&there, dm, 0, sizeof(there)));
	EXPECT(there == at);
}

static int unmake_dm(void *dm)
{
	return ibv_free_dm(dm);
}

static void *make_xrcd(void)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD |
			     IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1, .oflags = O_CREAT,
	};

	return ibv_open_xrcd(ctx, &attr);
}

static int unmake_xrcd(void *xrcd)
{
	return ibv_close_xrcd(xrcd);
}

/* Group n of those from 239.64.0.0 on. */
static union ibv_gid group(uint32_t n)
{
	uint32_t address = htonl(0xef400000 + n);
	union ibv_gid gid = { .raw = { [10] = 0xff, [11] = 0xff } };

	memcpy(&gid.raw[12], &address, sizeof(address));
	return gid;
}

static void *make_group(void)
{
	union ibv_gid gid = group(at);

	errno = ibv_attach_mcast(ud, &gid, 0);
	return errno ? NULL : ud;
}

static int unmake_group(void *qp)
{
	union ibv_gid gid = group(at);

	return ibv_detach_mcast(qp, &gid, 0);
}

static const struct kind kinds[] = {
	{ "pd", make_pd, use_pd, unmake_pd },
	{ "cq", make_cq, use_cq, unmake_cq },
	{ "srq", make_srq, use_srq, unmake_srq },
	{ "mr", make_mr, use_mr, unmake_mr },
	{ "mw", make_mw, use_mw, unmake_mw },
	{ "ah", make_ah, use_ah, unmake_ah },
	{ "dm", make_dm, use_dm, unmake_dm },
	{ "xrcd", make_xrcd, NULL, unmake_xrcd },
	{ "group", make_group, NULL, unmake_group },
};

static const struct kind *find_kind(const char *name)
{
	unsigned int i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	EXPECT(!"a kind of object");
	return NULL;
}

static struct ibv_qp *make_ud(void)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_UD,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_qp *qp = ibv_create_qp(pd, &init);
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY,
	};

	EXPECT(qp);
	EXPECT(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
			      IBV_QP_PORT | IBV_QP_QKEY));
	attr.qp_state = IBV_QPS_RTR;
	EXPECT(!ibv_modify_qp(qp, &attr, IBV_QP_STATE));
	attr.qp_state = IBV_QPS_RTS;
	EXPECT(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN));
	return qp;
}

static void prepare(void)
{
	common = aligned_alloc(PAGE, PAGE);
	cq = ibv_create_cq(ctx, 4, NULL, NULL, 0);
	EXPECT(common && cq);
	common_mr = ibv_reg_mr(pd, common, PAGE, RIGHTS);
	ud = make_ud();
	rc = make_qp(cq, 1);
	EXPECT(common_mr && rc && !connect_qp(rc, rc->qp_num));
}

static void tidy_up(void)
{
	EXPECT(!ibv_destroy_qp(rc) && !ibv_destroy_qp(ud));
	EXPECT(!ibv_dereg_mr(common_mr) && !ibv_destroy_cq(cq));
	EXPECT(!ibv_dealloc_pd(pd) && !ibv_close_device(ctx));
}

static void **objects;
static uint32_t count;

/* errno of the last one that was not made; what follows may change errno. */
static int made_errno;

static bool make_one(const struct kind *kind)
{
	at = count;
	objects[count] = kind->make();
	if (!objects[count]) {
		made_errno = errno;
		return false;
	}
	count++;
	return true;
}

static void unmake_last(const struct kind *kind)
{
	at = --count;
	EXPECT(!kind->unmake(objects[at]));
}

/* Once some are gone another can be had: memory comes back after a while. */
static void survive(const struct kind *kind)
{
	uint32_t less = count - count / 16 - 1;
	double patience = now() + 20 * slow();

	printf("the %uth: %s\n", count + 1, strerror(made_errno));
	EXPECT(made_errno == ENOMEM);
	while (count > less)
		unmake_last(kind);
	while (!make_one(kind)) {
		EXPECT(made_errno == ENOMEM && now() < patience);
		usleep(100000);
	}
}

static void make_all(const struct kind *kind, uint32_t max, bool fill)
{
	double since = now(), before = bytes_available();

	while (count < max && make_one(kind))
		;
	printf("%u of %s: %.1f us to make one, of %.0f bytes\n", count,
	       kind->name, (now() - since) / count * 1e6,
	       (before - bytes_available()) / count);
	EXPECT(fill == (count < max));
	if (fill)
		survive(kind);
}

static void use_all(const struct kind *kind)
{
	double since = now();

	for (at = 0; kind->use && at < count; at++)
		kind->use(objects[at]);
	printf("%.1f us to use one\n", (now() - since) / count * 1e6);
}

static void unmake_all(const struct kind *kind)
{
	uint32_t made = count;
	double since = now();

	while (count)
		unmake_last(kind);
	printf("%.1f us to unmake one\n", (now() - since) / made * 1e6);
}

int main(int argc, char **argv)
{
	const struct kind *kind;
	uint32_t max;

	EXPECT(argc >= 5);
	open_device(argv[1], argv[2]);
	prepare();
	kind = find_kind(argv[3]);
	max = arg_number(argv[4]);
	objects = calloc(max, sizeof(*objects));
	EXPECT(objects);

	make_all(kind, max, argc > 5 && !strcmp(argv[5], "fill"));
	use_all(kind);
	unmake_all(kind);
	tidy_up();
	return 0;
}
