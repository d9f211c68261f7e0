// SPDX-License-Identifier: GPL-2.0
/*
 * Makes an object while one allocation of the kernel fails: the first of this
 * task, then the second (or STEP further), until all have failed once. It is
 * made all the same, or ENOMEM says why not; or EFAULT, where copies from and to
 * the process fail in the same way. Or unmakes one so, which may fail, too, but
 * leaves it as it was.
 *
 *	scarce DEVICE GID KIND make|unmake STEP
 */
#include <fcntl.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../lib/pair.h"
#include "../lib/statistic.h"
#include "../lib/udmabuf.h"

/* More allocations than any of the operations makes. */
#define MOST	30000

#define LARGE	(8 << 20)

/* What objects are made with. */
static struct ibv_comp_channel *channel;
static struct ibv_xrcd *xrcd;
static struct ibv_cq *cq;
static struct ibv_srq *srq;
static struct ibv_qp *ud;
static struct ibv_dm *dm;
static struct ibv_qp_attr route;	/* asked for before anything fails */
static void *memory;
static int dmabuf;
static struct ibv_mr *mapped;	/* of it: dma_buf_vmap() warns where it fails */

static void *made(void *object, int err)
{
	errno = err;
	return err ? NULL : object;
}

static void *make_context(void)
{
	return ibv_open_device(ctx->device);
}

static int unmake_context(void *context)
{
	return ibv_close_device(context);
}

static void *make_pd(void)
{
	return ibv_alloc_pd(ctx);
}

static int unmake_pd(void *pd)
{
	return ibv_dealloc_pd(pd);
}

static void *make_channel(void)
{
	return ibv_create_comp_channel(ctx);
}

static int unmake_channel(void *channel)
{
	return ibv_destroy_comp_channel(channel);
}

static void *make_cq(void)
{
	return ibv_create_cq(ctx, 1000, NULL, channel, 0);
}

static int unmake_cq(void *cq)
{
	return ibv_destroy_cq(cq);
}

/* Grows, and shrinks again: what fails leaves the queue as it is. */
static void *resize_cq(void)
{
	return made(cq, ibv_resize_cq(cq, 2000));
}

static int resize_back(void *cq)
{
	return ibv_resize_cq(cq, 10);
}

static void *make_srq(void)
{
	struct ibv_srq_init_attr init = {
		.attr = { .max_wr = 500, .max_sge = 2 },
	};

	return ibv_create_srq(pd, &init);
}

static int unmake_srq(void *srq)
{
	return ibv_destroy_srq(srq);
}

/* As above; where its ring went is told at an address, by no answer. */
static int set_srq_size(uint32_t max_wr)
{
	struct ibv_srq_attr attr = { .max_wr = max_wr };

	return ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR);
}

static void *resize_srq(void)
{
	return made(srq, set_srq_size(2000));
}

static int resize_srq_back(void *srq)
{
	(void)srq;
	return set_srq_size(10);
}

static void *make_xrcd(void)
{
	struct ibv_xrcd_init_attr init = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1, .oflags = O_CREAT,
	};

	return ibv_open_xrcd(ctx, &init);
}

static int unmake_xrcd(void *xrcd)
{
	return ibv_close_xrcd(xrcd);
}

static void *make_xsrq(void)
{
	struct ibv_srq_init_attr_ex init = {
		.attr = { .max_wr = 500, .max_sge = 2 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_XRCD |
			     IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_PD,
		.srq_type = IBV_SRQT_XRC, .pd = pd, .xrcd = xrcd, .cq = cq,
	};

	return ibv_create_srq_ex(ctx, &init);
}

static struct ibv_qp *new_qp(enum ibv_qp_type type)
{
	struct ibv_qp_init_attr_ex init = {
		.qp_type = type,
		.send_cq = cq, .recv_cq = cq, .pd = pd,
		.cap = { .max_send_wr = 500, .max_recv_wr = 500,
			 .max_send_sge = 2, .max_recv_sge = 2 },
		.comp_mask = IBV_QP_INIT_ATTR_PD,
	};

	if (type == IBV_QPT_XRC_SEND) {
		init.recv_cq = NULL;
		init.cap.max_recv_wr = 0;
		init.cap.max_recv_sge = 0;
	} else if (type == IBV_QPT_XRC_RECV) {
		init = (struct ibv_qp_init_attr_ex) {
			.qp_type = type, .xrcd = xrcd,
			.comp_mask = IBV_QP_INIT_ATTR_XRCD,
		};
	}
	return ibv_create_qp_ex(ctx, &init);
}

static int unmake_qp(void *qp)
{
	return ibv_destroy_qp(qp);
}

/* What was made before the failure goes again; nothing fails any more then. */
static void *made_qp(struct ibv_qp *qp, int err)
{
	if (err)
		EXPECT(!ibv_destroy_qp(qp));
	return made(qp, err);
}

static void *make_rc(void)
{
	struct ibv_qp_attr init = init_attr(), rtr = route, rts = rts_attr();
	struct ibv_qp *qp = new_qp(IBV_QPT_RC);

	if (!qp)
		return NULL;
	rtr.dest_qp_num = qp->qp_num;
	return made_qp(qp, ibv_modify_qp(qp, &init, TO_INIT) ?:
		       ibv_modify_qp(qp, &rtr, TO_RTR) ?:
		       ibv_modify_qp(qp, &rts, TO_RTS));
}

static void *make_uc(void)
{
	struct ibv_qp_attr init = init_attr(), rtr = route, rts = { 0 };
	struct ibv_qp *qp = new_qp(IBV_QPT_UC);

	if (!qp)
		return NULL;
	rtr.dest_qp_num = qp->qp_num;
	init.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
	rts.qp_state = IBV_QPS_RTS;
	return made_qp(qp, ibv_modify_qp(qp, &init, TO_INIT) ?:
		       ibv_modify_qp(qp, &rtr, IBV_QP_STATE | IBV_QP_AV |
				     IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				     IBV_QP_RQ_PSN) ?:
		       ibv_modify_qp(qp, &rts, IBV_QP_STATE | IBV_QP_SQ_PSN));
}

static void *make_ud(void)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 1,
	};
	struct ibv_qp *qp = new_qp(IBV_QPT_UD);

	if (!qp)
		return NULL;
	return made_qp(qp, ibv_modify_qp(qp, &attr, IBV_QP_STATE |
					 IBV_QP_PKEY_INDEX | IBV_QP_PORT |
					 IBV_QP_QKEY));
}

static void *make_xrc_send(void)
{
	return new_qp(IBV_QPT_XRC_SEND);
}

static void *make_xrc_recv(void)
{
	return new_qp(IBV_QPT_XRC_RECV);
}

static void *make_mr(void)
{
	return ibv_reg_mr(pd, memory, LARGE, RIGHTS);
}

static void *make_odp(void)
{
	return ibv_reg_mr(pd, memory, LARGE, RIGHTS | IBV_ACCESS_ON_DEMAND);
}

static void *make_of_dmabuf(void)
{
	return ibv_reg_dmabuf_mr(pd, 0, LARGE, 0, dmabuf, RIGHTS);
}

static void *make_of_dm(void)
{
	return ibv_reg_dm_mr(pd, dm, 0, 4096, RIGHTS | IBV_ACCESS_ZERO_BASED);
}

static int unmake_mr(void *mr)
{
	return ibv_dereg_mr(mr);
}

static void *make_other_mr(void)
{
	struct ibv_mr *mr = ibv_reg_mr(pd, memory, 4096, RIGHTS);
	int err;

	if (!mr)
		return NULL;
	err = ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL,
			   memory, LARGE, 0);
	if (!err)
		return mr;
	err = errno;
	EXPECT(!ibv_dereg_mr(mr));
	return made(NULL, err);
}

static void *make_dm(void)
{
	struct ibv_alloc_dm_attr attr = { .length = 4096 };

	return ibv_alloc_dm(ctx, &attr);
}

static int unmake_dm(void *dm)
{
	return ibv_free_dm(dm);
}

static void *make_mw(void)
{
	return ibv_alloc_mw(pd, IBV_MW_TYPE_2);
}

static int unmake_mw(void *mw)
{
	return ibv_dealloc_mw(mw);
}

static void *make_ah(void)
{
	return ibv_create_ah(pd, &route.ah_attr);
}

static int unmake_ah(void *ah)
{
	return ibv_destroy_ah(ah);
}

static const union ibv_gid group = {
	.raw = { [10] = 0xff, [11] = 0xff, 239, 64, 0, 1 },
};

static void *make_group(void)
{
	return made(ud, ibv_attach_mcast(ud, &group, 0));
}

static int unmake_group(void *qp)
{
	return ibv_detach_mcast(qp, &group, 0);
}

/*
 * Asks over netlink; true if an answer came, whose error is left in errno. It
 * may have been what could not be allocated: then nobody knows what was done.
 */
static bool answers(struct nlmsghdr *msg)
{
	static char bytes[4096] __attribute__((aligned(4)));
	struct nlmsghdr *got = (struct nlmsghdr *)bytes;
	static int fd = -1;

	msg->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	if (fd >= 0)
		close(fd);
	fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_RDMA);
	if (fd < 0 || send(fd, msg, msg->nlmsg_len, 0) < 0)
		return false;
	do
		if (recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT) < 0) {
			errno = errno == EAGAIN ? ENOBUFS : errno;
			return false;
		}
	while (got->nlmsg_type != NLMSG_ERROR);
	errno = -((struct nlmsgerr *)NLMSG_DATA(got))->error;
	return true;
}

/** struct number - an attribute */
struct number {
	struct nlattr attr;
	uint32_t value;
};

#define NUMBER(type, value)	{ { sizeof(struct number), type }, value }

/* What "rdma statistic qp bind link DEVICE/1 lqpn QPN" asks for. */
static int bind_counter(uint32_t qpn)
{
	struct {
		struct nlmsghdr head;
		struct number device, port, what, mode, qpn;
	} ask = {
		.head = {
			.nlmsg_len = sizeof(ask),
			.nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV,
						RDMA_NLDEV_CMD_STAT_SET),
		},
		.device = NUMBER(RDMA_NLDEV_ATTR_DEV_INDEX, statistic_device),
		.port = NUMBER(RDMA_NLDEV_ATTR_PORT_INDEX, 1),
		.what = NUMBER(RDMA_NLDEV_ATTR_STAT_RES,
			       RDMA_NLDEV_ATTR_RES_QP),
		.mode = NUMBER(RDMA_NLDEV_ATTR_STAT_MODE,
			       RDMA_COUNTER_MODE_MANUAL),
		.qpn = NUMBER(RDMA_NLDEV_ATTR_RES_LQPN, qpn),
	};

	return answers(&ask.head) ? errno : errno ?: ENOBUFS;
}

/* It goes with its queue pair. */
static void *make_counter(void)
{
	struct ibv_qp *qp = make_ud();

	return qp ? made_qp(qp, bind_counter(qp->qp_num)) : NULL;
}

static size_t add_attr(char *at, int type, const char *text)
{
	struct nlattr *attr = (struct nlattr *)at;

	attr->nla_type = type;
	attr->nla_len = NLA_HDRLEN + strlen(text) + 1;
	strcpy(at + NLA_HDRLEN, text);
	return NLA_ALIGN(attr->nla_len);
}

/* What "rdma link add scarce0 type frdma netdev scarce" asks for. */
static void *make_link(void)
{
	static char bytes[512] __attribute__((aligned(4)));
	struct nlmsghdr *msg = (struct nlmsghdr *)bytes;
	size_t len = NLMSG_HDRLEN;
	int err;

	memset(bytes, 0, sizeof(bytes));
	len += add_attr(bytes + len, RDMA_NLDEV_ATTR_DEV_NAME, "scarce0");
	len += add_attr(bytes + len, RDMA_NLDEV_ATTR_LINK_TYPE, "frdma");
	len += add_attr(bytes + len, RDMA_NLDEV_ATTR_NDEV_NAME, "scarce");
	msg->nlmsg_len = len;
	msg->nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV,
					   RDMA_NLDEV_CMD_NEWLINK);
	if (answers(msg))
		return made(bytes, errno);
	err = errno;
	(void)!system("rdma link delete scarce0 2>/dev/null");
	return made(NULL, err);
}

static int unmake_link(void *link)
{
	(void)link;
	return system("rdma link delete scarce0");
}

static const struct kind {
	const char *name;
	void *(*make)(void);
	int (*unmake)(void *object);
} kinds[] = {
	{ "context", make_context, unmake_context },
	{ "pd", make_pd, unmake_pd },
	{ "channel", make_channel, unmake_channel },
	{ "cq", make_cq, unmake_cq },
	{ "cq_size", resize_cq, resize_back },
	{ "srq", make_srq, unmake_srq },
	{ "srq_size", resize_srq, resize_srq_back },
	{ "xrcd", make_xrcd, unmake_xrcd },
	{ "xsrq", make_xsrq, unmake_srq },
	{ "rc", make_rc, unmake_qp },
	{ "uc", make_uc, unmake_qp },
	{ "ud", make_ud, unmake_qp },
	{ "xrc_send", make_xrc_send, unmake_qp },
	{ "xrc_recv", make_xrc_recv, unmake_qp },
	{ "mr", make_mr, unmake_mr },
	{ "odp", make_odp, unmake_mr },
	{ "dmabuf", make_of_dmabuf, unmake_mr },
	{ "other_mr", make_other_mr, unmake_mr },
	{ "dm", make_dm, unmake_dm },
	{ "of_dm", make_of_dm, unmake_mr },
	{ "mw", make_mw, unmake_mw },
	{ "ah", make_ah, unmake_ah },
	{ "group", make_group, unmake_group },
	{ "counter", make_counter, unmake_qp },
	{ "counted", make_rc, unmake_qp },	/* if it is counted anyway */
	{ "link", make_link, unmake_link },
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
	memory = mmap(NULL, LARGE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	EXPECT(memory != MAP_FAILED);
	dmabuf = make_udmabuf(LARGE);
	route = rtr_attr(0);
	channel = make_channel();
	cq = ibv_create_cq(ctx, 10, NULL, NULL, 0);
	xrcd = make_xrcd();
	dm = make_dm();
	srq = make_srq();
	EXPECT(channel && cq && xrcd && dm && srq);
	ud = make_ud();
	mapped = make_of_dmabuf();
	EXPECT(ud && mapped);
}

static void forget(void)
{
	EXPECT(!ibv_dereg_mr(mapped));
	EXPECT(!ibv_destroy_qp(ud) && !ibv_free_dm(dm));
	EXPECT(!ibv_destroy_srq(srq));
	EXPECT(!ibv_close_xrcd(xrcd) && !ibv_destroy_cq(cq));
	EXPECT(!ibv_destroy_comp_channel(channel));
	EXPECT(!ibv_dealloc_pd(pd) && !ibv_close_device(ctx));
	close(dmabuf);
}

static int fail_nth;

/* From now on the @n-th allocation of this task fails, and no other. */
static void fail_at(unsigned int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", n);

	EXPECT(pwrite(fail_nth, text, len, 0) == len);
}

/* None fails any more. Has one failed? These two calls copy, too, and so may
 * be what fails. */
static bool one_has_failed(void)
{
	char text[16] = "";
	ssize_t len = pread(fail_nth, text, sizeof(text) - 1, 0);

	while (pwrite(fail_nth, "0", 1, 0) != 1)
		;
	return len > 0 && !atoi(text);
}

static bool is_of_scarcity(int err)
{
	return err == ENOMEM || err == ENOBUFS || err == ENFILE ||
	       err == EFAULT;
}

/* Makes one, of which allocation @n fails. False if there are not so many. */
static bool make_scarcely(const struct kind *kind, unsigned int n,
			  unsigned int *refused)
{
	void *object;
	bool failed;
	int err;

	fail_at(n);
	object = kind->make();
	err = errno;
	failed = one_has_failed();
	if (!object) {
		errno = err;
		EXPECT(failed && is_of_scarcity(err));
		++*refused;
		return true;
	}
	EXPECT(!kind->unmake(object));
	return failed;
}

/* The same while it is unmade. */
static bool unmake_scarcely(const struct kind *kind, unsigned int n,
			    unsigned int *refused)
{
	void *object = kind->make();
	bool failed;
	int err;

	EXPECT(object);
	fail_at(n);
	err = kind->unmake(object);
	failed = one_has_failed();
	if (err) {
		errno = err < 0 ? errno : err;
		EXPECT(failed && is_of_scarcity(errno));
		EXPECT(!kind->unmake(object));
		++*refused;
	}
	return failed;
}

int main(int argc, char **argv)
{
	unsigned int n = 1, step, refused = 0;
	const struct kind *kind;
	bool make;

	EXPECT(argc == 6);
	open_device(argv[1], argv[2]);
	statistic_device = device_index(argv[1]);
	fail_nth = open("/proc/thread-self/fail-nth", O_RDWR);
	EXPECT(fail_nth >= 0);
	prepare();
	kind = find_kind(argv[3]);
	make = !strcmp(argv[4], "make");
	step = arg_number(argv[5]);

	EXPECT(!kind->unmake(kind->make()));
	while (n < MOST && (make ? make_scarcely(kind, n, &refused) :
				   unmake_scarcely(kind, n, &refused)))
		n += step;
	EXPECT(n < MOST && (!make || n > 1));
	printf("%s a %s: %u allocations and copies, %u refusals\n", argv[4],
	       kind->name, n - 1, refused);
	forget();
	return 0;
}
