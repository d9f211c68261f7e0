/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel that the provider's queues are tested with: a memfd, from which rings
 * are mapped. The commands that reach the kernel through libibverbs are defined in
 * fake.c and take the place of the library's, and so is ioctl(), where doorbells
 * arrive.
 */
#ifndef FRDMA_TEST_FAKE_H
#define FRDMA_TEST_FAKE_H

#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <rdma/ib_user_ioctl_cmds.h>

#include "frdma.h"
#include "abi.h"
#include "cq.h"
#include "pd.h"
#include "qp.h"
#include "srq.h"
#include "verbs.h"
#include "tap.h"

#define SQ_ENTRIES	8
#define RQ_ENTRIES	4
#define CQ_ENTRIES	8
#define MAX_SGE		3
#define MAX_INLINE	100

struct doorbell {
	struct ib_uverbs_ioctl_hdr hdr;
	struct ib_uverbs_attr attr;
};

/**
 * struct fake - what the fake kernel knows
 * @vctx: the process's context
 * @fd: the memfd
 * @rings: how many were made
 * @desc: of each
 * @cq_flags: what the last completion queue is to tell
 * @fail_resize: errno of every resize; 0: they succeed
 * @short_resize: it refuses a change of a shared receive queue that has a length of
 *	the response, as older modules do
 * @fail_doorbell: errno of every doorbell; 0: they succeed
 * @later_library: struct ibv_qp_ex of libibverbs has a function more than here
 * @doorbells: how many have arrived
 * @bell: the last one
 * @clock_ns: what the clock of timestamps says; 0: the kernel has no such method
 * @in_doorbell: runs inside each doorbell, in place of another thread
 */
struct fake {
	struct verbs_context vctx;
	int fd;
	unsigned int rings;
	struct frdma_ring_desc desc[16];
	uint32_t cq_flags;
	int fail_resize;
	bool short_resize;
	int fail_doorbell;
	bool later_library;
	unsigned int doorbells;
	struct doorbell bell;
	uint64_t clock_ns;
	void (*in_doorbell)(void);
};

extern struct fake kernel;

/* A kernel for one test; those below that open an object open it, too. */
void kernel_open(void);
void kernel_close(void);

/* A queue pair in RTS; NULL and errno, and the kernel is open, if refused. */
struct ibv_qp *open_qp(enum ibv_qp_type type, uint64_t ops);
void close_qp(struct ibv_qp *qp);

/* Where libibverbs, this one or a later one, has the mask of a queue pair. */
uint32_t *qp_mask(struct verbs_qp *qp);

struct frdma_srq *open_srq(void);
void close_srq(struct frdma_srq *srq);
int post_one_srq(struct frdma_srq *srq, uint64_t wr_id);
uint64_t srq_slot_id(struct frdma_srq *srq, uint32_t at);

/* A lone one is of one thread, and tells when. */
struct frdma_cq *open_cq(uint64_t wc_flags);
struct frdma_cq *open_lone_cq(void);
void close_cq(struct frdma_cq *cq);

/* What the kernel would do; complete() is for queue pair 17. */
void complete_of(struct frdma_ring *ring, uint64_t wr_id, uint32_t qp_num);
void complete(struct frdma_ring *ring, uint64_t wr_id);

static inline unsigned int doorbells(void)
{
	return kernel.doorbells;
}

static inline struct frdma_ring_head *sq_head(struct ibv_qp *qp)
{
	return to_frdma_qp(qp)->sq.ring.head;
}

static inline struct frdma_ring_head *rq_head(struct ibv_qp *qp)
{
	return to_frdma_qp(qp)->rq.ring.head;
}

static inline struct frdma_send_wqe *sq_slot(struct ibv_qp *qp, uint32_t at)
{
	return frdma_ring_slot(&to_frdma_qp(qp)->sq.ring, at);
}

#endif /* FRDMA_TEST_FAKE_H */
