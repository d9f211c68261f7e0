/* SPDX-License-Identifier: GPL-2.0 */
/* How work requests end. */
#ifndef FRDMA_PROTO_WC_H
#define FRDMA_PROTO_WC_H

/**
 * enum frdma_wc_status - status of a completion (11.6.2)
 * @FRDMA_WC_SUCCESS: done
 * @FRDMA_WC_LOC_LEN_ERR: longer than the buffer, or than a message may be
 * @FRDMA_WC_LOC_QP_OP_ERR: this queue pair cannot do that
 * @FRDMA_WC_LOC_PROT_ERR: local key, range or rights do not fit
 * @FRDMA_WC_WR_FLUSH_ERR: the queue pair went to the error state first
 * @FRDMA_WC_MW_BIND_ERR: memory window not bound
 * @FRDMA_WC_BAD_RESP_ERR: the peer answered something else
 * @FRDMA_WC_LOC_ACCESS_ERR: a WRITE with immediate data ended in an error
 * @FRDMA_WC_REM_INV_REQ_ERR: the peer calls the request invalid
 * @FRDMA_WC_REM_ACCESS_ERR: the peer denies access
 * @FRDMA_WC_REM_OP_ERR: the peer could not carry it out
 * @FRDMA_WC_RETRY_EXC_ERR: no answer after all retries
 * @FRDMA_WC_RNR_RETRY_EXC_ERR: the peer was not ready after all retries
 * @FRDMA_WC_GENERAL_ERR: anything else
 *
 * The numbers are those of enum ib_wc_status and enum ibv_wc_status.
 */
enum frdma_wc_status {
	FRDMA_WC_SUCCESS		= 0,
	FRDMA_WC_LOC_LEN_ERR		= 1,
	FRDMA_WC_LOC_QP_OP_ERR		= 2,
	FRDMA_WC_LOC_PROT_ERR		= 4,
	FRDMA_WC_WR_FLUSH_ERR		= 5,
	FRDMA_WC_MW_BIND_ERR		= 6,
	FRDMA_WC_BAD_RESP_ERR		= 7,
	FRDMA_WC_LOC_ACCESS_ERR		= 8,
	FRDMA_WC_REM_INV_REQ_ERR	= 9,
	FRDMA_WC_REM_ACCESS_ERR		= 10,
	FRDMA_WC_REM_OP_ERR		= 11,
	FRDMA_WC_RETRY_EXC_ERR		= 12,
	FRDMA_WC_RNR_RETRY_EXC_ERR	= 13,
	FRDMA_WC_GENERAL_ERR		= 21,
};

#endif /* FRDMA_PROTO_WC_H */
