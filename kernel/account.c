// SPDX-License-Identifier: GPL-2.0
/* Accounts: memory that the objects of a user take. */
#include "account.h"

#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/hashtable.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/user_namespace.h>

#include "limit.h"

/*
 * Ten users together can take the memory of a machine. One user has tens of
 * thousands of queue pairs on a small server.
 */
#define USER_MEMORY_PERCENT	10

/* The reserve grows with the machine, and is never less than that many bytes. */
#define RESERVE_BYTES_MIN	SZ_16M
#define RESERVE_PERCENT		2
#define RESERVE_PERCENT_MAX	50

static int set_user_memory(const char *value, const struct kernel_param *param)
{
	return param_set_uint_minmax(value, param, 1, 100);
}

static const struct kernel_param_ops user_memory_ops = {
	.set = set_user_memory,
	.get = param_get_uint,
};

static unsigned int user_memory_percent = USER_MEMORY_PERCENT;
module_param_cb(user_memory_percent, &user_memory_ops, &user_memory_percent,
		0644);
__MODULE_PARM_TYPE(user_memory_percent, "uint");
MODULE_PARM_DESC(user_memory_percent,
		 "percent of memory that objects of an unprivileged user take at most, 1 to 100");

static int set_reserve(const char *value, const struct kernel_param *param)
{
	return param_set_uint_minmax(value, param, 0, RESERVE_PERCENT_MAX);
}

static const struct kernel_param_ops reserve_ops = {
	.set = set_reserve,
	.get = param_get_uint,
};

static unsigned int memory_reserve_percent = RESERVE_PERCENT;
module_param_cb(memory_reserve_percent, &reserve_ops, &memory_reserve_percent,
		0644);
__MODULE_PARM_TYPE(memory_reserve_percent, "uint");
MODULE_PARM_DESC(memory_reserve_percent,
		 "percent of memory that must be available for processes to get objects, 0 to 50");

static DEFINE_HASHTABLE(accounts, 6);
static DEFINE_SPINLOCK(accounts_lock);

/*
 * The sum over all users, for administrators and tests. Only root may read it: its
 * changes show what objects other users make.
 */
static int get_memory_bytes(char *buffer, const struct kernel_param *param)
{
	const struct frdma_account *account;
	u64 sum = 0;
	int bucket;

	spin_lock(&accounts_lock);
	hash_for_each(accounts, bucket, account, entry)
		sum += atomic64_read(&account->bytes);
	spin_unlock(&accounts_lock);
	return sysfs_emit(buffer, "%llu\n", sum);
}

/* As the module is loaded: sysfs lets nobody write. */
static int refuse_to_set(const char *value, const struct kernel_param *param)
{
	return -EINVAL;
}

static const struct kernel_param_ops memory_bytes_ops = {
	.set = refuse_to_set,
	.get = get_memory_bytes,
};

module_param_cb(memory_bytes, &memory_bytes_ops, NULL, 0400);
__MODULE_PARM_TYPE(memory_bytes, "ullong");
MODULE_PARM_DESC(memory_bytes, "memory that objects of all users take; read-only, by root");

static u64 percent_of_memory(unsigned int percent)
{
	return mul_u64_u32_div((u64)totalram_pages() << PAGE_SHIFT, percent,
			       100);
}

/*
 * ib_core and the library allocate parts of each object, too, and the kernel kills
 * a process if there is no memory for these.
 */
static bool memory_suffices(u64 bytes)
{
	unsigned int percent = READ_ONCE(memory_reserve_percent);
	u64 reserve = max_t(u64, percent_of_memory(percent),
			    RESERVE_BYTES_MIN);

	return si_mem_available() > (long)((bytes + reserve) >> PAGE_SHIFT);
}

/*
 * Accounts
 */

kuid_t frdma_responsible_user(void)
{
	struct user_namespace *ns = current_user_ns();
	kuid_t uid = current_uid();

	for (; ns != &init_user_ns; ns = ns->parent)
		uid = uid_eq(ns->owner, GLOBAL_ROOT_UID) ? make_kuid(ns, 0) :
							   ns->owner;
	return uid;
}

static struct frdma_account *find_account(kuid_t uid, bool limited)
{
	struct frdma_account *account;

	lockdep_assert_held(&accounts_lock);

	hash_for_each_possible(accounts, account, entry, __kuid_val(uid))
		if (uid_eq(account->uid, uid) && account->limited == limited)
			return account;
	return NULL;
}

static struct frdma_account *make_account(kuid_t uid, bool limited)
{
	struct frdma_account *account;

	account = kzalloc(sizeof(*account), FRDMA_GFP_OBJECT);
	if (!account)
		return NULL;

	account->uid = uid;
	account->limited = limited;
	refcount_set(&account->refs, 1);
	return account;
}

struct frdma_account *frdma_account_get(void)
{
	bool limited = !ns_capable_noaudit(&init_user_ns, CAP_SYS_RESOURCE);
	struct frdma_account *made, *found;
	kuid_t uid = frdma_responsible_user();

	made = make_account(uid, limited);
	if (!made)
		return NULL;

	spin_lock(&accounts_lock);
	found = find_account(uid, limited);
	if (found)
		refcount_inc(&found->refs);
	else
		hash_add(accounts, &made->entry, __kuid_val(uid));
	spin_unlock(&accounts_lock);

	if (!found)
		return made;
	kfree(made);
	return found;
}

void frdma_account_put(struct frdma_account *account)
{
	bool last;

	if (refcount_dec_not_one(&account->refs))
		return;

	/* A lookup takes its reference under the lock. */
	spin_lock(&accounts_lock);
	last = refcount_dec_and_test(&account->refs);
	if (last)
		hash_del(&account->entry);
	spin_unlock(&accounts_lock);
	if (last)
		kfree(account);
}

bool frdma_account_add(struct frdma_account *account, u64 bytes)
{
	u64 limit = percent_of_memory(READ_ONCE(user_memory_percent));
	s64 has;

	if (!account)
		return true;

	has = atomic64_read(&account->bytes);
	do {
		if (account->limited && has + bytes > limit)
			goto err_limit;
	} while (!atomic64_try_cmpxchg(&account->bytes, &has, has + bytes));

	return true;

err_limit:
	pr_notice_ratelimited("user %u is refused memory for objects: they take %llu bytes, at most %llu (parameter user_memory_percent)\n",
			      from_kuid(&init_user_ns, account->uid),
			      (u64)has, limit);
	return false;
}

void frdma_account_sub(struct frdma_account *account, u64 bytes)
{
	if (account)
		atomic64_sub(bytes, &account->bytes);
}

/*
 * Objects
 */

bool frdma_charge(struct frdma_charge *charge, struct frdma_account *account,
		  u64 bytes)
{
	*charge = (struct frdma_charge) {};
	if (!account)
		return true;
	if (!memory_suffices(bytes) || !frdma_account_add(account, bytes))
		return false;

	refcount_inc(&account->refs);
	charge->account = account;
	charge->bytes = bytes;
	return true;
}

void frdma_uncharge(struct frdma_charge *charge)
{
	if (!charge->account)
		return;

	frdma_account_sub(charge->account, charge->bytes);
	frdma_account_put(charge->account);
	*charge = (struct frdma_charge) {};
}

/*
 * Pools
 */

/* An unprivileged user gets half of the part that others left. */
static bool pool_take_own(struct frdma_account *account, atomic_t *own,
			  int taken, int most, int amount)
{
	int has = atomic_read(own);
	int left;

	do {
		left = most - max(taken - has, 0);
		if (account->limited && amount > left / 2 - has)
			return false;
	} while (!atomic_try_cmpxchg(own, &has, has + amount));

	return true;
}

bool frdma_pool_take(struct frdma_account *account, enum frdma_pool pool,
		     atomic_t *taken, int most, int amount)
{
	int before = atomic_read(taken);

	if (account && !pool_take_own(account, &account->pools[pool], before,
				      most, amount))
		return false;

	do {
		if (amount > most - before)
			goto err_give;
	} while (!atomic_try_cmpxchg(taken, &before, before + amount));

	return true;

err_give:
	if (account)
		atomic_sub(amount, &account->pools[pool]);
	return false;
}

void frdma_pool_give(struct frdma_account *account, enum frdma_pool pool,
		     atomic_t *taken, int amount)
{
	atomic_sub(amount, taken);
	if (account)
		atomic_sub(amount, &account->pools[pool]);
}

void frdma_pool_move(struct frdma_account *from, struct frdma_account *to,
		     enum frdma_pool pool, int amount)
{
	if (from)
		atomic_sub(amount, &from->pools[pool]);
	if (to)
		atomic_add(amount, &to->pools[pool]);
}
