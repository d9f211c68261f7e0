/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What random.c can ask of the kernel: the commands of write() and the methods
 * of ioctl(), and for each argument where a value comes from that may do.
 */
#ifndef FRDMA_TEST_CALLS_H
#define FRDMA_TEST_CALLS_H

#include <stdbool.h>
#include <stddef.h>

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "table.h"

/* Numbers of Linux 7.2, which older headers do not have. */
#define UVERBS_OBJECT_DMAH		(UVERBS_OBJECT_ASYNC_EVENT + 1)
#define UVERBS_OBJECT_DMABUF		(UVERBS_OBJECT_ASYNC_EVENT + 2)
#define UVERBS_METHOD_QUERY_PORT_SPEED	(UVERBS_METHOD_QUERY_GID_ENTRY + 1)
#define UVERBS_METHOD_DMAH_ALLOC	0
#define UVERBS_METHOD_DMAH_FREE		1
#define UVERBS_METHOD_DMABUF_ALLOC	0
#define UVERBS_METHOD_REG_MR		(UVERBS_METHOD_REG_DMABUF_MR + 1)

#define UVERBS_ATTR_QUERY_PORT_SPEED_PORT_NUM	0
#define UVERBS_ATTR_QUERY_PORT_SPEED_RESP	1
#define UVERBS_ATTR_CREATE_CQ_BUFFER_VA	(UVERBS_ATTR_CREATE_CQ_EVENT_FD + 1)
#define UVERBS_ATTR_ALLOC_DMAH_HANDLE	0
#define UVERBS_ATTR_ALLOC_DMAH_CPU_ID	1
#define UVERBS_ATTR_ALLOC_DMAH_PH	3
#define UVERBS_ATTR_FREE_DMA_HANDLE	0
#define UVERBS_ATTR_ALLOC_DMABUF_HANDLE	0
#define UVERBS_ATTR_ALLOC_DMABUF_PGOFF	1
#define UVERBS_ATTR_REG_MR_HANDLE	0
#define UVERBS_ATTR_REG_MR_PD_HANDLE	1
#define UVERBS_ATTR_REG_MR_DMA_HANDLE	2
#define UVERBS_ATTR_REG_MR_IOVA		3
#define UVERBS_ATTR_REG_MR_ADDR		4
#define UVERBS_ATTR_REG_MR_LENGTH	5
#define UVERBS_ATTR_REG_MR_ACCESS_FLAGS	6
#define UVERBS_ATTR_REG_MR_FD		7
#define UVERBS_ATTR_REG_MR_FD_OFFSET	8
#define UVERBS_ATTR_REG_MR_RESP_LKEY	9
#define UVERBS_ATTR_REG_MR_RESP_RKEY	10

enum how {
	LAST,		/* there are no more */
	IS,		/* arg */
	BELOW,		/* less than arg */
	BITS,		/* some of those of arg */
	COUNT,		/* 1 to arg: how many, how long */
	HANDLE,		/* of an object of that kind */
	FILE_OF,	/* that object's file, or none */
	DMABUF,		/* the file of a dma-buf */
	ADDRESS,	/* in the arena */
	ANSWER,		/* arg bytes are told; methods only */
	NEW,		/* an object of that kind; methods only */
	CAPS,		/* what a queue pair can; methods only */
	SGES,		/* pieces of a region; methods only */
};

/**
 * struct field - an argument
 * @at: offset in a command, number of an attribute
 * @maybe: an attribute that may be left out
 */
struct field {
	enum how how;
	uint16_t at, size;
	uint64_t arg;
	bool maybe;
};

struct thread;
struct sent;

/**
 * struct call - a command or a method
 * @never: not offered by frdma, or not to whoever has a context already
 * @young: a method that only newer kernels know; asked of this one
 * @number: of the command, with the flag of extended ones; of the method
 * @object: that the method belongs to
 * @in: bytes of a command, and of what it is answered with; without our part
 * @driver_in: bytes of our part
 * @makes: kind of object; @ends: likewise
 * @number_at: where the answer tells its number, as struct field has it
 * @rkey_at: likewise
 * @fill: makes arguments fit each other
 * @taken: it has succeeded
 */
struct call {
	const char *name;
	bool never, young;
	uint32_t number;
	uint16_t object, in, out, driver_in, driver_out;
	enum kind makes, ends;
	uint16_t number_at, rkey_at;
	void (*fill)(struct thread *me, void *body);
	void (*taken)(struct thread *me, const struct sent *sent);
	struct field fields[16];
};

static void fill_ah(struct thread *me, void *body);
static void fill_reg(struct thread *me, void *body);
static void fill_rereg(struct thread *me, void *body);
static void fill_qp(struct thread *me, void *body);
static void fill_ex_qp(struct thread *me, void *body);
static void fill_modify_qp(struct thread *me, void *body);
static void fill_xsrq(struct thread *me, void *body);
static void fill_modify_srq(struct thread *me, void *body);
static void fill_attach(struct thread *me, void *body);
static void fill_detach(struct thread *me, void *body);
static void fill_open_xrcd(struct thread *me, void *body);
static void fill_open_qp(struct thread *me, void *body);

static void taken_attach(struct thread *me, const struct sent *sent);
static void taken_ah(struct thread *me, const struct sent *sent);
static void taken_reg(struct thread *me, const struct sent *sent);
static void taken_rereg(struct thread *me, const struct sent *sent);
static void taken_qp(struct thread *me, const struct sent *sent);
static void taken_ex_qp(struct thread *me, const struct sent *sent);
static void taken_modify_qp(struct thread *me, const struct sent *sent);
static void taken_modify_srq(struct thread *me, const struct sent *sent);
static void taken_resize_cq(struct thread *me, const struct sent *sent);
static void taken_qp_method(struct thread *me, const struct sent *sent);
static void taken_dm_mr(struct thread *me, const struct sent *sent);
static void taken_dmabuf_mr(struct thread *me, const struct sent *sent);
static void taken_reg_mr(struct thread *me, const struct sent *sent);

#define COMMAND(NAME, type)						\
	.name = #type, .number = IB_USER_VERBS_CMD_##NAME,		\
	.in = sizeof(struct ib_uverbs_##type)
#define EX_COMMAND(NAME, type)						\
	.name = #type, .in = sizeof(struct ib_uverbs_##type),		\
	.number = IB_USER_VERBS_EX_CMD_##NAME | IB_USER_VERBS_CMD_FLAG_EXTENDED
#define OUT(type)	.out = sizeof(struct ib_uverbs_##type)
#define TOLD(type, member)						\
	offsetof(struct ib_uverbs_##type, member)
#define ARG(type, member, how_, arg_)					\
	{ .how = how_, .arg = arg_,					\
	  .at = offsetof(struct ib_uverbs_##type, member),		\
	  .size = sizeof(((struct ib_uverbs_##type *)NULL)->member) }

/* Of regions: but for that of addresses that begin at zero. */
#define RIGHTS_BITS	0x5f

static const struct call commands[] = {
	{ COMMAND(GET_CONTEXT, get_context), OUT(get_context_resp),
	  .never = true },
	{ COMMAND(QUERY_DEVICE, query_device), OUT(query_device_resp) },
	{ COMMAND(QUERY_PORT, query_port), OUT(query_port_resp), .fields = {
		ARG(query_port, port_num, IS, 1) } },
	{ COMMAND(ALLOC_PD, alloc_pd), OUT(alloc_pd_resp), .makes = PD },
	{ COMMAND(DEALLOC_PD, dealloc_pd), .ends = PD, .fields = {
		ARG(dealloc_pd, pd_handle, HANDLE, PD) } },
	{ COMMAND(CREATE_AH, create_ah), OUT(create_ah_resp), .makes = AH,
	  .driver_out = sizeof(struct frdma_create_ah_resp),
	  .fill = fill_ah, .taken = taken_ah, .fields = {
		ARG(create_ah, pd_handle, HANDLE, PD) } },
	{ COMMAND(DESTROY_AH, destroy_ah), .ends = AH, .fields = {
		ARG(destroy_ah, ah_handle, HANDLE, AH) } },
	{ COMMAND(REG_MR, reg_mr), OUT(reg_mr_resp), .makes = MR,
	  .number_at = TOLD(reg_mr_resp, lkey),
	  .rkey_at = TOLD(reg_mr_resp, rkey),
	  .fill = fill_reg, .taken = taken_reg, .fields = {
		ARG(reg_mr, start, ADDRESS, 0),
		ARG(reg_mr, length, COUNT, 70000),
		ARG(reg_mr, pd_handle, HANDLE, PD),
		ARG(reg_mr, access_flags, BITS, RIGHTS_BITS) } },
	{ COMMAND(REREG_MR, rereg_mr), OUT(rereg_mr_resp),
	  .fill = fill_rereg, .taken = taken_rereg, .fields = {
		ARG(rereg_mr, mr_handle, HANDLE, MR),
		ARG(rereg_mr, flags, BITS, 7),
		ARG(rereg_mr, start, ADDRESS, 0),
		ARG(rereg_mr, length, COUNT, 70000),
		ARG(rereg_mr, pd_handle, HANDLE, PD),
		ARG(rereg_mr, access_flags, BITS, RIGHTS_BITS) } },
	{ COMMAND(DEREG_MR, dereg_mr), .ends = MR, .fields = {
		ARG(dereg_mr, mr_handle, HANDLE, MR) } },
	{ COMMAND(ALLOC_MW, alloc_mw), OUT(alloc_mw_resp), .makes = MW,
	  .rkey_at = TOLD(alloc_mw_resp, rkey), .fields = {
		ARG(alloc_mw, pd_handle, HANDLE, PD),
		ARG(alloc_mw, mw_type, COUNT, 2) } },
	{ COMMAND(DEALLOC_MW, dealloc_mw), .ends = MW, .fields = {
		ARG(dealloc_mw, mw_handle, HANDLE, MW) } },
	{ COMMAND(CREATE_COMP_CHANNEL, create_comp_channel),
	  OUT(create_comp_channel_resp), .makes = CHANNEL },
	{ COMMAND(CREATE_CQ, create_cq), OUT(create_cq_resp), .makes = CQ,
	  .driver_out = sizeof(struct frdma_create_cq_resp), .fields = {
		ARG(create_cq, cqe, COUNT, 100),
		ARG(create_cq, comp_vector, BELOW, 2),
		ARG(create_cq, comp_channel, FILE_OF, CHANNEL) } },
	{ COMMAND(RESIZE_CQ, resize_cq), OUT(resize_cq_resp),
	  .driver_out = sizeof(struct frdma_resize_cq_resp),
	  .taken = taken_resize_cq, .fields = {
		ARG(resize_cq, cq_handle, HANDLE, CQ),
		ARG(resize_cq, cqe, COUNT, 200) } },
	{ COMMAND(DESTROY_CQ, destroy_cq), OUT(destroy_cq_resp), .ends = CQ,
	  .fields = { ARG(destroy_cq, cq_handle, HANDLE, CQ) } },
	{ COMMAND(POLL_CQ, poll_cq), OUT(poll_cq_resp), .never = true,
	  .fields = {
		ARG(poll_cq, cq_handle, HANDLE, CQ),
		ARG(poll_cq, ne, COUNT, 4) } },
	{ COMMAND(REQ_NOTIFY_CQ, req_notify_cq), .never = true, .fields = {
		ARG(req_notify_cq, cq_handle, HANDLE, CQ) } },
	{ COMMAND(CREATE_QP, create_qp), OUT(create_qp_resp), .makes = QP,
	  .driver_out = sizeof(struct frdma_create_qp_resp),
	  .number_at = TOLD(create_qp_resp, qpn),
	  .fill = fill_qp, .taken = taken_qp, .fields = {
		ARG(create_qp, pd_handle, HANDLE, PD),
		ARG(create_qp, send_cq_handle, HANDLE, CQ),
		ARG(create_qp, recv_cq_handle, HANDLE, CQ),
		ARG(create_qp, srq_handle, HANDLE, SRQ),
		ARG(create_qp, max_send_wr, COUNT, 32),
		ARG(create_qp, max_recv_wr, COUNT, 32),
		ARG(create_qp, max_send_sge, COUNT, 4),
		ARG(create_qp, max_recv_sge, COUNT, 4),
		ARG(create_qp, max_inline_data, BELOW, 129),
		ARG(create_qp, sq_sig_all, BELOW, 2) } },
	{ COMMAND(QUERY_QP, query_qp), OUT(query_qp_resp), .fields = {
		ARG(query_qp, qp_handle, HANDLE, QP),
		ARG(query_qp, attr_mask, BITS, 0x1fffff) } },
	{ COMMAND(MODIFY_QP, modify_qp), .fill = fill_modify_qp,
	  .taken = taken_modify_qp, .fields = {
		ARG(modify_qp, qp_handle, HANDLE, QP) } },
	{ COMMAND(DESTROY_QP, destroy_qp), OUT(destroy_qp_resp), .ends = QP,
	  .fields = { ARG(destroy_qp, qp_handle, HANDLE, QP) } },
	{ COMMAND(POST_RECV, post_recv), OUT(post_recv_resp), .never = true,
	  .fields = {
		ARG(post_recv, qp_handle, HANDLE, QP),
		ARG(post_recv, wqe_size, IS, 16) } },
	{ COMMAND(POST_SEND, post_send), OUT(post_send_resp), .never = true,
	  .fields = {
		ARG(post_send, qp_handle, HANDLE, QP),
		ARG(post_send, wqe_size, IS, sizeof(struct ib_uverbs_send_wr))
	  } },
	{ COMMAND(ATTACH_MCAST, attach_mcast), .fill = fill_attach,
	  .taken = taken_attach, .fields = {
		ARG(attach_mcast, qp_handle, HANDLE, QP) } },
	{ COMMAND(DETACH_MCAST, detach_mcast), .fill = fill_detach,
	  .fields = {
		ARG(detach_mcast, qp_handle, HANDLE, QP) } },
	{ COMMAND(CREATE_SRQ, create_srq), OUT(create_srq_resp), .makes = SRQ,
	  .driver_out = sizeof(struct frdma_create_srq_resp), .fields = {
		ARG(create_srq, pd_handle, HANDLE, PD),
		ARG(create_srq, max_wr, COUNT, 64),
		ARG(create_srq, max_sge, COUNT, 4) } },
	{ COMMAND(MODIFY_SRQ, modify_srq),
	  .driver_in = sizeof(struct frdma_modify_srq),
	  .fill = fill_modify_srq, .taken = taken_modify_srq, .fields = {
		ARG(modify_srq, srq_handle, HANDLE, SRQ),
		ARG(modify_srq, max_wr, COUNT, 128),
		ARG(modify_srq, srq_limit, BELOW, 16) } },
	{ COMMAND(QUERY_SRQ, query_srq), OUT(query_srq_resp), .fields = {
		ARG(query_srq, srq_handle, HANDLE, SRQ) } },
	{ COMMAND(DESTROY_SRQ, destroy_srq), OUT(destroy_srq_resp),
	  .ends = SRQ, .fields = {
		ARG(destroy_srq, srq_handle, HANDLE, SRQ) } },
	{ COMMAND(POST_SRQ_RECV, post_srq_recv), OUT(post_srq_recv_resp),
	  .never = true, .fields = {
		ARG(post_srq_recv, srq_handle, HANDLE, SRQ),
		ARG(post_srq_recv, wqe_size, IS, 16) } },
	{ COMMAND(OPEN_XRCD, open_xrcd), OUT(open_xrcd_resp), .makes = XRCD,
	  .fill = fill_open_xrcd },
	{ COMMAND(CLOSE_XRCD, close_xrcd), .ends = XRCD, .fields = {
		ARG(close_xrcd, xrcd_handle, HANDLE, XRCD) } },
	{ COMMAND(CREATE_XSRQ, create_xsrq), OUT(create_srq_resp),
	  .makes = SRQ, .number_at = TOLD(create_srq_resp, srqn),
	  .driver_out = sizeof(struct frdma_create_srq_resp),
	  .fill = fill_xsrq, .fields = {
		ARG(create_xsrq, pd_handle, HANDLE, PD),
		ARG(create_xsrq, max_wr, COUNT, 64),
		ARG(create_xsrq, max_sge, COUNT, 4),
		ARG(create_xsrq, xrcd_handle, HANDLE, XRCD),
		ARG(create_xsrq, cq_handle, HANDLE, CQ) } },
	{ COMMAND(OPEN_QP, open_qp), OUT(create_qp_resp), .makes = QP,
	  .number_at = TOLD(create_qp_resp, qpn), .fill = fill_open_qp,
	  .taken = taken_qp, .fields = {
		ARG(open_qp, pd_handle, HANDLE, XRCD) } },
	{ EX_COMMAND(QUERY_DEVICE, ex_query_device),
	  OUT(ex_query_device_resp) },
	{ EX_COMMAND(CREATE_CQ, ex_create_cq), OUT(ex_create_cq_resp),
	  .makes = CQ, .driver_out = sizeof(struct frdma_create_cq_resp),
	  .fields = {
		ARG(ex_create_cq, cqe, COUNT, 100),
		ARG(ex_create_cq, comp_vector, BELOW, 2),
		ARG(ex_create_cq, comp_channel, FILE_OF, CHANNEL) } },
	{ EX_COMMAND(CREATE_QP, ex_create_qp), OUT(ex_create_qp_resp),
	  .makes = QP, .driver_out = sizeof(struct frdma_create_qp_resp),
	  .number_at = TOLD(ex_create_qp_resp, base.qpn),
	  .fill = fill_ex_qp, .taken = taken_ex_qp, .fields = {
		ARG(ex_create_qp, pd_handle, HANDLE, PD),
		ARG(ex_create_qp, send_cq_handle, HANDLE, CQ),
		ARG(ex_create_qp, recv_cq_handle, HANDLE, CQ),
		ARG(ex_create_qp, srq_handle, HANDLE, SRQ),
		ARG(ex_create_qp, max_send_wr, COUNT, 32),
		ARG(ex_create_qp, max_recv_wr, COUNT, 32),
		ARG(ex_create_qp, max_send_sge, COUNT, 4),
		ARG(ex_create_qp, max_recv_sge, COUNT, 4),
		ARG(ex_create_qp, max_inline_data, BELOW, 129),
		ARG(ex_create_qp, sq_sig_all, BELOW, 2) } },
	{ EX_COMMAND(MODIFY_QP, ex_modify_qp), OUT(ex_modify_qp_resp),
	  .fill = fill_modify_qp, .taken = taken_modify_qp, .fields = {
		ARG(ex_modify_qp, base.qp_handle, HANDLE, QP) } },
	{ EX_COMMAND(MODIFY_CQ, ex_modify_cq), .fields = {
		ARG(ex_modify_cq, cq_handle, HANDLE, CQ),
		ARG(ex_modify_cq, attr_mask, IS, 1),
		ARG(ex_modify_cq, attr.cq_count, COUNT, 8),
		ARG(ex_modify_cq, attr.cq_period, COUNT, 100) } },
	{ EX_COMMAND(CREATE_WQ, ex_create_wq), OUT(ex_create_wq_resp),
	  .never = true, .fields = {
		ARG(ex_create_wq, pd_handle, HANDLE, PD),
		ARG(ex_create_wq, cq_handle, HANDLE, CQ),
		ARG(ex_create_wq, max_wr, COUNT, 8),
		ARG(ex_create_wq, max_sge, COUNT, 2) } },
	{ EX_COMMAND(MODIFY_WQ, ex_modify_wq), .never = true, .fields = {
		ARG(ex_modify_wq, attr_mask, BITS, 7),
		ARG(ex_modify_wq, wq_handle, BELOW, 8),
		ARG(ex_modify_wq, wq_state, BELOW, 3),
		ARG(ex_modify_wq, curr_wq_state, BELOW, 3) } },
	{ EX_COMMAND(DESTROY_WQ, ex_destroy_wq), OUT(ex_destroy_wq_resp),
	  .never = true, .fields = {
		ARG(ex_destroy_wq, wq_handle, BELOW, 8) } },
	{ EX_COMMAND(CREATE_RWQ_IND_TBL, ex_create_rwq_ind_table),
	  OUT(ex_create_rwq_ind_table_resp), .never = true, .fields = {
		ARG(ex_create_rwq_ind_table, log_ind_tbl_size, BELOW, 4) } },
	{ EX_COMMAND(DESTROY_RWQ_IND_TBL, ex_destroy_rwq_ind_table),
	  .never = true, .fields = {
		ARG(ex_destroy_rwq_ind_table, ind_tbl_handle, BELOW, 8) } },
	{ EX_COMMAND(DESTROY_FLOW, destroy_flow), .never = true, .fields = {
		ARG(destroy_flow, flow_handle, BELOW, 8) } },
	{ EX_COMMAND(CREATE_FLOW, create_flow), OUT(create_flow_resp),
	  .never = true, .fields = {
		ARG(create_flow, qp_handle, HANDLE, QP) } },
};

#define METHOD(name_, object_, method_)					\
	.name = name_, .object = UVERBS_OBJECT_##object_,		\
	.number = UVERBS_METHOD_##method_
#define OURS(name_, object_, method_)					\
	.name = name_, .object = UVERBS_OBJECT_##object_,		\
	.number = FRDMA_METHOD_##method_
#define MUST(id_, how_, size_, arg_)					\
	{ .how = how_, .at = UVERBS_ATTR_##id_, .size = size_, .arg = arg_ }
#define MAY(id_, how_, size_, arg_)					\
	{ .how = how_, .at = UVERBS_ATTR_##id_, .size = size_,		\
	  .arg = arg_, .maybe = true }
#define OF_DRIVER(id_, how_, size_, arg_)				\
	{ .how = how_, .at = FRDMA_ATTR_##id_, .size = size_, .arg = arg_ }
#define ENDS(name_, object_, method_, kind_)				\
	METHOD(name_, object_, method_), .ends = kind_
#define REG_MR_PARTS							\
	MUST(REG_MR_HANDLE, NEW, 0, MR),				\
	MUST(REG_MR_PD_HANDLE, HANDLE, 0, PD),				\
	MAY(REG_MR_DMA_HANDLE, BELOW, 0, 8),				\
	MUST(REG_MR_IOVA, BITS, 8, 0xfffffff000),			\
	MUST(REG_MR_LENGTH, COUNT, 8, 65536),				\
	MUST(REG_MR_RESP_LKEY, ANSWER, 4, 0),				\
	MUST(REG_MR_RESP_RKEY, ANSWER, 4, 0)
#define QP_PARTS							\
	MUST(CREATE_QP_HANDLE, NEW, 0, QP),				\
	MUST(CREATE_QP_USER_HANDLE, BELOW, 8, 100),			\
	MUST(CREATE_QP_CAP, CAPS, 0, 0),				\
	MUST(CREATE_QP_RESP_CAP, ANSWER,				\
	     sizeof(struct ib_uverbs_qp_cap), 0),			\
	MUST(CREATE_QP_RESP_QP_NUM, ANSWER, 4, 0),			\
	MUST(UHW_OUT, ANSWER, sizeof(struct frdma_create_qp_resp), 0),	\
	MAY(CREATE_QP_FLAGS, IS, 8, IB_UVERBS_QP_CREATE_SQ_SIG_ALL)
#define SRQ_PARTS							\
	MUST(CREATE_SRQ_HANDLE, NEW, 0, SRQ),				\
	MUST(CREATE_SRQ_PD_HANDLE, HANDLE, 0, PD),			\
	MUST(CREATE_SRQ_USER_HANDLE, BELOW, 8, 100),			\
	MUST(CREATE_SRQ_MAX_WR, COUNT, 4, 64),				\
	MUST(CREATE_SRQ_MAX_SGE, COUNT, 4, 4),				\
	MUST(CREATE_SRQ_LIMIT, BELOW, 4, 4),				\
	MUST(CREATE_SRQ_RESP_MAX_WR, ANSWER, 4, 0),			\
	MUST(CREATE_SRQ_RESP_MAX_SGE, ANSWER, 4, 0),			\
	MUST(UHW_OUT, ANSWER, sizeof(struct frdma_create_srq_resp), 0)

static const struct call methods[] = {
	{ METHOD("INFO_HANDLES", DEVICE, INFO_HANDLES), .fields = {
		MUST(INFO_OBJECT_ID, BELOW, 8, 17),
		MUST(INFO_TOTAL_HANDLES, ANSWER, 4, 0),
		MUST(INFO_HANDLES_LIST, ANSWER, 128, 0) } },
	{ METHOD("QUERY_PORT", DEVICE, QUERY_PORT), .fields = {
		MUST(QUERY_PORT_PORT_NUM, IS, 8, 1),
		MUST(QUERY_PORT_RESP, ANSWER,
		     sizeof(struct ib_uverbs_query_port_resp_ex), 0) } },
	{ METHOD("QUERY_CONTEXT", DEVICE, QUERY_CONTEXT), .fields = {
		MUST(QUERY_CONTEXT_NUM_COMP_VECTORS, ANSWER, 4, 0),
		MUST(QUERY_CONTEXT_CORE_SUPPORT, ANSWER, 8, 0) } },
	{ METHOD("QUERY_GID_TABLE", DEVICE, QUERY_GID_TABLE), .fields = {
		MUST(QUERY_GID_TABLE_ENTRY_SIZE, IS, 8, 32),
		MUST(QUERY_GID_TABLE_RESP_ENTRIES, ANSWER, 256, 0),
		MUST(QUERY_GID_TABLE_RESP_NUM_ENTRIES, ANSWER, 8, 0) } },
	{ METHOD("QUERY_GID_ENTRY", DEVICE, QUERY_GID_ENTRY), .fields = {
		MUST(QUERY_GID_ENTRY_PORT, IS, 8, 1),
		MUST(QUERY_GID_ENTRY_GID_INDEX, BELOW, 8, 2),
		MUST(QUERY_GID_ENTRY_FLAGS, IS, 4, 0),
		MUST(QUERY_GID_ENTRY_RESP_ENTRY, ANSWER, 32, 0) } },
	{ METHOD("QUERY_PORT_SPEED", DEVICE, QUERY_PORT_SPEED), .young = true,
	  .fields = {
		MUST(QUERY_PORT_SPEED_PORT_NUM, IS, 8, 1),
		MUST(QUERY_PORT_SPEED_RESP, ANSWER, 8, 0) } },
	{ ENDS("PD_DESTROY", PD, PD_DESTROY, PD), .fields = {
		MUST(DESTROY_PD_HANDLE, HANDLE, 0, PD) } },
	{ OURS("PD_QUERY", PD, PD_QUERY), .fields = {
		OF_DRIVER(PD_QUERY_HANDLE, HANDLE, 0, PD) } },
	{ METHOD("CQ_CREATE", CQ, CQ_CREATE), .makes = CQ, .fields = {
		MUST(CREATE_CQ_HANDLE, NEW, 0, CQ),
		MUST(CREATE_CQ_CQE, COUNT, 4, 100),
		MUST(CREATE_CQ_USER_HANDLE, BELOW, 8, 100),
		MAY(CREATE_CQ_COMP_CHANNEL, FILE_OF, 0, CHANNEL),
		MUST(CREATE_CQ_COMP_VECTOR, BELOW, 4, 2),
		MAY(CREATE_CQ_FLAGS, IS, 4, 0),
		MUST(CREATE_CQ_RESP_CQE, ANSWER, 4, 0),
		MAY(CREATE_CQ_EVENT_FD, FILE_OF, 0, EVENTS),
		MAY(CREATE_CQ_BUFFER_VA, ADDRESS, 8, 0),
		MUST(UHW_OUT, ANSWER, sizeof(struct frdma_create_cq_resp), 0)
	  } },
	{ ENDS("CQ_DESTROY", CQ, CQ_DESTROY, CQ), .fields = {
		MUST(DESTROY_CQ_HANDLE, HANDLE, 0, CQ),
		MUST(DESTROY_CQ_RESP, ANSWER, 8, 0) } },
	{ METHOD("QP_CREATE", QP, QP_CREATE), .makes = QP,
	  .number_at = UVERBS_ATTR_CREATE_QP_RESP_QP_NUM,
	  .taken = taken_qp_method, .fields = {
		QP_PARTS,
		MUST(CREATE_QP_PD_HANDLE, HANDLE, 0, PD),
		MUST(CREATE_QP_SEND_CQ_HANDLE, HANDLE, 0, CQ),
		MUST(CREATE_QP_RECV_CQ_HANDLE, HANDLE, 0, CQ),
		MAY(CREATE_QP_SRQ_HANDLE, HANDLE, 0, SRQ),
		MAY(CREATE_QP_EVENT_FD, FILE_OF, 0, EVENTS),
		MUST(CREATE_QP_TYPE, BELOW, 8, 5) } },
	{ METHOD("QP_CREATE of XRC_INI", QP, QP_CREATE), .makes = QP,
	  .number_at = UVERBS_ATTR_CREATE_QP_RESP_QP_NUM,
	  .taken = taken_qp_method, .fields = {
		QP_PARTS,
		MUST(CREATE_QP_PD_HANDLE, HANDLE, 0, PD),
		MUST(CREATE_QP_SEND_CQ_HANDLE, HANDLE, 0, CQ),
		MUST(CREATE_QP_TYPE, IS, 8, IB_UVERBS_QPT_XRC_INI) } },
	{ METHOD("QP_CREATE of XRC_TGT", QP, QP_CREATE), .makes = QP,
	  .number_at = UVERBS_ATTR_CREATE_QP_RESP_QP_NUM,
	  .taken = taken_qp_method, .fields = {
		QP_PARTS,
		MUST(CREATE_QP_XRCD_HANDLE, HANDLE, 0, XRCD),
		MUST(CREATE_QP_TYPE, IS, 8, IB_UVERBS_QPT_XRC_TGT) } },
	{ ENDS("QP_DESTROY", QP, QP_DESTROY, QP), .fields = {
		MUST(DESTROY_QP_HANDLE, HANDLE, 0, QP),
		MUST(DESTROY_QP_RESP, ANSWER, 4, 0) } },
	{ OURS("QP_DOORBELL", QP, QP_DOORBELL), .fields = {
		OF_DRIVER(QP_DOORBELL_HANDLE, HANDLE, 0, QP) } },
	{ METHOD("SRQ_CREATE", SRQ, SRQ_CREATE), .makes = SRQ, .fields = {
		SRQ_PARTS,
		MUST(CREATE_SRQ_TYPE, IS, 8, IB_UVERBS_SRQT_BASIC) } },
	{ METHOD("SRQ_CREATE of XRC", SRQ, SRQ_CREATE), .makes = SRQ,
	  .number_at = UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM, .fields = {
		SRQ_PARTS,
		MUST(CREATE_SRQ_TYPE, IS, 8, IB_UVERBS_SRQT_XRC),
		MUST(CREATE_SRQ_XRCD_HANDLE, HANDLE, 0, XRCD),
		MUST(CREATE_SRQ_CQ_HANDLE, HANDLE, 0, CQ),
		MUST(CREATE_SRQ_RESP_SRQ_NUM, ANSWER, 4, 0) } },
	{ ENDS("SRQ_DESTROY", SRQ, SRQ_DESTROY, SRQ), .fields = {
		MUST(DESTROY_SRQ_HANDLE, HANDLE, 0, SRQ),
		MUST(DESTROY_SRQ_RESP, ANSWER, 4, 0) } },
	{ ENDS("AH_DESTROY", AH, AH_DESTROY, AH), .fields = {
		MUST(DESTROY_AH_HANDLE, HANDLE, 0, AH) } },
	{ ENDS("MR_DESTROY", MR, MR_DESTROY, MR), .fields = {
		MUST(DESTROY_MR_HANDLE, HANDLE, 0, MR) } },
	{ METHOD("ADVISE_MR", MR, ADVISE_MR), .fields = {
		MUST(ADVISE_MR_PD_HANDLE, HANDLE, 0, PD),
		MUST(ADVISE_MR_ADVICE, BELOW, 8, 3),
		MUST(ADVISE_MR_FLAGS, BELOW, 4, 2),
		MUST(ADVISE_MR_SGE_LIST, SGES, 0, 0) } },
	{ METHOD("QUERY_MR", MR, QUERY_MR), .fields = {
		MUST(QUERY_MR_HANDLE, HANDLE, 0, MR),
		MUST(QUERY_MR_RESP_LKEY, ANSWER, 4, 0),
		MUST(QUERY_MR_RESP_RKEY, ANSWER, 4, 0),
		MUST(QUERY_MR_RESP_LENGTH, ANSWER, 8, 0),
		MAY(QUERY_MR_RESP_IOVA, ANSWER, 8, 0) } },
	{ METHOD("REG_DMABUF_MR", MR, REG_DMABUF_MR), .makes = MR,
	  .number_at = UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY,
	  .rkey_at = UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY,
	  .taken = taken_dmabuf_mr, .fields = {
		MUST(REG_DMABUF_MR_HANDLE, NEW, 0, MR),
		MUST(REG_DMABUF_MR_PD_HANDLE, HANDLE, 0, PD),
		MUST(REG_DMABUF_MR_OFFSET, IS, 8, 0),
		MUST(REG_DMABUF_MR_LENGTH, COUNT, 8, 65536),
		MUST(REG_DMABUF_MR_IOVA, IS, 8, 0),
		MUST(REG_DMABUF_MR_FD, DMABUF, 4, 0),
		MUST(REG_DMABUF_MR_ACCESS_FLAGS, BITS, 4, 0xf),
		MUST(REG_DMABUF_MR_RESP_LKEY, ANSWER, 4, 0),
		MUST(REG_DMABUF_MR_RESP_RKEY, ANSWER, 4, 0) } },
	{ METHOD("REG_MR of 7.2", MR, REG_MR), .young = true, .makes = MR,
	  .number_at = UVERBS_ATTR_REG_MR_RESP_LKEY,
	  .rkey_at = UVERBS_ATTR_REG_MR_RESP_RKEY,
	  .taken = taken_reg_mr, .fields = {
		REG_MR_PARTS,
		MUST(REG_MR_ADDR, ADDRESS, 8, 0),
		MUST(REG_MR_ACCESS_FLAGS, BITS, 4, RIGHTS_BITS) } },
	{ METHOD("REG_MR of a dma-buf", MR, REG_MR), .young = true,
	  .makes = MR, .number_at = UVERBS_ATTR_REG_MR_RESP_LKEY,
	  .rkey_at = UVERBS_ATTR_REG_MR_RESP_RKEY,
	  .taken = taken_reg_mr, .fields = {
		REG_MR_PARTS,
		MUST(REG_MR_FD, DMABUF, 0, 0),
		MUST(REG_MR_FD_OFFSET, IS, 8, 0),
		MUST(REG_MR_ACCESS_FLAGS, BITS, 4, 0xf) } },
	{ METHOD("DM_MR_REG", MR, DM_MR_REG), .makes = MR,
	  .number_at = UVERBS_ATTR_REG_DM_MR_RESP_LKEY,
	  .rkey_at = UVERBS_ATTR_REG_DM_MR_RESP_RKEY,
	  .taken = taken_dm_mr, .fields = {
		MUST(REG_DM_MR_HANDLE, NEW, 0, MR),
		MUST(REG_DM_MR_OFFSET, BELOW, 8, 64),
		MUST(REG_DM_MR_LENGTH, COUNT, 8, 4096),
		MUST(REG_DM_MR_PD_HANDLE, HANDLE, 0, PD),
		MUST(REG_DM_MR_ACCESS_FLAGS, IS, 4, 0xf |
		     IB_UVERBS_ACCESS_ZERO_BASED),
		MUST(REG_DM_MR_DM_HANDLE, HANDLE, 0, DM),
		MUST(REG_DM_MR_RESP_LKEY, ANSWER, 4, 0),
		MUST(REG_DM_MR_RESP_RKEY, ANSWER, 4, 0) } },
	{ METHOD("DM_ALLOC", DM, DM_ALLOC), .makes = DM, .fields = {
		MUST(ALLOC_DM_HANDLE, NEW, 0, DM),
		MUST(ALLOC_DM_LENGTH, COUNT, 8, 9000),
		MUST(ALLOC_DM_ALIGNMENT, BELOW, 4, 2),
		OF_DRIVER(DM_ALLOC_DESC, ANSWER,
			  sizeof(struct frdma_dm_desc), 0) } },
	{ ENDS("DM_FREE", DM, DM_FREE, DM), .fields = {
		MUST(FREE_DM_HANDLE, HANDLE, 0, DM) } },
	{ OURS("DM_QUERY", DM, DM_QUERY), .fields = {
		OF_DRIVER(DM_QUERY_HANDLE, HANDLE, 0, DM),
		OF_DRIVER(DM_QUERY_DESC, ANSWER,
			  sizeof(struct frdma_dm_desc), 0),
		OF_DRIVER(DM_QUERY_LENGTH, ANSWER, 8, 0) } },
	{ ENDS("MW_DESTROY", MW, MW_DESTROY, MW), .fields = {
		MUST(DESTROY_MW_HANDLE, HANDLE, 0, MW) } },
	{ ENDS("XRCD_DESTROY", XRCD, XRCD_DESTROY, XRCD), .fields = {
		MUST(DESTROY_XRCD_HANDLE, HANDLE, 0, XRCD) } },
	{ METHOD("ASYNC_EVENT_ALLOC", ASYNC_EVENT, ASYNC_EVENT_ALLOC),
	  .makes = EVENTS, .fields = {
		MUST(ASYNC_EVENT_ALLOC_FD_HANDLE, NEW, 0, EVENTS) } },
	{ METHOD("DMAH_ALLOC", DMAH, DMAH_ALLOC), .never = true, .fields = {
		MUST(ALLOC_DMAH_HANDLE, NEW, 0, NOTHING),
		MAY(ALLOC_DMAH_CPU_ID, BELOW, 4, 2),
		MAY(ALLOC_DMAH_PH, BELOW, 1, 4) } },
	{ METHOD("DMAH_FREE", DMAH, DMAH_FREE), .never = true, .fields = {
		MUST(FREE_DMA_HANDLE, BELOW, 0, 8) } },
	{ METHOD("DMABUF_ALLOC", DMABUF, DMABUF_ALLOC), .never = true,
	  .fields = {
		MUST(ALLOC_DMABUF_HANDLE, NEW, 0, NOTHING),
		MUST(ALLOC_DMABUF_PGOFF, BELOW, 8, 64) } },
	{ METHOD("COUNTERS_CREATE", COUNTERS, COUNTERS_CREATE),
	  .never = true, .fields = {
		MUST(CREATE_COUNTERS_HANDLE, NEW, 0, NOTHING) } },
	{ METHOD("COUNTERS_READ", COUNTERS, COUNTERS_READ), .never = true,
	  .fields = {
		MUST(READ_COUNTERS_HANDLE, BELOW, 0, 8),
		MUST(READ_COUNTERS_BUFF, ANSWER, 64, 0),
		MAY(READ_COUNTERS_FLAGS, BELOW, 4, 2) } },
	{ METHOD("COUNTERS_DESTROY", COUNTERS, COUNTERS_DESTROY),
	  .never = true, .fields = {
		MUST(DESTROY_COUNTERS_HANDLE, BELOW, 0, 8) } },
	{ METHOD("FLOW_DESTROY", FLOW, FLOW_DESTROY), .never = true,
	  .fields = {
		MUST(DESTROY_FLOW_HANDLE, BELOW, 0, 8) } },
	{ METHOD("FLOW_ACTION_ESP_CREATE", FLOW_ACTION,
		 FLOW_ACTION_ESP_CREATE), .never = true, .fields = {
		MUST(CREATE_FLOW_ACTION_ESP_HANDLE, NEW, 0, NOTHING),
		MUST(FLOW_ACTION_ESP_ATTRS, ANSWER, 24, 0) } },
	{ METHOD("FLOW_ACTION_DESTROY", FLOW_ACTION, FLOW_ACTION_DESTROY),
	  .never = true, .fields = {
		MUST(DESTROY_FLOW_ACTION_HANDLE, BELOW, 0, 8) } },
	{ METHOD("RWQ_IND_TBL_DESTROY", RWQ_IND_TBL, RWQ_IND_TBL_DESTROY),
	  .never = true, .fields = {
		MUST(DESTROY_RWQ_IND_TBL_HANDLE, BELOW, 0, 8) } },
	{ METHOD("WQ_DESTROY", WQ, WQ_DESTROY), .never = true, .fields = {
		MUST(DESTROY_WQ_HANDLE, BELOW, 0, 8),
		MUST(DESTROY_WQ_RESP, ANSWER, 4, 0) } },
	{ METHOD("WQ_CREATE", WQ, WQ_CREATE), .never = true, .fields = {
		MUST(CREATE_WQ_HANDLE, NEW, 0, NOTHING),
		MUST(CREATE_WQ_PD_HANDLE, HANDLE, 0, PD),
		MUST(CREATE_WQ_CQ_HANDLE, HANDLE, 0, CQ),
		MUST(CREATE_WQ_USER_HANDLE, BELOW, 8, 100),
		MUST(CREATE_WQ_TYPE, IS, 8, 0),
		MUST(CREATE_WQ_MAX_WR, COUNT, 4, 8),
		MUST(CREATE_WQ_MAX_SGE, COUNT, 4, 4),
		MUST(CREATE_WQ_RESP_MAX_WR, ANSWER, 4, 0),
		MUST(CREATE_WQ_RESP_MAX_SGE, ANSWER, 4, 0),
		MUST(CREATE_WQ_RESP_WQ_NUM, ANSWER, 4, 0) } },
};

#define NR_COMMANDS	(sizeof(commands) / sizeof(commands[0]))
#define NR_METHODS	(sizeof(methods) / sizeof(methods[0]))

#endif /* FRDMA_TEST_CALLS_H */
