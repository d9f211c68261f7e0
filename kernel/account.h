/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Accounts: memory that the objects of a user take.
 *
 * Objects of processes are memory of the kernel. RLIMIT_MEMLOCK does not bound it,
 * and the OOM killer does not count it. So each object is charged to its user, and
 * an unprivileged user has a limit (parameter user_memory_percent). A process with
 * CAP_SYS_RESOURCE opens the device without a limit. Consumers in the kernel have
 * no account.
 *
 * Pools of a device (device memory, packets that are kept, multicast groups, objects
 * of each kind) are shared: an unprivileged user gets at most half of the part that
 * others left.
 */
#ifndef FRDMA_ACCOUNT_H
#define FRDMA_ACCOUNT_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/types.h>
#include <linux/uidgid.h>

/*
 * What ib_core, uverbs and the tables of this module hold for one object,
 * besides the object itself: 300 to 500 bytes on 6.12.
 */
#define FRDMA_CORE_BYTES	512

/**
 * enum frdma_pool - resources of a device that users share
 * @FRDMA_POOL_DM: bytes of device memory
 * @FRDMA_POOL_KEPT: bytes of packets that are ahead of their turn, or wait for room
 *	in a queue of the host
 * @FRDMA_POOL_GROUPS: multicast groups
 * @FRDMA_POOL_MEMBERS: queue pairs attached to multicast groups
 * @FRDMA_POOL_UCTX: contexts
 * @FRDMA_POOL_PD: protection domains
 * @FRDMA_POOL_XRCD: domains of extended reliable connections
 * @FRDMA_POOL_AH: address handles
 * @FRDMA_POOL_CQ: completion queues
 * @FRDMA_POOL_SRQ: shared receive queues
 * @FRDMA_POOL_QP: queue pairs
 * @FRDMA_POOL_MR: memory regions
 * @FRDMA_POOL_MW: memory windows
 * @FRDMA_NR_POOLS: number of pools
 */
enum frdma_pool {
	FRDMA_POOL_DM,
	FRDMA_POOL_KEPT,
	FRDMA_POOL_GROUPS,
	FRDMA_POOL_MEMBERS,
	FRDMA_POOL_UCTX,
	FRDMA_POOL_PD,
	FRDMA_POOL_XRCD,
	FRDMA_POOL_AH,
	FRDMA_POOL_CQ,
	FRDMA_POOL_SRQ,
	FRDMA_POOL_QP,
	FRDMA_POOL_MR,
	FRDMA_POOL_MW,
	FRDMA_NR_POOLS,
};

/**
 * struct frdma_account - memory and pools of one user, over all devices
 * @entry: in the table of accounts; under its lock
 * @uid: see frdma_responsible_user()
 * @limited: the user has a limit
 * @refs: charges, and callers of frdma_account_get()
 * @bytes: memory
 * @pools: the user's part of each pool, over all devices
 */
struct frdma_account {
	struct hlist_node entry;
	kuid_t uid;
	bool limited;
	refcount_t refs;
	atomic64_t bytes;
	atomic_t pools[FRDMA_NR_POOLS];
};

/**
 * struct frdma_charge - the charge of one object
 * @account: the account; held. NULL: the object is charged to none
 * @bytes: memory
 */
struct frdma_charge {
	struct frdma_account *account;
	u64 bytes;
};

/**
 * frdma_responsible_user() - the user whose account this process uses
 *
 * Context: process. Return: for a process in a user namespace, the user who made
 * the outermost one. If that is root, as for containers, the root of that
 * namespace instead. All namespaces without a root of their own are one user.
 * Containers without a user namespace run as the root of the host, and share the
 * account of it. A user with subordinate ids can use theirs, as for RLIMIT_NPROC.
 */
kuid_t frdma_responsible_user(void);

/**
 * frdma_account_get() - the account of this process's user
 *
 * Context: process, may sleep. Return: the account, held; NULL: no memory.
 */
struct frdma_account *frdma_account_get(void);

/**
 * frdma_account_put() - give a reference back
 * @account: held by the caller
 *
 * Context: process.
 */
void frdma_account_put(struct frdma_account *account);

/**
 * frdma_account_add() - charge an account, within its user's limit
 * @account: held by the caller; NULL: no account
 * @bytes: memory
 *
 * Context: any. Return: true, and frdma_account_sub() is owed; false at the
 * limit.
 */
bool frdma_account_add(struct frdma_account *account, u64 bytes);

/**
 * frdma_account_sub() - undo frdma_account_add()
 * @account: as for frdma_account_add()
 * @bytes: the same bytes
 *
 * Context: any.
 */
void frdma_account_sub(struct frdma_account *account, u64 bytes);

/**
 * frdma_charge() - charge a user with an object
 * @charge: set to the charge; all zero on failure
 * @account: of the user; NULL: no account
 * @bytes: memory of the object
 *
 * Context: process, may sleep; any without an account. Return: true, and
 * frdma_uncharge() is owed; false at the user's limit, and if the system would
 * have less left than the reserve (parameter memory_reserve_percent).
 */
bool frdma_charge(struct frdma_charge *charge, struct frdma_account *account,
		  u64 bytes);

/**
 * frdma_uncharge() - undo frdma_charge()
 * @charge: of an object; all zero afterwards. A charge that is all zero is ignored
 *
 * Context: process; any without an account.
 */
void frdma_uncharge(struct frdma_charge *charge);

/**
 * frdma_pool_take() - take a part of a device's pool
 * @account: of the user, held by the caller; NULL: no account
 * @pool: the pool
 * @taken: parts of all users, of this device; at most @most
 * @most: size of the pool
 * @amount: the part
 *
 * Context: any. Return: true, and frdma_pool_give() is owed; false if the pool has
 * less, or the user would exceed the share.
 */
bool frdma_pool_take(struct frdma_account *account, enum frdma_pool pool,
		     atomic_t *taken, int most, int amount);

/**
 * frdma_pool_give() - undo frdma_pool_take()
 * @account: as for frdma_pool_take()
 * @pool: the same pool
 * @taken: the same counter
 * @amount: the same part
 *
 * Context: any.
 */
void frdma_pool_give(struct frdma_account *account, enum frdma_pool pool,
		     atomic_t *taken, int amount);

/**
 * frdma_pool_move() - charge another user with a part of a pool
 * @from: account that took it; NULL: none
 * @to: account that has it now, even above its share; NULL: none
 * @pool: the pool
 * @amount: the part
 *
 * Context: any.
 */
void frdma_pool_move(struct frdma_account *from, struct frdma_account *to,
		     enum frdma_pool pool, int amount);

#endif /* FRDMA_ACCOUNT_H */
