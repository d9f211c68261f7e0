// SPDX-License-Identifier: GPL-2.0
/*
 * Answers of performance management, which is also where ib_core takes the
 * files in counters/ of a port from: monitoring programs read those.
 */
#include "pma.h"

#include <rdma/ib_pma.h>

#include "counters.h"
#include "dev.h"
#include "stats.h"

static u64 damaged(const struct frdma_stats *sum)
{
	return sum->dropped[FRDMA_DROP_SHORT] +
	       sum->dropped[FRDMA_DROP_BAD_VERSION] +
	       sum->dropped[FRDMA_DROP_BAD_ICRC];
}

static u64 unsent(const struct frdma_stats *sum)
{
	return sum->dropped[FRDMA_DROP_NO_ROUTE] +
	       sum->dropped[FRDMA_DROP_NOT_SENT];
}

/* Data are counted in words of four bytes (16.1.3.5). */
static u64 words(u64 bytes)
{
	return bytes / 4;
}

/* These do not come round, but stay at their highest value. */
static __be16 cut16(u64 value)
{
	return cpu_to_be16(min_t(u64, value, U16_MAX));
}

static __be32 cut32(u64 value)
{
	return cpu_to_be32(min_t(u64, value, U32_MAX));
}

static void get_class_port_info(struct ib_pma_mad *out)
{
	struct ib_class_port_info *info = (void *)out->data;

	info->base_version = IB_MGMT_BASE_VERSION;
	info->class_version = 1;
	/* Wide counters, but none of unicast and multicast apart. */
	info->capability_mask = IB_PMA_CLASS_CAP_EXT_WIDTH_NOIETF;
}

static void get_port_counters(const struct frdma_stats *sum,
			      struct ib_pma_mad *out)
{
	struct ib_pma_portcounters *pc = (void *)out->data;
	const u64 *count = sum->count;

	pc->port_select = 1;
	pc->port_rcv_errors = cut16(damaged(sum));
	pc->port_xmit_discards = cut16(unsent(sum));
	pc->port_xmit_data = cut32(words(count[FRDMA_CNT_TX_BYTES]));
	pc->port_rcv_data = cut32(words(count[FRDMA_CNT_RX_BYTES]));
	pc->port_xmit_packets = cut32(count[FRDMA_CNT_TX_PACKETS]);
	pc->port_rcv_packets = cut32(count[FRDMA_CNT_RX_PACKETS]);
}

static void get_port_counters_ext(const struct frdma_stats *sum,
				  struct ib_pma_mad *out)
{
	struct ib_pma_portcounters_ext *pc = (void *)out->data;
	const u64 *count = sum->count;

	pc->port_select = 1;
	pc->port_xmit_data = cpu_to_be64(words(count[FRDMA_CNT_TX_BYTES]));
	pc->port_rcv_data = cpu_to_be64(words(count[FRDMA_CNT_RX_BYTES]));
	pc->port_xmit_packets = cpu_to_be64(count[FRDMA_CNT_TX_PACKETS]);
	pc->port_rcv_packets = cpu_to_be64(count[FRDMA_CNT_RX_PACKETS]);
}

/* Returns the status, as it goes into the answer. */
static __be16 get(struct frdma_dev *dev, struct ib_pma_mad *out)
{
	struct frdma_stats sum;

	frdma_counters_sum(dev, &sum);
	switch (out->mad_hdr.attr_id) {
	case IB_PMA_CLASS_PORT_INFO:
		get_class_port_info(out);
		return 0;
	case IB_PMA_PORT_COUNTERS:
		get_port_counters(&sum, out);
		return 0;
	case IB_PMA_PORT_COUNTERS_EXT:
		get_port_counters_ext(&sum, out);
		return 0;
	default:
		return cpu_to_be16(IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD_ATTRIB);
	}
}

/* The port that counters are asked of: ours, or all, which is the same. */
static bool names_port(const struct ib_pma_mad *in)
{
	const struct ib_pma_portcounters *pc = (void *)in->data;

	return in->mad_hdr.attr_id == IB_PMA_CLASS_PORT_INFO ||
	       pc->port_select == 1 || pc->port_select == 0xff;
}

/**
 * frdma_process_mad - the verb: answer a datagram to the port's management
 * @ib: device
 * @flags: IB_MAD_IGNORE_*
 * @port: 1
 * @wc: how it came; NULL: the core asks for itself
 * @grh: likewise
 * @in: the datagram
 * @out: its answer, zeroed
 * @out_len: its size, set by the core
 * @out_pkey_index: likewise
 *
 * Counters are read, not set: they are reset by nobody here.
 *
 * Context: process.
 * Return: IB_MAD_RESULT_*.
 */
int frdma_process_mad(struct ib_device *ib, int flags, u32 port,
		      const struct ib_wc *wc, const struct ib_grh *grh,
		      const struct ib_mad *in, struct ib_mad *out,
		      size_t *out_len, u16 *out_pkey_index)
{
	const struct ib_pma_mad *asked = (const void *)in;
	struct ib_pma_mad *answer = (void *)out;

	if (in->mad_hdr.mgmt_class != IB_MGMT_CLASS_PERF_MGMT ||
	    in->mad_hdr.class_version != 1)
		return IB_MAD_RESULT_SUCCESS;
	if (in->mad_hdr.method != IB_MGMT_METHOD_GET &&
	    in->mad_hdr.method != IB_MGMT_METHOD_SET)
		return IB_MAD_RESULT_SUCCESS;

	answer->mad_hdr = in->mad_hdr;
	answer->mad_hdr.method = IB_MGMT_METHOD_GET_RESP;
	if (in->mad_hdr.method == IB_MGMT_METHOD_SET)
		answer->mad_hdr.status = cpu_to_be16(
			IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD_ATTRIB);
	else if (!names_port(asked))
		answer->mad_hdr.status = cpu_to_be16(
			IB_MGMT_MAD_STATUS_INVALID_ATTRIB_VALUE);
	else
		answer->mad_hdr.status = get(to_frdma(ib), answer);

	return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
}
