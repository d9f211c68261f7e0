// SPDX-License-Identifier: GPL-2.0
/*
 * Traffic whose amount is known, and performance management as a peer asks
 * for it. statistics.sh builds and runs it:
 *
 *	statistics DEVICE GID_INDEX traffic	makes two connected queue pairs,
 *		prints "QPN QPN", and for each line of input has the first
 *		send 10 messages to the second and prints "sent"
 *	statistics DEVICE GID_INDEX mad ATTRIBUTE [METHOD]
 *		asks the device, by a datagram to queue pair 1 at its own
 *		address, and prints status and attribute in hexadecimal
 *	statistics DEVICE GID_INDEX initiator	makes a queue pair that receives
 *		nothing (XRC), prints "QPN", and ends with its input
 *	statistics DEVICE GID_INDEX churn SECONDS
 *		makes and destroys queue pairs that are counted automatically,
 *		while others look at the counters
 */
#include <endian.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/netlink.h>
#include <linux/types.h>
#include <rdma/ib_user_mad.h>
#include <rdma/rdma_netlink.h>

#include "../lib/pair.h"

static int traffic(void)
{
	struct pair p = make_pair(16);
	static char buffer[8192];
	struct ibv_mr *mr = ibv_reg_mr(pd, buffer, sizeof(buffer), RIGHTS);
	struct ibv_sge sge = { (uintptr_t)buffer, 3000, 0 };
	struct ibv_send_wr send = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
	}, *bad_send;
	struct ibv_recv_wr recv = { .sg_list = &sge, .num_sge = 1 }, *bad_recv;
	char line[16];
	int i;

	EXPECT(mr);
	sge.lkey = mr->lkey;
	printf("%u %u\n", p.near->qp_num, p.far->qp_num);
	while (fgets(line, sizeof(line), stdin)) {
		for (i = 0; i < 10; i++) {
			EXPECT(!ibv_post_recv(p.far, &recv, &bad_recv));
			EXPECT(!ibv_post_send(p.near, &send, &bad_send));
			EXPECT(!status(p.near_cq) && !status(p.far_cq));
		}
		printf("sent\n");
	}
	return 0;
}

static int initiator(void)
{
	struct ibv_cq *cq = ibv_create_cq(ctx, 16, NULL, NULL, 0);
	struct ibv_qp_init_attr_ex init = {
		.qp_type = IBV_QPT_XRC_SEND, .send_cq = cq,
		.cap = { .max_send_wr = 4, .max_send_sge = 1 },
		.comp_mask = IBV_QP_INIT_ATTR_PD, .pd = pd,
	};
	struct ibv_qp *qp = ibv_create_qp_ex(ctx, &init);
	char line[16];

	EXPECT(cq && qp);
	printf("%u\n", qp->qp_num);
	while (fgets(line, sizeof(line), stdin))
		;
	return 0;
}

/* What goes to and comes from umad: its header, and the datagram. */
struct datagram {
	struct ib_user_mad_hdr hdr;
	uint8_t mad[256];
};

#define PERF_MGMT	4

static int open_agent(const char *device, uint32_t *id)
{
	struct ib_user_mad_reg_req req = { .qpn = 1, .mgmt_class = PERF_MGMT,
					   .mgmt_class_version = 1 };
	char path[64], name[64];
	int fd, i;
	FILE *f;

	for (i = 0; ; i++) {
		snprintf(path, sizeof(path),
			 "/sys/class/infiniband_mad/umad%d/ibdev", i);
		f = fopen(path, "r");
		EXPECT(f && fscanf(f, "%63s", name) == 1);
		fclose(f);
		if (!strcmp(name, device))
			break;
	}
	snprintf(path, sizeof(path), "/dev/infiniband/umad%d", i);
	fd = open(path, O_RDWR);
	EXPECT(fd >= 0);
	EXPECT(!ioctl(fd, IB_USER_MAD_ENABLE_PKEY));
	EXPECT(!ioctl(fd, IB_USER_MAD_REGISTER_AGENT, &req));
	*id = req.id;
	return fd;
}

static int mad(const char *device, int attribute, int method)
{
	struct datagram d = {
		.hdr = {
			.timeout_ms = 5000, .retries = 3,
			.qpn = htobe32(1), .qkey = htobe32(0x80010000),
			.grh_present = 1, .gid_index = gid_index,
			.hop_limit = 4,
		},
		.mad = { 1, PERF_MGMT, 1, method },
	};
	struct pollfd fd;
	union ibv_gid gid;
	int i;

	EXPECT(!ibv_query_gid(ctx, 1, gid_index, &gid));
	memcpy(d.hdr.gid, &gid, sizeof(gid));
	d.mad[16] = attribute >> 8;
	d.mad[17] = attribute;
	d.mad[64 + 1] = 1;	/* port */

	fd = (struct pollfd) { .events = POLLIN };
	fd.fd = open_agent(device, &d.hdr.id);
	EXPECT(write(fd.fd, &d, sizeof(d)) == sizeof(d));
	EXPECT(poll(&fd, 1, 30000 * slow()) == 1);
	EXPECT(read(fd.fd, &d, sizeof(d)) > 0);
	errno = d.hdr.status;
	EXPECT(!d.hdr.status);

	printf("%02x%02x ", d.mad[4], d.mad[5]);
	for (i = 64; i < 256; i++)
		printf("%02x", d.mad[i]);
	printf("\n");
	return 0;
}

static bool churned;

/* What "rdma statistic qp show" asks for, of all counters of a device. */
struct question {
	struct nlmsghdr hdr;
	struct nlattr dev_attr;
	uint32_t dev;
	struct nlattr res_attr;
	uint32_t res;
};

static uint32_t device_index(void)
{
	char path[128];
	uint32_t index;
	FILE *f;

	snprintf(path, sizeof(path), "rdma dev show %s | cut -d : -f 1",
		 ibv_get_device_name(ctx->device));
	f = popen(path, "r");
	EXPECT(f && fscanf(f, "%u", &index) == 1);
	pclose(f);
	return index;
}

static void *look(void *arg)
{
	struct question q = {
		.hdr = {
			.nlmsg_len = sizeof(q),
			.nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV,
						RDMA_NLDEV_CMD_STAT_GET),
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
		},
		.dev_attr = { 8, RDMA_NLDEV_ATTR_DEV_INDEX },
		.dev = *(uint32_t *)arg,
		.res_attr = { 8, RDMA_NLDEV_ATTR_STAT_RES },
		.res = RDMA_NLDEV_ATTR_RES_QP,
	};
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_RDMA);
	char buffer[1 << 16];
	struct nlmsghdr *got = (void *)buffer;
	long looks = 0;

	EXPECT(fd >= 0);
	for (; !__atomic_load_n(&churned, __ATOMIC_RELAXED); looks++) {
		EXPECT(send(fd, &q, sizeof(q), 0) == sizeof(q));
		do
			EXPECT(recv(fd, buffer, sizeof(buffer), 0) > 0);
		while (got->nlmsg_type != NLMSG_DONE &&
		       got->nlmsg_type != NLMSG_ERROR);
		if (got->nlmsg_type == NLMSG_ERROR) {
			errno = -*(int *)NLMSG_DATA(got);
			EXPECT(!errno);
		}
	}
	close(fd);
	return (void *)looks;
}

static int churn(int seconds)
{
	struct ibv_cq *cq = ibv_create_cq(ctx, 16, NULL, NULL, 0);
	struct ibv_qp_attr init = init_attr();
	uint32_t index = device_index();
	double end = now() + seconds;
	pthread_t watchers[2];
	unsigned int i, n = 0;
	long looks = 0;
	void *seen;

	for (i = 0; i < 2; i++)
		EXPECT(!pthread_create(&watchers[i], NULL, look, &index));
	for (; now() < end; n++) {
		struct ibv_qp *qp = make_qp(cq, 1);

		EXPECT(qp && !ibv_modify_qp(qp, &init, TO_INIT));
		EXPECT(!ibv_destroy_qp(qp));
	}
	__atomic_store_n(&churned, true, __ATOMIC_RELAXED);
	for (i = 0; i < 2; i++) {
		EXPECT(!pthread_join(watchers[i], &seen));
		looks += (long)seen;
	}
	printf("%u counters came and went, looked at %ld times\n", n, looks);
	return !n || !looks;
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	open_device(argv[1], argv[2]);
	if (!strcmp(argv[3], "traffic"))
		return traffic();
	if (!strcmp(argv[3], "initiator"))
		return initiator();
	if (!strcmp(argv[3], "churn") && argc > 4)
		return churn(arg_number(argv[4]));
	if (!strcmp(argv[3], "mad") && argc > 4)
		return mad(argv[1], arg_number(argv[4]),
			   argc > 5 ? arg_number(argv[5]) : 1);
	return 2;
}
