/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What packets consist of: opcodes, the headers that belong to them, and where
 * the fields of those lie, by the names that scripts give them.
 */
#ifndef CONFORM_FORMAT_H
#define CONFORM_FORMAT_H

#include "packet.h"

#define HAS(header)	(1U << HDR_##header)

#define OPCODE_CNP	0x81

/**
 * struct field - where it lies
 * @name: what scripts call it
 * @header: in which header, enum header
 * @bit: where it begins, counted from the first bit of that header
 * @width: bits
 * @meaning: of its value
 */
struct field {
	const char *name;
	uint8_t header;
	uint16_t bit;
	uint8_t width;
	enum meaning meaning;
};

/**
 * struct answer - a kind of ACKNOWLEDGE
 * @name: what scripts call it
 * @kind: the upper three bits of the syndrome
 * @value: the others, if the script does not say
 */
struct answer {
	const char *name;
	uint8_t kind;
	uint8_t value;
};

extern const uint8_t header_len[HDR_NR];	/* bytes */
extern const struct field fields[];
extern const struct answer answers[];

uint32_t headers_of(uint8_t opcode);
const char *operation_name(uint8_t opcode);
void lay_out(struct packet *packet, uint32_t has);
const struct field *find_field(const struct packet *packet, const char *name);
uint64_t get_field(const struct packet *packet, const char *name);
bool set_field(struct packet *packet, const char *name, uint64_t value);
bool read_opcode(struct line *line, uint8_t *opcode, int *answer);
const char *nak_of(struct line *line, int answer);

#endif /* CONFORM_FORMAT_H */
