/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Protection, parent and thread domains, and the memory of what is made in
 * them. Each verb has the meaning, arguments and result of the libibverbs call
 * of its name.
 */
#ifndef FRDMA_PROVIDER_PD_H
#define FRDMA_PROVIDER_PD_H

#include <stdbool.h>

#include <infiniband/driver.h>

struct frdma_pd;

/**
 * enum frdma_mem - what a parent domain's allocator is asked for
 * @FRDMA_QP_MEM: a queue pair
 * @FRDMA_SRQ_MEM: a shared receive queue
 * @FRDMA_CQ_MEM: a completion queue
 *
 * The lower half of the resource type; the upper is the driver.
 */
enum frdma_mem {
	FRDMA_QP_MEM,
	FRDMA_SRQ_MEM,
	FRDMA_CQ_MEM,
};

/**
 * frdma_pd_alloc() - memory for an object, all zero
 * @ibvpd: the domain that it is made in, or NULL
 * @kind: what it is for
 * @size: bytes
 * @home: receives whom to give it back to
 *
 * Where the domain is a parent domain with allocators, these decide.
 *
 * Return: the memory; NULL, with errno, if there is none.
 */
void *frdma_pd_alloc(struct ibv_pd *ibvpd, enum frdma_mem kind, size_t size,
		     struct frdma_pd **home);

/**
 * frdma_pd_free() - give it back
 * @home: as frdma_pd_alloc() said
 * @kind: likewise
 * @ptr: the memory
 */
void frdma_pd_free(struct frdma_pd *home, enum frdma_mem kind, void *ptr);

/**
 * frdma_pd_needs_lock() - whether several threads may use a queue of a domain
 * @ibvpd: the domain, or NULL
 *
 * They may unless it is in a thread domain.
 */
bool frdma_pd_needs_lock(struct ibv_pd *ibvpd);

struct ibv_pd *frdma_alloc_pd(struct ibv_context *ibvctx);
struct ibv_pd *
frdma_alloc_parent_domain(struct ibv_context *ibvctx,
			  struct ibv_parent_domain_init_attr *attr);
int frdma_dealloc_pd(struct ibv_pd *ibvpd);
struct ibv_pd *frdma_import_pd(struct ibv_context *ibvctx, uint32_t handle);
void frdma_unimport_pd(struct ibv_pd *ibvpd);
struct ibv_td *frdma_alloc_td(struct ibv_context *ibvctx,
			      struct ibv_td_init_attr *attr);
int frdma_dealloc_td(struct ibv_td *ibvtd);

#endif /* FRDMA_PROVIDER_PD_H */
