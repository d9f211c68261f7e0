/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Numbers that peers see: those of queue pairs, and those in keys of memory.
 */
#ifndef FRDMA_NUMBER_H
#define FRDMA_NUMBER_H

#include "proto/shuffle.h"

/* Queue pair numbers of 24 bits. 0 and 1 are SMI's and GSI's, and a few more. */
#define FRDMA_QPN_FIRST		16
#define FRDMA_QPN_LAST		0xfffffe

/* A key: the number of the region or window, and bits that vary. */
#define FRDMA_MR_KEY_BITS	8
#define FRDMA_MR_KEY_MASK	0xffU
#define FRDMA_MR_NUMBER_FIRST	1
#define FRDMA_MR_NUMBER_LAST	(U32_MAX >> FRDMA_MR_KEY_BITS)

/*
 * In which order the numbers are given: of frdma_number_init(), and constant
 * from there on. Tables are by the number before it is shown, see
 * frdma_shuffle_show() and frdma_shuffle_find().
 */
extern struct frdma_shuffle frdma_qp_order;
extern struct frdma_shuffle frdma_mr_order;

/**
 * frdma_number_init - choose both orders anew
 *
 * Context: module init, before there is a link.
 */
void frdma_number_init(void);

#endif /* FRDMA_NUMBER_H */
