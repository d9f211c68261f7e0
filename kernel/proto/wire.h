/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What goes over the wire behind the UDP header: the transport headers of
 * IBTA vol. 1, chapter 9, and the numbers in them. Offsets are nowhere
 * written down: they follow from these structs and from the table in op.c.
 */
#ifndef FRDMA_PROTO_WIRE_H
#define FRDMA_PROTO_WIRE_H

#include "env.h"

/* Destination port of RoCE v2 (annex A17). */
#define FRDMA_UDP_DPORT		4791

/* Source ports carry entropy in 14 bits and stay out of the low numbers. */
#define FRDMA_UDP_SPORT_MIN	0xc000
#define FRDMA_UDP_SPORT_MAX	0xffff

/* The invariant CRC that ends every packet. */
#define FRDMA_ICRC_LEN		4

/* Largest message of any kind, and largest payload of one packet. */
#define FRDMA_MSG_MAX		(1U << 31)
#define FRDMA_MTU_MAX		4096

#define FRDMA_QPN_MASK		0x00ffffffU
#define FRDMA_QPN_GSI		1U
#define FRDMA_QPN_MULTICAST	0x00ffffffU
#define FRDMA_MSN_MASK		0x00ffffffU
#define FRDMA_SRQN_MASK		0x00ffffffU

#define FRDMA_PKEY_DEFAULT	0xffff
#define FRDMA_PKEY_FULL		BIT(15)
#define FRDMA_PKEY_BASE		GENMASK(14, 0)

#define FRDMA_QKEY_GSI		0x80010000U
/* In a work request: take the queue pair's own Q_Key (10.2.5). */
#define FRDMA_QKEY_OWN		BIT(31)

/* Bytes in front of a datagram in its receive buffer (11.4.1.2, A17). */
#define FRDMA_GRH_LEN		40

/* frdma_bth.flags */
#define FRDMA_BTH_SE		BIT(7)
#define FRDMA_BTH_MIGREQ	BIT(6)
#define FRDMA_BTH_PAD		GENMASK(5, 4)
#define FRDMA_BTH_TVER		GENMASK(3, 0)

/* frdma_bth.dqpn */
#define FRDMA_BTH_FECN		BIT(31)
#define FRDMA_BTH_BECN		BIT(30)
#define FRDMA_BTH_DQPN		GENMASK(23, 0)

/* frdma_bth.apsn */
#define FRDMA_BTH_ACK_REQ	BIT(31)
#define FRDMA_BTH_PSN		GENMASK(23, 0)

/* frdma_xrceth.srqn */
#define FRDMA_XRCETH_SRQN	GENMASK(23, 0)

/* frdma_deth.sqpn */
#define FRDMA_DETH_SQPN		GENMASK(23, 0)

/* frdma_feth.how */
#define FRDMA_FETH_SELECT	GENMASK(5, 4)
#define FRDMA_FETH_PLACEMENT	GENMASK(3, 0)

/* frdma_aeth.smsn */
#define FRDMA_AETH_SYNDROME	GENMASK(31, 24)
#define FRDMA_AETH_MSN		GENMASK(23, 0)

/**
 * struct frdma_bth - base transport header, first in every packet (9.2)
 * @opcode: transport in the upper three bits, operation in the lower five
 * @flags: FRDMA_BTH_SE, _MIGREQ, _PAD, _TVER
 * @pkey: partition key
 * @dqpn: FRDMA_BTH_FECN, _BECN, six reserved bits, _DQPN
 * @apsn: FRDMA_BTH_ACK_REQ, seven reserved bits, _PSN
 */
struct frdma_bth {
	u8	opcode;
	u8	flags;
	__be16	pkey;
	__be32	dqpn;
	__be32	apsn;
} __packed;

/**
 * struct frdma_xrceth - extended header of an XRC request (A14)
 * @srqn: eight reserved bits, the shared receive queue that it is for
 */
struct frdma_xrceth {
	__be32	srqn;
} __packed;

/**
 * struct frdma_deth - datagram extended header (9.3.1)
 * @qkey: Q_Key that the destination must own
 * @sqpn: eight reserved bits, source queue pair
 */
struct frdma_deth {
	__be32	qkey;
	__be32	sqpn;
} __packed;

/**
 * struct frdma_feth - FLUSH extended header (A19)
 * @how: 26 reserved bits, FRDMA_FETH_SELECT, _PLACEMENT
 */
struct frdma_feth {
	__be32	how;
} __packed;

/**
 * enum frdma_flush_placement - where data must be before a FLUSH is answered
 * @FRDMA_FLUSH_GLOBAL: where every CPU and device sees them
 * @FRDMA_FLUSH_PERSISTENT: where they outlive a loss of power
 */
enum frdma_flush_placement {
	FRDMA_FLUSH_GLOBAL	= BIT(0),
	FRDMA_FLUSH_PERSISTENT	= BIT(1),
};

/**
 * enum frdma_flush_select - which data a FLUSH is about
 * @FRDMA_FLUSH_RANGE: those in the range that it names
 * @FRDMA_FLUSH_REGION: those in the region; the range means nothing
 */
enum frdma_flush_select {
	FRDMA_FLUSH_RANGE	= 0,
	FRDMA_FLUSH_REGION	= 1,
};

/**
 * struct frdma_reth - RDMA extended header (9.3.3)
 * @va: virtual address at the responder
 * @rkey: key of the region
 * @dma_len: bytes of the whole message
 */
struct frdma_reth {
	__be64	va;
	__be32	rkey;
	__be32	dma_len;
} __packed;

/**
 * struct frdma_atomiceth - atomic extended header (9.3.4)
 * @va: virtual address at the responder, a multiple of eight
 * @rkey: key of the region
 * @swap_add: value to store, or to add
 * @compare: value to compare with
 */
struct frdma_atomiceth {
	__be64	va;
	__be32	rkey;
	__be64	swap_add;
	__be64	compare;
} __packed;

/**
 * struct frdma_aeth - acknowledge extended header (9.3.5)
 * @smsn: syndrome, message sequence number
 */
struct frdma_aeth {
	__be32	smsn;
} __packed;

/**
 * struct frdma_atomicacketh - answer to an atomic operation (9.5.3)
 * @orig: what the memory held before
 */
struct frdma_atomicacketh {
	__be64	orig;
} __packed;

/**
 * struct frdma_immdt - immediate data (9.3.6)
 * @data: opaque to both adapters
 */
struct frdma_immdt {
	__be32	data;
} __packed;

/**
 * struct frdma_ieth - invalidate extended header (9.3.7)
 * @rkey: key that the responder invalidates
 */
struct frdma_ieth {
	__be32	rkey;
} __packed;

/*
 * AETH syndromes (9.7.5.2.2): bits 6:5 say what it is, bits 4:0 belong to
 * that: a credit count, a timer code, or a reason.
 */
#define FRDMA_AETH_KIND		GENMASK(6, 5)
#define FRDMA_AETH_VALUE	GENMASK(4, 0)
/* Bit 7 is reserved: a syndrome that has it set is none of ours. */
#define FRDMA_AETH_RESERVED	BIT(7)

/**
 * enum frdma_aeth_kind - bits 6:5 of a syndrome, in place
 * @FRDMA_AETH_ACK: positive; the value is a credit count
 * @FRDMA_AETH_RNR: receiver not ready; the value is a timer code
 * @FRDMA_AETH_RSVD: never sent
 * @FRDMA_AETH_NAK: negative; the value is a reason
 */
enum frdma_aeth_kind {
	FRDMA_AETH_ACK	= 0x00,
	FRDMA_AETH_RNR	= 0x20,
	FRDMA_AETH_RSVD	= 0x40,
	FRDMA_AETH_NAK	= 0x60,
};

/* Credit count that means: the responder does not count credits. */
#define FRDMA_AETH_NO_CREDITS	0x1f

/**
 * enum frdma_nak - whole syndromes of negative acknowledgements
 * @FRDMA_NAK_PSN: packets are missing, send again from the PSN in the BTH
 * @FRDMA_NAK_INV_REQ: invalid request
 * @FRDMA_NAK_ACCESS: remote access error
 * @FRDMA_NAK_OP: remote operational error
 * @FRDMA_NAK_INV_RD: invalid RD request; does not occur on RC
 */
enum frdma_nak {
	FRDMA_NAK_PSN		= 0x60,
	FRDMA_NAK_INV_REQ	= 0x61,
	FRDMA_NAK_ACCESS	= 0x62,
	FRDMA_NAK_OP		= 0x63,
	FRDMA_NAK_INV_RD	= 0x64,
};

#endif /* FRDMA_PROTO_WIRE_H */
