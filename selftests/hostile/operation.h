/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a peer may ask for, and the words for it. Include it after attack.h.
 */
#ifndef FRDMA_TEST_OPERATION_H
#define FRDMA_TEST_OPERATION_H

#define OPERATION	0x1f
#define TRANSPORT	0xe0
#define CNP		0x81

#define SEND_FIRST	0x00
#define SEND_ONLY	0x04
#define SEND_ONLY_IMM	0x05
#define READ_REQUEST	0x0c
#define READ_RESP_FIRST	0x0d
#define READ_RESP_MIDDLE 0x0e
#define READ_RESP_LAST	0x0f
#define READ_RESP_ONLY	0x10
#define ACKNOWLEDGE	0x11
#define ATOMIC_ACK	0x12
#define SEND_ONLY_INV	0x17
#define FLUSH		0x1c
#define ATOMIC_WRITE	0x1d

/**
 * struct operation - a request, in the words of scripts, as RC numbers it
 * @exists: it is one
 * @starts: it may come first
 * @reaches: it names memory
 * @len: bytes of payload
 * @hdr_len: bytes of headers on RC
 * @counter: what it is counted as, if it ends a message
 * @words: what it has of its own
 */
static const struct operation {
	bool exists, starts, reaches;
	uint32_t len;
	uint32_t hdr_len;
	const char *counter;
	const char *words;
} operations[32] = {
	[0x00] = { true, true, false, MTU, 12, NULL, "" },
	[0x01] = { true, false, false, MTU, 12, NULL, "" },
	[0x02] = { true, false, false, 64, 12, NULL, "" },
	[0x03] = { true, false, false, 64, 16, NULL, "imm=1" },
	[0x04] = { true, true, false, 64, 12, "rx_send_requests", "" },
	[0x05] = { true, true, false, 64, 16, "rx_send_requests", "imm=1" },
	[0x06] = { true, true, true, MTU, 28, NULL, "dma=2048" },
	[0x07] = { true, false, false, MTU, 12, NULL, "" },
	[0x08] = { true, false, false, 64, 12, NULL, "" },
	[0x09] = { true, false, false, 64, 16, NULL, "imm=1" },
	[0x0a] = { true, true, true, 64, 28, "rx_write_requests", "" },
	[0x0b] = { true, true, true, 64, 32, "rx_write_requests", "imm=1" },
	[0x0c] = { true, true, true, 0, 28, "rx_read_requests", "dma=64" },
	[0x13] = { true, true, true, 0, 40, "rx_atomic_requests", "" },
	[0x14] = { true, true, true, 0, 40, "rx_atomic_requests", "" },
	[0x16] = { true, false, false, 64, 16, NULL, "inv=0x100" },
	[0x17] = { true, true, false, 64, 16, NULL, "inv=0x100" },
	[0x1c] = { true, true, true, 0, 32, "rx_flush_requests",
		   "placement=1 dma=64" },
	[0x1d] = { true, true, true, 8, 28, "rx_atomic_write_requests", "" },
};

static inline bool is_response(uint8_t opcode)
{
	uint8_t transport = opcode & TRANSPORT, op = opcode & OPERATION;

	return (!transport || transport == 0xa0) && op >= READ_RESP_FIRST &&
	       op <= ATOMIC_ACK;
}

/* Bytes of its headers. */
static inline uint32_t hdr_len(const struct victim *v, uint8_t opcode)
{
	return operations[opcode & OPERATION].hdr_len +
	       (v->transport == 0x60 ? 8 : v->transport == 0xa0 ? 4 : 0);
}

/* The words for a packet of that opcode in which all is right. */
static inline void words_of(const struct victim *v, uint8_t opcode, char *words,
		     size_t size)
{
	const struct operation *op = &operations[opcode & OPERATION];
	uint8_t transport = opcode & TRANSPORT;
	bool known = !(transport & 0x40) && transport != 0x80;
	size_t used;

	if (opcode == CNP) {
		snprintf(words, size, "0x81 len=16 becn");
		return;
	}
	known |= transport == 0x60;
	used = snprintf(words, size, "0x%02x ack len=%u", opcode,
			v->kind == GSI ? 256 : op->exists ? op->len : 64);
	if (!known || !op->exists)
		return;
	used += snprintf(words + used, size - used, " %s", op->words);
	if (op->reaches)
		used += snprintf(words + used, size - used, " va=%llu rkey=%u",
				 (unsigned long long)(uintptr_t)lent,
				 lent_mr->rkey);
	if (transport == 0x60)
		snprintf(words + used, size - used, " qkey=%u",
			 v->kind == GSI ? GSI_QKEY : QKEY);
	else if (transport == 0xa0)
		snprintf(words + used, size - used, " srqn=%u", v->srqn);
}

#endif /* FRDMA_TEST_OPERATION_H */
