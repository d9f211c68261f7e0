// SPDX-License-Identifier: GPL-2.0
/*
 * Counters and drops. A counter is a word per CPU that only this CPU writes;
 * a reader adds them up and may miss what is being counted meanwhile.
 */
#include <linux/cpumask.h>
#include <rdma/ib_verbs.h>

#include "dev.h"
#include "stats.h"
#include "trace.h"

static const struct rdma_stat_desc counter_descs[] = {
#define COUNTER_DESC(sym, text_name, text) { .name = text_name },
#define DROP_DESC(sym, text_name, text) { .name = "drop_" text_name },
	FRDMA_COUNTERS(COUNTER_DESC)
	FRDMA_DROP_REASONS(DROP_DESC)
#undef COUNTER_DESC
#undef DROP_DESC
};

/* The counters of a port are struct frdma_stats, taken as one array. */
static_assert(sizeof(struct frdma_stats) ==
	      ARRAY_SIZE(counter_descs) * sizeof(u64));

static const char *const drop_names[] = {
#define DROP_NAME(sym, text_name, text) [FRDMA_DROP_##sym] = text_name,
	FRDMA_DROP_REASONS(DROP_NAME)
#undef DROP_NAME
};

/**
 * frdma_drop_name - the word for a reason
 * @why: reason
 *
 * Context: any.
 * Return: its name in FRDMA_DROP_REASONS.
 */
const char *frdma_drop_name(enum frdma_drop_reason why)
{
	return drop_names[why];
}

/**
 * frdma_qp_drop - give up a packet of a queue pair: count, trace, free
 * @qp: queue pair
 * @skb: the packet or the train, each packet of which counts; data at the UDP
 *	header; freed
 * @why: reason
 *
 * Context: in an RCU read section, where kfree_skb() is allowed.
 */
void frdma_qp_drop(const struct frdma_qp *qp, struct sk_buff *skb,
		   enum frdma_drop_reason why)
{
	this_cpu_add(frdma_qp_stats(qp)->dropped[why], frdma_skb_packets(skb));
	trace_frdma_drop(qp->dev->ndev->ifindex, qp->qpn, skb,
			 frdma_drop_name(why));
	kfree_skb(skb);
}

/**
 * frdma_qp_drop_several - the same for packets that have no buffer
 * @qp: queue pair
 * @nr: how many
 * @why: reason
 *
 * Context: in an RCU read section.
 */
void frdma_qp_drop_several(const struct frdma_qp *qp, u32 nr,
			   enum frdma_drop_reason why)
{
	this_cpu_add(frdma_qp_stats(qp)->dropped[why], nr);
	trace_frdma_drop(qp->dev->ndev->ifindex, qp->qpn, NULL,
			 frdma_drop_name(why));
}

/**
 * frdma_dev_drop_unbuilt - the same for one that is of no queue pair
 * @dev: the link
 * @why: reason
 *
 * Context: any.
 */
void frdma_dev_drop_unbuilt(const struct frdma_dev *dev,
			    enum frdma_drop_reason why)
{
	this_cpu_inc(dev->stats->dropped[why]);
	trace_frdma_drop(dev->ndev->ifindex, 0, NULL, frdma_drop_name(why));
}

/**
 * frdma_stats_add - add the counters of all CPUs to sums
 * @sum: an array of sizeof(struct frdma_stats), to which they are added
 * @stats: counters
 *
 * Context: any.
 */
void frdma_stats_add(u64 *sum, const struct frdma_stats __percpu *stats)
{
	const u64 *count;
	unsigned int i;
	int cpu;

	for_each_possible_cpu(cpu) {
		count = (const u64 *)per_cpu_ptr(stats, cpu);
		for (i = 0; i < ARRAY_SIZE(counter_descs); i++)
			sum[i] += READ_ONCE(count[i]);
	}
}

/**
 * frdma_alloc_stats - the names of struct frdma_stats, with room for values
 *
 * Context: process.
 * Return: the list, which the core frees; NULL without memory.
 */
struct rdma_hw_stats *frdma_alloc_stats(void)
{
	return rdma_alloc_hw_stats_struct(counter_descs,
					  ARRAY_SIZE(counter_descs),
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

/**
 * frdma_alloc_hw_port_stats - what "rdma statistic" lists for a port
 * @ib: device
 * @port: 1
 *
 * Context: process; verb.
 * Return: the list, which the core frees; NULL without memory.
 */
struct rdma_hw_stats *frdma_alloc_hw_port_stats(struct ib_device *ib, u32 port)
{
	return frdma_alloc_stats();
}
