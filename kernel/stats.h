/* SPDX-License-Identifier: GPL-2.0 */
#ifndef FRDMA_STATS_H
#define FRDMA_STATS_H

#include <linux/percpu.h>
#include <linux/skbuff.h>

#include "dev.h"
#include "qp.h"

/*
 * X(enumerator, name in "rdma statistic", meaning). A packet is one that the
 * wire shows, whether it crossed the stack alone or as part of a train.
 */
#define FRDMA_COUNTERS(X) \
	X(RX_PACKETS, "rx_packets", "packets received") \
	X(RX_BYTES, "rx_bytes", "their bytes, from BTH to ICRC") \
	X(RX_TRAINS, "rx_trains", "trains that were received whole") \
	X(TX_PACKETS, "tx_packets", "packets sent") \
	X(TX_BYTES, "tx_bytes", "their bytes, from BTH to ICRC") \
	X(TX_TRAINS, "tx_trains", "trains that were sent") \
	X(TX_DELAYED, "tx_delayed", \
	  "packets that the host had no room for, kept to be sent later") \
	X(LOOPBACK_PACKETS, "loopback_packets", \
	  "packets spared, as their receiver is on this link") \
	X(RCVD_ACKS, "rcvd_acks", "acknowledgements received") \
	X(SENT_ACKS, "sent_acks", "acknowledgements sent") \
	X(RCVD_SEQ_NAKS, "rcvd_seq_naks", "NAKs received: a packet is missing") \
	X(SENT_SEQ_NAKS, "sent_seq_naks", "NAKs sent: a packet is missing") \
	X(RCVD_RNR_NAKS, "rcvd_rnr_naks", "NAKs received: peer has no receive") \
	X(SENT_RNR_NAKS, "sent_rnr_naks", "NAKs sent: no receive is posted") \
	X(RCVD_ERR_NAKS, "rcvd_err_naks", "NAKs received that end a connection") \
	X(SENT_ERR_NAKS, "sent_err_naks", "NAKs sent that end a connection") \
	X(RETRY_TIMEOUTS, "retry_timeouts", "resends: nothing was answered") \
	X(RETRY_SEQ, "retry_seq", "resends: the peer asked for it") \
	X(RETRY_IMPLIED, "retry_implied", "resends: a response is missing") \
	X(RETRY_RNR, "retry_rnr", "resends: the peer had no receive") \
	X(RETRY_EXCEEDED, "retry_exceeded", "connections given up") \
	X(PROBES, "probes", "resends of a packet: was it lost?") \
	X(RESENT_PACKETS, "resent_packets", "packets sent again") \
	X(DUPLICATE_REQUESTS, "duplicate_requests", "requests received again") \
	X(OUT_OF_ORDER, "out_of_order", "requests received behind one that is missing") \
	X(KEPT_PACKETS, "kept_packets", "requests and answers behind a missing one, kept") \
	X(RX_SENDS, "rx_send_requests", "messages received by SEND") \
	X(RX_WRITES, "rx_write_requests", "messages received by RDMA WRITE") \
	X(RX_READS, "rx_read_requests", "RDMA READs executed for the peer") \
	X(RX_ATOMICS, "rx_atomic_requests", "atomics executed for the peer") \
	X(RX_ATOMIC_WRITES, "rx_atomic_write_requests", \
	  "ATOMIC WRITEs executed for the peer") \
	X(RX_FLUSHES, "rx_flush_requests", "FLUSHes executed for the peer") \
	X(LOCAL_ERRORS, "local_errors", "work requests refused or failed here") \
	X(CQE_ERRORS, "cqe_errors", "completions with an error, flushes apart") \
	X(CQE_FLUSHES, "cqe_flushes", "work requests flushed") \
	X(CQ_OVERFLOWS, "cq_overflows", "completions lost: the queue was full") \
	X(PAGE_FAULTS, "page_faults", "waits for memory that is not pinned") \
	X(RCVD_CNPS, "rcvd_cnps", "congestion notifications received") \
	X(SENT_CNPS, "sent_cnps", "congestion notifications sent") \
	X(RX_MARKED, "rx_marked", "packets received that met congestion")

/* X(enumerator, name, why a packet was dropped); counted as drop_<name> */
#define FRDMA_DROP_REASONS(X) \
	X(SHORT, "short", "shorter than its headers say") \
	X(BAD_VERSION, "bad_version", "transport version other than 0") \
	X(BAD_OPCODE, "bad_opcode", "opcode unknown, or not of datagrams") \
	X(BAD_ICRC, "bad_icrc", "invariant CRC does not match") \
	X(BAD_PKEY, "bad_pkey", "partition key does not match") \
	X(BAD_QKEY, "bad_qkey", "queue key does not match") \
	X(BAD_ADDRESS, "bad_address", "not from or not to the QP's addresses") \
	X(WRONG_INTERFACE, "wrong_interface", \
	  "by an interface that does not have the address") \
	X(BAD_LENGTH, "bad_length", "datagram longer than its receive") \
	X(NO_QP, "no_qp", "no such queue pair, or no link to look in") \
	X(WRONG_TRANSPORT, "wrong_transport", "the QP has another service type") \
	X(QP_STATE, "qp_state", "the QP does not receive in its state") \
	X(QUEUE_FULL, "queue_full", "too many packets wait for the QP") \
	X(MIXED_TRAIN, "mixed_train", "the packets of a train do not fit") \
	X(OUT_OF_SEQUENCE, "out_of_sequence", "ahead of a packet that is missing") \
	X(DUPLICATE, "duplicate", "received before") \
	X(GHOST_ACK, "ghost_ack", "answers what is not outstanding") \
	X(NO_RECV, "no_recv", "no receive is posted") \
	X(BAD_REQUEST, "bad_request", "refused, with a NAK where there is one") \
	X(NO_MEMORY, "no_memory", "no memory to hold or to build it") \
	X(NO_ROUTE, "no_route", "not sent: no route to the destination") \
	X(NOT_SENT, "not_sent", "not sent: beyond the MTU, or refused by the stack") \
	X(NOT_PERMITTED, "not_permitted", \
	  "not sent: of a process that lacks CAP_NET_RAW")

/** enum frdma_counter - what is counted; rows of FRDMA_COUNTERS */
enum frdma_counter {
#define FRDMA_COUNTER_ENUM(sym, name, text) FRDMA_CNT_##sym,
	FRDMA_COUNTERS(FRDMA_COUNTER_ENUM)
#undef FRDMA_COUNTER_ENUM
	FRDMA_NR_COUNTERS
};

/** enum frdma_drop_reason - why a packet is gone; FRDMA_DROP_REASONS */
enum frdma_drop_reason {
#define FRDMA_DROP_ENUM(sym, name, text) FRDMA_DROP_##sym,
	FRDMA_DROP_REASONS(FRDMA_DROP_ENUM)
#undef FRDMA_DROP_ENUM
	FRDMA_NR_DROP_REASONS
};

/**
 * struct frdma_stats - the counters of one CPU
 * @count: by enum frdma_counter
 * @dropped: by enum frdma_drop_reason
 *
 * Written by their CPU, in any context; read by everybody without a lock.
 */
struct frdma_stats {
	u64 count[FRDMA_NR_COUNTERS];
	u64 dropped[FRDMA_NR_DROP_REASONS];
};

/**
 * frdma_qp_count_add - count several of a queue pair at once
 * @qp: queue pair
 * @cnt: what
 * @n: how many
 *
 * Context: in an RCU read section.
 */
static inline void frdma_qp_count_add(const struct frdma_qp *qp,
				      enum frdma_counter cnt, u64 n)
{
	this_cpu_add(frdma_qp_stats(qp)->count[cnt], n);
}

/**
 * frdma_qp_count - count one of a queue pair
 * @qp: queue pair
 * @cnt: what
 *
 * Context: in an RCU read section.
 */
static inline void frdma_qp_count(const struct frdma_qp *qp,
				  enum frdma_counter cnt)
{
	frdma_qp_count_add(qp, cnt, 1);
}

/**
 * frdma_dev_count - count one where the queue pair is not known
 * @dev: the link
 * @cnt: what
 *
 * Context: any.
 */
static inline void frdma_dev_count(const struct frdma_dev *dev,
				   enum frdma_counter cnt)
{
	this_cpu_inc(dev->stats->count[cnt]);
}

void frdma_qp_drop(const struct frdma_qp *qp, struct sk_buff *skb,
		   enum frdma_drop_reason why);
void frdma_qp_drop_several(const struct frdma_qp *qp, u32 nr,
			   enum frdma_drop_reason why);

/** frdma_qp_drop_unbuilt - the same for one of them */
static inline void frdma_qp_drop_unbuilt(const struct frdma_qp *qp,
					 enum frdma_drop_reason why)
{
	frdma_qp_drop_several(qp, 1, why);
}

void frdma_dev_drop_unbuilt(const struct frdma_dev *dev,
			    enum frdma_drop_reason why);

const char *frdma_drop_name(enum frdma_drop_reason why);

struct rdma_hw_stats *frdma_alloc_stats(void);
struct rdma_hw_stats *frdma_alloc_hw_port_stats(struct ib_device *ib,
						u32 port);
void frdma_stats_add(u64 *sum, const struct frdma_stats __percpu *stats);

#endif /* FRDMA_STATS_H */
