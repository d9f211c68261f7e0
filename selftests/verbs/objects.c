// SPDX-License-Identifier: GPL-2.0
/*
 * Makes many objects of one kind and unmakes them, so that what is slow with
 * many shows.
 *
 *	objects DEVICE GID KIND COUNT
 */
#include <arpa/inet.h>

#include "../lib/pair.h"

static void *common;
static struct ibv_cq *cq;
static struct ibv_qp *qp;

/* The object that is being made or unmade. */
static uint32_t at;

static void *make_pd(void)
{
	return ibv_alloc_pd(ctx);
}

static int unmake_pd(void *pd)
{
	return ibv_dealloc_pd(pd);
}

static void *make_cq(void)
{
	return ibv_create_cq(ctx, 1, NULL, NULL, 0);
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

static int unmake_srq(void *srq)
{
	return ibv_destroy_srq(srq);
}

static void *make_mr(void)
{
	return ibv_reg_mr(pd, common, 4096, IBV_ACCESS_LOCAL_WRITE);
}

static int unmake_mr(void *mr)
{
	return ibv_dereg_mr(mr);
}

static void *make_mw(void)
{
	return ibv_alloc_mw(pd, IBV_MW_TYPE_1);
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

static int unmake_ah(void *ah)
{
	return ibv_destroy_ah(ah);
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

	errno = ibv_attach_mcast(qp, &gid, 0);
	return errno ? NULL : qp;
}

static int unmake_group(void *qp)
{
	union ibv_gid gid = group(at);

	return ibv_detach_mcast(qp, &gid, 0);
}

static const struct kind {
	const char *name;
	void *(*make)(void);
	int (*unmake)(void *object);
} kinds[] = {
	{ "pd", make_pd, unmake_pd },
	{ "cq", make_cq, unmake_cq },
	{ "srq", make_srq, unmake_srq },
	{ "mr", make_mr, unmake_mr },
	{ "mw", make_mw, unmake_mw },
	{ "ah", make_ah, unmake_ah },
	{ "group", make_group, unmake_group },
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

static void prepare(void)
{
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_UD };
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 1,
	};

	common = aligned_alloc(4096, 4096);
	cq = ibv_create_cq(ctx, 1, NULL, NULL, 0);
	EXPECT(common && cq);
	init.send_cq = cq;
	init.recv_cq = cq;
	init.cap.max_send_wr = 1;
	init.cap.max_recv_wr = 1;
	qp = ibv_create_qp(pd, &init);
	EXPECT(qp);
	EXPECT(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
			      IBV_QP_PORT | IBV_QP_QKEY));
}

int main(int argc, char **argv)
{
	const struct kind *kind;
	uint32_t count;
	double since, made;
	void **objects;

	EXPECT(argc == 5);
	open_device(argv[1], argv[2]);
	prepare();
	kind = find_kind(argv[3]);
	count = atoi(argv[4]);
	objects = calloc(count, sizeof(*objects));
	EXPECT(objects);

	since = now();
	for (at = 0; at < count; at++) {
		objects[at] = kind->make();
		EXPECT(objects[at]);
	}
	made = now();
	for (at = 0; at < count; at++)
		EXPECT(!kind->unmake(objects[at]));
	printf("%u of %s: %.1f us to make one, %.1f to unmake it\n", count,
	       kind->name, (made - since) / count * 1e6,
	       (now() - made) / count * 1e6);

	EXPECT(!ibv_destroy_qp(qp) && !ibv_destroy_cq(cq));
	EXPECT(!ibv_dealloc_pd(pd) && !ibv_close_device(ctx));
	return 0;
}
