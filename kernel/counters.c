// SPDX-License-Identifier: GPL-2.0
#include "counters.h"

#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#include "account.h"
#include "dev.h"
#include "grace.h"
#include "limit.h"
#include "net.h"
#include "qp.h"
#include "stats.h"

/* Numbers that "rdma statistic" can show. */
#define COUNTER_IDS	XA_LIMIT(1, INT_MAX)

/**
 * struct frdma_qp_counter - the driver's part of a counter
 * @stats: what its queue pairs count
 * @charge: of the counter, to the user of its first queue pair
 */
struct frdma_qp_counter {
	struct frdma_charge charge;
	struct frdma_stats __percpu *stats;
};

/*
 * The core's memory for a counter has no room for ours. It may be asked for
 * what is no more: see frdma_counter_update_stats().
 */
static struct frdma_qp_counter *find_own(const struct rdma_counter *counter)
{
	return xa_load(&to_frdma(counter->device)->counters, counter->id);
}

static int make_own(struct rdma_counter *counter,
		    struct frdma_account *account)
{
	u64 bytes = sizeof(struct frdma_stats) * (u64)num_possible_cpus();
	struct frdma_dev *dev = to_frdma(counter->device);
	struct frdma_qp_counter *own;
	int err = -ENOMEM;

	own = kzalloc(sizeof(*own), FRDMA_GFP_OBJECT);
	if (!own)
		return err;
	if (!frdma_charge(&own->charge, account,
			  sizeof(*own) + bytes + FRDMA_CORE_BYTES))
		goto err_free;
	own->stats = alloc_percpu_gfp(struct frdma_stats, FRDMA_GFP_PAGES);
	if (!own->stats)
		goto err_uncharge;
	/* None soon again: some kernels list it for a while after its end. */
	err = xa_alloc_cyclic(&dev->counters, &counter->id, own, COUNTER_IDS,
			      &dev->counters_next, FRDMA_GFP_OBJECT);
	if (err < 0)
		goto err_free_stats;
	return 0;

err_free_stats:
	free_percpu(own->stats);
err_uncharge:
	frdma_uncharge(&own->charge);
err_free:
	kfree(own);
	return err;
}

/*
 * Nobody counts there any more, but for steps that have begun. What was
 * counted stays counted.
 */
static void unmake_own(struct rdma_counter *counter)
{
	struct frdma_dev *dev = to_frdma(counter->device);
	struct frdma_qp_counter *own = find_own(counter);

	if (!own)
		return;
	frdma_grace_period();

	mutex_lock(&dev->counters_mutex);
	xa_erase(&dev->counters, counter->id);
	frdma_stats_add((u64 *)dev->counters_past, own->stats);
	counter->id = 0;
	mutex_unlock(&dev->counters_mutex);

	free_percpu(own->stats);
	frdma_uncharge(&own->charge);
	kfree(own);
}

/* What queue pairs count, or have counted, in counters of their own. */
static void add_own(struct frdma_dev *dev, struct frdma_stats *sum)
{
	const u64 *past = (const u64 *)dev->counters_past;
	struct frdma_qp_counter *own;
	unsigned long id;
	size_t i;

	mutex_lock(&dev->counters_mutex);
	for (i = 0; i < sizeof(*sum) / sizeof(*past); i++)
		((u64 *)sum)[i] += past[i];
	xa_for_each(&dev->counters, id, own) {
		frdma_stats_add((u64 *)sum, own->stats);
		cond_resched();
	}
	mutex_unlock(&dev->counters_mutex);
}

/**
 * frdma_counters_sum - what a port has counted
 * @dev: its device
 * @sum: set; counters that queue pairs have for themselves are included
 *
 * Context: may sleep: any user may ask, and there may be many counters and CPUs.
 */
void frdma_counters_sum(struct frdma_dev *dev, struct frdma_stats *sum)
{
	memset(sum, 0, sizeof(*sum));
	frdma_stats_add((u64 *)sum, dev->stats);
	add_own(dev, sum);
	frdma_net_read_stats(dev->net, (u64 *)sum);
}

/* False if the queue pair was destroyed: the core may still list it. */
static bool count_at(struct ib_qp *ib, struct frdma_stats __percpu *stats)
{
	struct frdma_ib_qp *ibqp = to_frdma_ib_qp(ib);
	bool alive;

	mutex_lock(&ibqp->mutex);
	alive = ibqp->qp;
	if (alive)
		WRITE_ONCE(ibqp->qp->stats, stats);
	mutex_unlock(&ibqp->mutex);
	return alive;
}

/* NULL if the queue pair was destroyed: count_at() refuses that later. */
static struct frdma_account *account_of(struct ib_qp *ib)
{
	struct frdma_ib_qp *ibqp = to_frdma_ib_qp(ib);
	struct frdma_account *account;

	mutex_lock(&ibqp->mutex);
	account = ibqp->qp ? ibqp->qp->charge.account : NULL;
	if (account)
		refcount_inc(&account->refs);
	mutex_unlock(&ibqp->mutex);
	return account;
}

static int make_counter_of(struct rdma_counter *counter, struct ib_qp *ib)
{
	struct frdma_account *account = account_of(ib);
	int err = make_own(counter, account);

	if (account)
		frdma_account_put(account);
	return err;
}

/* The first queue pair of a counter makes it. */
int frdma_counter_bind_qp(struct rdma_counter *counter, struct ib_qp *ib,
			  u32 port)
{
	bool first = !counter->id;
	int err;

	if (first) {
		err = make_counter_of(counter, ib);
		if (err)
			return err;
	}
	if (!count_at(ib, find_own(counter)->stats)) {
		if (first)
			unmake_own(counter);
		return -EINVAL;
	}
	ib->counter = counter;
	return 0;
}

int frdma_counter_unbind_qp(struct ib_qp *ib, u32 port)
{
	count_at(ib, to_frdma(ib->device)->stats);
	ib->counter = NULL;
	return 0;
}

int frdma_counter_dealloc(struct rdma_counter *counter)
{
	unmake_own(counter);
	return 0;
}

struct rdma_hw_stats *frdma_counter_alloc_stats(struct rdma_counter *counter)
{
	return frdma_alloc_stats();
}

/*
 * "rdma statistic" asks for counters that it lists, and the core goes on
 * listing one until frdma_counter_dealloc() has returned.
 */
int frdma_counter_update_stats(struct rdma_counter *counter)
{
	struct frdma_dev *dev = to_frdma(counter->device);
	struct rdma_hw_stats *stats = counter->stats;
	const struct frdma_qp_counter *own;
	struct frdma_stats sums = { };
	int i;

	mutex_lock(&dev->counters_mutex);
	own = find_own(counter);
	if (own)
		frdma_stats_add((u64 *)&sums, own->stats);
	mutex_unlock(&dev->counters_mutex);
	if (!own)
		return -ENOENT;

	for (i = 0; i < stats->num_counters; i++)
		/* The core shows it meanwhile: nobody sees half a sum. */
		data_race(stats->value[i] = ((u64 *)&sums)[i]);
	return 0;
}
