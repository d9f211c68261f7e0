/* SPDX-License-Identifier: GPL-2.0 */
#ifndef FRDMA_NL_H
#define FRDMA_NL_H

struct ib_cq;
struct ib_mr;
struct ib_qp;
struct sk_buff;

int frdma_fill_res_qp_entry(struct sk_buff *msg, struct ib_qp *ib);
int frdma_fill_res_cq_entry(struct sk_buff *msg, struct ib_cq *ib);
int frdma_fill_res_mr_entry(struct sk_buff *msg, struct ib_mr *ib);

#endif /* FRDMA_NL_H */
