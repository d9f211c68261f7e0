/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints frdma:*. A device goes by the index of its interface, a queue
 * pair by its local number where not said otherwise.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM frdma

#if !defined(FRDMA_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define FRDMA_TRACE_H

#include <linux/skbuff.h>
#include <linux/tracepoint.h>
#include <linux/udp.h>
#include <rdma/ib_verbs.h>

#include "proto/hdr.h"
#include "proto/wire.h"

/* A BTH opcode: three bits of service type, five of operation. */
#define show_frdma_service(opcode)					\
	__print_symbolic((opcode) >> 5,					\
		{ 0, "RC" }, { 1, "UC" }, { 2, "RD" }, { 3, "UD" },	\
		{ 4, "CNP" }, { 5, "XRC" })

#define show_frdma_operation(opcode)					\
	__print_symbolic((opcode) & 0x1f,				\
		{ 0x00, "SEND_FIRST" },					\
		{ 0x01, "SEND_MIDDLE" },				\
		{ 0x02, "SEND_LAST" },					\
		{ 0x03, "SEND_LAST_IMM" },				\
		{ 0x04, "SEND_ONLY" },					\
		{ 0x05, "SEND_ONLY_IMM" },				\
		{ 0x06, "WRITE_FIRST" },				\
		{ 0x07, "WRITE_MIDDLE" },				\
		{ 0x08, "WRITE_LAST" },					\
		{ 0x09, "WRITE_LAST_IMM" },				\
		{ 0x0a, "WRITE_ONLY" },					\
		{ 0x0b, "WRITE_ONLY_IMM" },				\
		{ 0x0c, "READ_REQUEST" },				\
		{ 0x0d, "READ_RESPONSE_FIRST" },			\
		{ 0x0e, "READ_RESPONSE_MIDDLE" },			\
		{ 0x0f, "READ_RESPONSE_LAST" },				\
		{ 0x10, "READ_RESPONSE_ONLY" },				\
		{ 0x11, "ACK" },					\
		{ 0x12, "ATOMIC_ACK" },					\
		{ 0x13, "CMP_SWAP" },					\
		{ 0x14, "FETCH_ADD" },					\
		{ 0x16, "SEND_LAST_INV" },				\
		{ 0x17, "SEND_ONLY_INV" },				\
		{ 0x1c, "FLUSH" },					\
		{ 0x1d, "ATOMIC_WRITE" })

/*
 * Lists of enumerators. Used twice: to tell their values to those who read the
 * format of an event, and to print their names.
 */
#define FRDMA_WORK_LIST						\
	frdma_enum(IB_UVERBS_WR_RDMA_WRITE, "WRITE")		\
	frdma_enum(IB_UVERBS_WR_RDMA_WRITE_WITH_IMM, "WRITE_IMM") \
	frdma_enum(IB_UVERBS_WR_SEND, "SEND")			\
	frdma_enum(IB_UVERBS_WR_SEND_WITH_IMM, "SEND_IMM")	\
	frdma_enum(IB_UVERBS_WR_RDMA_READ, "READ")		\
	frdma_enum(IB_UVERBS_WR_ATOMIC_CMP_AND_SWP, "CMP_SWAP")	\
	frdma_enum(IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD, "FETCH_ADD") \
	frdma_enum(IB_UVERBS_WR_LOCAL_INV, "LOCAL_INV")		\
	frdma_enum(IB_UVERBS_WR_SEND_WITH_INV, "SEND_INV")	\
	frdma_enum(IB_UVERBS_WR_BIND_MW, "BIND_MW")		\
	frdma_enum(IB_WR_FLUSH, "FLUSH")			\
	frdma_enum(IB_WR_ATOMIC_WRITE, "ATOMIC_WRITE")		\
	frdma_enum_end(IB_WR_REG_MR, "REG_MR")

#define FRDMA_SEND_FLAG_LIST					\
	frdma_enum(IB_SEND_FENCE, "FENCE")			\
	frdma_enum(IB_SEND_SIGNALED, "SIGNALED")		\
	frdma_enum(IB_SEND_SOLICITED, "SOLICITED")		\
	frdma_enum_end(IB_SEND_INLINE, "INLINE")

#define FRDMA_QP_STATE_LIST					\
	frdma_enum(IB_QPS_RESET, "RESET")			\
	frdma_enum(IB_QPS_INIT, "INIT")				\
	frdma_enum(IB_QPS_RTR, "RTR")				\
	frdma_enum(IB_QPS_RTS, "RTS")				\
	frdma_enum(IB_QPS_SQD, "SQD")				\
	frdma_enum(IB_QPS_SQE, "SQE")				\
	frdma_enum_end(IB_QPS_ERR, "ERR")

#define FRDMA_WC_STATUS_LIST					\
	frdma_enum(IB_WC_SUCCESS, "SUCCESS")			\
	frdma_enum(IB_WC_LOC_LEN_ERR, "LOC_LEN_ERR")		\
	frdma_enum(IB_WC_LOC_QP_OP_ERR, "LOC_QP_OP_ERR")	\
	frdma_enum(IB_WC_LOC_PROT_ERR, "LOC_PROT_ERR")		\
	frdma_enum(IB_WC_WR_FLUSH_ERR, "WR_FLUSH_ERR")		\
	frdma_enum(IB_WC_MW_BIND_ERR, "MW_BIND_ERR")		\
	frdma_enum(IB_WC_BAD_RESP_ERR, "BAD_RESP_ERR")		\
	frdma_enum(IB_WC_LOC_ACCESS_ERR, "LOC_ACCESS_ERR")	\
	frdma_enum(IB_WC_REM_INV_REQ_ERR, "REM_INV_REQ_ERR")	\
	frdma_enum(IB_WC_REM_ACCESS_ERR, "REM_ACCESS_ERR")	\
	frdma_enum(IB_WC_REM_OP_ERR, "REM_OP_ERR")		\
	frdma_enum(IB_WC_RETRY_EXC_ERR, "RETRY_EXC_ERR")	\
	frdma_enum(IB_WC_RNR_RETRY_EXC_ERR, "RNR_RETRY_EXC_ERR")	\
	frdma_enum(IB_WC_REM_ABORT_ERR, "REM_ABORT_ERR")	\
	frdma_enum(IB_WC_FATAL_ERR, "FATAL_ERR")		\
	frdma_enum_end(IB_WC_GENERAL_ERR, "GENERAL_ERR")

#undef frdma_enum
#undef frdma_enum_end
#define frdma_enum(sym, name)		TRACE_DEFINE_ENUM(sym);
#define frdma_enum_end(sym, name)	TRACE_DEFINE_ENUM(sym);

FRDMA_WORK_LIST
FRDMA_SEND_FLAG_LIST
FRDMA_QP_STATE_LIST
FRDMA_WC_STATUS_LIST

#undef frdma_enum
#undef frdma_enum_end
#define frdma_enum(sym, name)		{ sym, name },
#define frdma_enum_end(sym, name)	{ sym, name }

#define show_frdma_work(opcode)	__print_symbolic(opcode, FRDMA_WORK_LIST)
#define show_frdma_send_flags(flags)					\
	__print_flags(flags, "|", FRDMA_SEND_FLAG_LIST)
#define show_frdma_qp_state(state)					\
	__print_symbolic(state, FRDMA_QP_STATE_LIST)
#define show_frdma_wc_status(status)					\
	__print_symbolic(status, FRDMA_WC_STATUS_LIST)

#define show_frdma_syndrome(syndrome)					\
	__print_symbolic((syndrome) >> 5 & 3,				\
		{ 0, "ACK" }, { 1, "RNR" }, { 2, "RESERVED" },		\
		{ 3, "NAK" })

/* A work request is taken from its ring. */
TRACE_EVENT(frdma_post,
	TP_PROTO(u32 ifindex, u32 qpn, u64 wr_id, u32 opcode, u32 flags,
		 u32 len),
	TP_ARGS(ifindex, qpn, wr_id, opcode, flags, len),
	TP_STRUCT__entry(
		__field(u64, wr_id)
		__field(u32, ifindex)
		__field(u32, qpn)
		__field(u32, opcode)
		__field(u32, flags)
		__field(u32, len)
	),
	TP_fast_assign(
		__entry->ifindex = ifindex;
		__entry->wr_id = wr_id;
		__entry->qpn = qpn;
		__entry->opcode = opcode;
		__entry->flags = flags;
		__entry->len = len;
	),
	TP_printk("if=%u qp=%u wr_id=0x%llx %s flags=%s len=%u",
		  __entry->ifindex, __entry->qpn, __entry->wr_id,
		  show_frdma_work(__entry->opcode),
		  show_frdma_send_flags(__entry->flags),
		  __entry->len)
);

/* A packet, or a train that begins with it, from or to a local queue pair. */
DECLARE_EVENT_CLASS(frdma_packet,
	TP_PROTO(u32 ifindex, u32 qpn, u8 opcode, u32 psn, u32 len,
		 u32 packets),
	TP_ARGS(ifindex, qpn, opcode, psn, len, packets),
	TP_STRUCT__entry(
		__field(u32, ifindex)
		__field(u32, qpn)
		__field(u32, psn)
		__field(u32, len)
		__field(u32, packets)
		__field(u8, opcode)
	),
	TP_fast_assign(
		__entry->ifindex = ifindex;
		__entry->qpn = qpn;
		__entry->psn = psn;
		__entry->len = len;
		__entry->packets = packets;
		__entry->opcode = opcode;
	),
	TP_printk("if=%u qp=%u psn=%u %s %s len=%u packets=%u",
		  __entry->ifindex, __entry->qpn, __entry->psn,
		  show_frdma_service(__entry->opcode),
		  show_frdma_operation(__entry->opcode),
		  __entry->len, __entry->packets)
);

DEFINE_EVENT(frdma_packet, frdma_tx,
	TP_PROTO(u32 ifindex, u32 qpn, u8 opcode, u32 psn, u32 len,
		 u32 packets),
	TP_ARGS(ifindex, qpn, opcode, psn, len, packets)
);

DEFINE_EVENT(frdma_packet, frdma_rx,
	TP_PROTO(u32 ifindex, u32 qpn, u8 opcode, u32 psn, u32 len,
		 u32 packets),
	TP_ARGS(ifindex, qpn, opcode, psn, len, packets)
);

/* An acknowledgement, positive or negative, sent or received. */
DECLARE_EVENT_CLASS(frdma_answer,
	TP_PROTO(u32 ifindex, u32 qpn, bool sent, const struct frdma_hdr *hdr),
	TP_ARGS(ifindex, qpn, sent, hdr),
	TP_STRUCT__entry(
		__field(u32, ifindex)
		__field(u32, qpn)
		__field(u32, psn)
		__field(u32, msn)
		__field(u8, syndrome)
		__field(bool, sent)
	),
	TP_fast_assign(
		__entry->ifindex = ifindex;
		__entry->qpn = qpn;
		__entry->psn = hdr->psn;
		__entry->msn = hdr->msn;
		__entry->syndrome = hdr->syndrome;
		__entry->sent = sent;
	),
	TP_printk("if=%u qp=%u %s psn=%u %s value=%u msn=%u",
		  __entry->ifindex, __entry->qpn, __entry->sent ? "sent" : "rcvd",
		  __entry->psn, show_frdma_syndrome(__entry->syndrome),
		  __entry->syndrome & 0x1f, __entry->msn)
);

DEFINE_EVENT(frdma_answer, frdma_ack,
	TP_PROTO(u32 ifindex, u32 qpn, bool sent, const struct frdma_hdr *hdr),
	TP_ARGS(ifindex, qpn, sent, hdr)
);

DEFINE_EVENT(frdma_answer, frdma_nak,
	TP_PROTO(u32 ifindex, u32 qpn, bool sent, const struct frdma_hdr *hdr),
	TP_ARGS(ifindex, qpn, sent, hdr)
);

/* The requester goes back to @psn; @tries are left after this one. */
TRACE_EVENT(frdma_retry,
	TP_PROTO(u32 ifindex, u32 qpn, u32 psn, const char *why,
		 u32 tries),
	TP_ARGS(ifindex, qpn, psn, why, tries),
	TP_STRUCT__entry(
		__field(u32, ifindex)
		__array(char, why, 16)
		__field(u32, qpn)
		__field(u32, psn)
		__field(u32, tries)
	),
	TP_fast_assign(
		__entry->ifindex = ifindex;
		strscpy(__entry->why, why, 16);
		__entry->qpn = qpn;
		__entry->psn = psn;
		__entry->tries = tries;
	),
	TP_printk("if=%u qp=%u psn=%u why=%s left=%u",
		  __entry->ifindex, __entry->qpn, __entry->psn, __entry->why,
		  __entry->tries)
);

/*
 * A packet is given up. What its BTH says is shown as it came, unverified;
 * zeroes stand for a packet that has none, or whose buffer is not at hand. The
 * queue pair is @qpn, or where that is 0 the destination.
 */
TRACE_EVENT(frdma_drop,
	TP_PROTO(u32 ifindex, u32 qpn, const struct sk_buff *skb,
		 const char *why),
	TP_ARGS(ifindex, qpn, skb, why),
	TP_STRUCT__entry(
		__field(u32, ifindex)
		__array(char, why, 16)
		__field(u32, len)
		__field(u32, dqpn)
		__field(u32, psn)
		__field(u8, opcode)
	),
	TP_fast_assign(
		const struct frdma_bth *bth = NULL;
		struct frdma_bth copy;

		if (skb && skb_transport_header_was_set(skb))
			bth = skb_header_pointer(skb,
						 skb_transport_offset(skb) +
						 sizeof(struct udphdr),
						 sizeof(copy), &copy);
		__entry->ifindex = ifindex;
		strscpy(__entry->why, why, 16);
		__entry->len = skb ? skb->len : 0;
		__entry->dqpn = qpn || !bth ? qpn : be32_to_cpu(bth->dqpn) &
						    FRDMA_QPN_MASK;
		__entry->psn = bth ? be32_to_cpu(bth->apsn) &
				     FRDMA_BTH_PSN : 0;
		__entry->opcode = bth ? bth->opcode : 0;
	),
	TP_printk("if=%u why=%s len=%u dqp=%u psn=%u %s %s",
		  __entry->ifindex, __entry->why, __entry->len, __entry->dqpn,
		  __entry->psn, show_frdma_service(__entry->opcode),
		  show_frdma_operation(__entry->opcode))
);

/* A completion is published. @opcode is that of the completion. */
TRACE_EVENT(frdma_cqe,
	TP_PROTO(u32 ifindex, u32 qpn, u64 wr_id, u32 status, u32 opcode,
		 u32 len),
	TP_ARGS(ifindex, qpn, wr_id, status, opcode, len),
	TP_STRUCT__entry(
		__field(u64, wr_id)
		__field(u32, ifindex)
		__field(u32, qpn)
		__field(u32, status)
		__field(u32, opcode)
		__field(u32, len)
	),
	TP_fast_assign(
		__entry->ifindex = ifindex;
		__entry->wr_id = wr_id;
		__entry->qpn = qpn;
		__entry->status = status;
		__entry->opcode = opcode;
		__entry->len = len;
	),
	TP_printk("if=%u qp=%u wr_id=0x%llx %s opcode=%u len=%u",
		  __entry->ifindex, __entry->qpn, __entry->wr_id,
		  show_frdma_wc_status(__entry->status), __entry->opcode,
		  __entry->len)
);

TRACE_EVENT(frdma_qp_state,
	TP_PROTO(u32 ifindex, u32 qpn, u32 from, u32 to),
	TP_ARGS(ifindex, qpn, from, to),
	TP_STRUCT__entry(
		__field(u32, ifindex)
		__field(u32, qpn)
		__field(u32, from)
		__field(u32, to)
	),
	TP_fast_assign(
		__entry->ifindex = ifindex;
		__entry->qpn = qpn;
		__entry->from = from;
		__entry->to = to;
	),
	TP_printk("if=%u qp=%u %s -> %s",
		  __entry->ifindex, __entry->qpn,
		  show_frdma_qp_state(__entry->from),
		  show_frdma_qp_state(__entry->to))
);

/* A verb is refused; @err is a negative errno. */
TRACE_EVENT(frdma_refuse,
	TP_PROTO(u32 ifindex, int err, struct va_format *reason),
	TP_ARGS(ifindex, err, reason),
	TP_STRUCT__entry(
		__field(u32, ifindex)
		__field(int, err)
		__vstring(reason, reason->fmt, reason->va)
	),
	TP_fast_assign(
		__entry->ifindex = ifindex;
		__entry->err = err;
		__assign_vstr(reason, reason->fmt, reason->va);
	),
	TP_printk("if=%u err=%d %s", __entry->ifindex, __entry->err,
		  __get_str(reason))
);

#endif /* FRDMA_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
