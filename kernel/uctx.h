/* SPDX-License-Identifier: GPL-2.0 */
/* A process's context, its mappings, and protection domains. */
#ifndef FRDMA_UCTX_H
#define FRDMA_UCTX_H

#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>

#include "account.h"

/* Contexts of a device; protection domains (advertised). */
#define FRDMA_MAX_UCTX		(1 << 20)
#define FRDMA_MAX_PD		(1 << 20)

/* Bytes that a process may put into a send work request itself. */
#define FRDMA_MAX_INLINE_BYTES	1024

/**
 * struct frdma_uctx - a process that has the device open
 * @ib: what ib_core knows of it
 * @charge: of the context. Objects made with the context use its account
 */
struct frdma_uctx {
	struct ib_ucontext ib;
	struct frdma_charge charge;
};

/**
 * struct frdma_pd - a protection domain
 * @ib: what ib_core knows of it. Objects compare its address; they look into
 *      it only while ib_core's use count holds it.
 * @charge: of the domain
 * @nr_odp: regions in it whose memory is not pinned
 */
struct frdma_pd {
	struct ib_pd ib;
	struct frdma_charge charge;
	atomic_t nr_odp;
};

static inline struct frdma_pd *to_frdma_pd(struct ib_pd *ib)
{
	return container_of(ib, struct frdma_pd, ib);
}

/** frdma_pd_has_odp() - may memory of this domain be absent */
static inline bool frdma_pd_has_odp(struct ib_pd *ib)
{
	return atomic_read(&to_frdma_pd(ib)->nr_odp);
}

/** frdma_uctx_account() - account of a context; NULL: a consumer in the kernel */
static inline struct frdma_account *frdma_uctx_account(struct ib_ucontext *ib)
{
	return ib ? container_of(ib, struct frdma_uctx, ib)->charge.account :
		    NULL;
}

/** frdma_udata_account() - account of the context of a verb's driver data */
static inline struct frdma_account *frdma_udata_account(struct ib_udata *udata)
{
	struct frdma_uctx *uctx = rdma_udata_to_drv_context(udata,
						struct frdma_uctx, ib);

	return uctx ? uctx->charge.account : NULL;
}

/** frdma_pd_account() - account of objects in a protection domain */
static inline struct frdma_account *frdma_pd_account(struct ib_pd *ib)
{
	return to_frdma_pd(ib)->charge.account;
}

/**
 * frdma_check_request() - refuse driver data of a verb that nobody here knows
 * @udata: of the verb, NULL for a consumer in the kernel
 *
 * Only a change of size of a shared receive queue has some, and looks by
 * itself. Zeroes are what a newer process sends that wants nothing new.
 *
 * Context: process, may sleep. Return: 0 or -EOPNOTSUPP.
 */
int frdma_check_request(struct ib_udata *udata);

/**
 * frdma_respond_to() - copy a response to a buffer of the process
 * @to: the buffer
 * @size: bytes of it, as the process says
 * @resp: the response
 * @len: bytes of it
 *
 * A process built for an older ABI gets the beginning that it knows. A newer
 * process finds zeroes behind @len bytes.
 *
 * Context: process, may sleep. Return: 0 or -EFAULT.
 */
int frdma_respond_to(void __user *to, size_t size, const void *resp,
		     size_t len);

/**
 * frdma_respond() - copy driver data of a verb to the process
 * @udata: of the verb, NULL for a consumer in the kernel
 * @resp: what the kernel has to say
 * @len: bytes of it
 *
 * As frdma_respond_to(), for the response buffer of the command.
 *
 * Context: process, may sleep. Return: 0 or -EFAULT.
 */
int frdma_respond(struct ib_udata *udata, const void *resp, size_t len);

/**
 * frdma_no_driver_data() - of a verb that has none, in neither direction
 * @udata: of the verb, NULL for a consumer in the kernel
 *
 * As frdma_check_request(), and what a newer process hopes to be told reads as
 * zero.
 *
 * Context: process, may sleep. Return: 0, -EOPNOTSUPP or -EFAULT.
 */
int frdma_no_driver_data(struct ib_udata *udata);

/* The methods of protection domains, for the device's table (dev.c). */
extern const struct uapi_definition frdma_pd_uapi[];

/* Verbs; contexts and returns as ib_core defines them. */
int frdma_alloc_ucontext(struct ib_ucontext *ib, struct ib_udata *udata);
void frdma_dealloc_ucontext(struct ib_ucontext *ib);
int frdma_query_ucontext(struct ib_ucontext *ib,
			 struct uverbs_attr_bundle *attrs);
void frdma_disassociate_ucontext(struct ib_ucontext *ib);
int frdma_alloc_pd(struct ib_pd *ib, struct ib_udata *udata);
int frdma_dealloc_pd(struct ib_pd *ib, struct ib_udata *udata);

#endif /* FRDMA_UCTX_H */
