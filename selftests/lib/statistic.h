/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What "rdma statistic" shows of a port, asked as it asks: sysfs shows values
 * that are some milliseconds old. Include it after pair.h.
 */
#ifndef FRDMA_TEST_STATISTIC_H
#define FRDMA_TEST_STATISTIC_H

#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <sys/socket.h>
#include <unistd.h>

#define STATISTIC_MAX	128

/** struct statistic - all counters of port 1, in the order of the driver */
struct statistic {
	size_t nr;
	char name[STATISTIC_MAX][40];
	uint64_t value[STATISTIC_MAX];
};

static int statistic_fd = -1;
static uint32_t statistic_device;

/* The number that netlink knows the device by. */
static inline uint32_t device_index(const char *name)
{
	char command[128];
	unsigned int index = ~0U;
	FILE *said;

	snprintf(command, sizeof(command), "rdma dev show %s", name);
	said = popen(command, "r");
	EXPECT(said && fscanf(said, "%u:", &index) == 1);
	pclose(said);
	return index;
}

static inline void statistic_open(const char *device)
{
	statistic_device = device_index(device);
	statistic_fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC,
			      NETLINK_RDMA);
	EXPECT(statistic_fd >= 0);
}

static inline const struct nlattr *attr_next(const struct nlattr *attr)
{
	return (void *)((char *)attr + NLA_ALIGN(attr->nla_len));
}

static inline const struct nlattr *attr_find(const void *from, const void *end,
					     int type)
{
	const struct nlattr *attr;

	for (attr = from; (void *)attr < end; attr = attr_next(attr))
		if ((attr->nla_type & NLA_TYPE_MASK) == type)
			return attr;
	return NULL;
}

static inline const void *attr_end(const struct nlattr *attr)
{
	return (char *)attr + attr->nla_len;
}

static inline void statistic_entry(struct statistic *s,
				   const struct nlattr *entry)
{
	const struct nlattr *name, *value;

	name = attr_find(entry + 1, attr_end(entry),
			 RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME);
	value = attr_find(entry + 1, attr_end(entry),
			  RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE);
	EXPECT(name && value && s->nr < STATISTIC_MAX);
	snprintf(s->name[s->nr], sizeof(s->name[0]), "%s",
		 (const char *)(name + 1));
	memcpy(&s->value[s->nr++], value + 1, sizeof(uint64_t));
}

static inline void statistic_read(struct statistic *s)
{
	struct {
		struct nlmsghdr head;
		struct {
			struct nlattr attr;
			uint32_t value;
		} device, port;
	} ask = {
		.head = {
			.nlmsg_len = sizeof(ask), .nlmsg_flags = NLM_F_REQUEST,
			.nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV,
						       RDMA_NLDEV_CMD_STAT_GET),
		},
		.device = { { 8, RDMA_NLDEV_ATTR_DEV_INDEX },
			    statistic_device },
		.port = { { 8, RDMA_NLDEV_ATTR_PORT_INDEX }, 1 },
	};
	static char said[16384] __attribute__((aligned(8)));
	const struct nlmsghdr *head = (void *)said;
	const struct nlattr *all, *entry;
	ssize_t len;

	EXPECT(send(statistic_fd, &ask, sizeof(ask), 0) == sizeof(ask));
	len = recv(statistic_fd, said, sizeof(said), 0);
	EXPECT(len > 0 && head->nlmsg_type == ask.head.nlmsg_type);
	all = attr_find(NLMSG_DATA(head), said + len,
			RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
	EXPECT(all);
	s->nr = 0;
	for (entry = all + 1; (void *)entry < attr_end(all);
	     entry = attr_next(entry))
		statistic_entry(s, entry);
}

/* What counter @name has counted since @before. */
static inline uint64_t statistic_since(const struct statistic *before,
				       const struct statistic *after,
				       const char *name)
{
	size_t i;

	for (i = 0; i < after->nr; i++)
		if (!strcmp(after->name[i], name))
			return after->value[i] - before->value[i];
	printf("no counter %s\n", name);
	exit(1);
}

#endif /* FRDMA_TEST_STATISTIC_H */
