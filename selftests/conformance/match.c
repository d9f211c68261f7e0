// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>

#include "format.h"
#include "match.h"

#define PACKET_BYTES	64	/* that a script spells out */

static bool payload_begins(const struct packet *packet, const char *text)
{
	uint8_t bytes[PACKET_BYTES];
	size_t nr;

	return packet_read_bytes(text, bytes, sizeof(bytes), &nr) &&
	       nr <= packet->payload_len &&
	       !memcmp(bytes, packet->bytes + packet->payload, nr);
}

static bool pad_is_zero(const struct packet *packet)
{
	uint32_t i, pad = get_field(packet, "pad");

	if (pad != (-packet->payload_len & 3))
		return false;
	for (i = 0; i < pad; i++)
		if (packet->bytes[packet->payload + packet->payload_len + i])
			return false;
	return true;
}

/* None is right as well. */
static bool udp_checksum_is_right(const struct packet *packet)
{
	uint64_t got = get_field(packet, "udp_csum");

	return !got || got == packet_udp_checksum(packet);
}

/* What holds for every packet that is sent. */
static bool is_well_formed(const struct packet *packet,
			   const struct packet_peer *peer, char *why,
			   size_t why_size)
{
	static const char * const zero[] = {
		"tver", "resv6", "resv7", "fecn",
	};
	uint32_t icrc = packet_icrc(packet);
	size_t i;

	if (packet_stored_icrc(packet) != icrc) {
		snprintf(why, why_size, "its ICRC is 0x%08x, not 0x%08x",
			 packet_stored_icrc(packet), icrc);
		return false;
	}
	if (!pad_is_zero(packet)) {
		snprintf(why, why_size, "its pad is wrong");
		return false;
	}
	if (!udp_checksum_is_right(packet)) {
		snprintf(why, why_size, "its UDP checksum is 0x%04x, not 0x%04x",
			 (unsigned int)get_field(packet, "udp_csum"),
			 packet_udp_checksum(packet));
		return false;
	}
	for (i = 0; i < sizeof(zero) / sizeof(zero[0]); i++)
		if (get_field(packet, zero[i])) {
			snprintf(why, why_size, "%s is not zero", zero[i]);
			return false;
		}
	if (get_field(packet, "becn") !=
	    (get_field(packet, "opcode") == OPCODE_CNP)) {
		snprintf(why, why_size, "becn is wrong");
		return false;
	}
	return true;
}

static bool payload_is(const struct packet *packet, uint64_t from)
{
	uint32_t i;

	for (i = 0; i < packet->payload_len; i++)
		if (packet->bytes[packet->payload + i] != pattern(from + i))
			return false;
	return true;
}

/* One word of the line. */
static bool word_fits(const struct packet *packet, struct word *word,
		      const struct names *names, bool any, char *why,
		      size_t why_size)
{
	const char *name = word->name, *want = word->value ?: "1";
	bool absent = !word->value && !strncmp(name, "no_", 3);
	const struct field *f;
	uint64_t got, from;

	word->used = true;
	if (!strcmp(name, "payload")) {
		if (value_of(want, MEANS_NUMBER, names, &from) &&
		    payload_is(packet, from))
			return true;
		snprintf(why, why_size, "another payload");
		return false;
	}
	if (!strcmp(name, "begins")) {
		if (payload_begins(packet, want))
			return true;
		snprintf(why, why_size, "another payload");
		return false;
	}
	if (absent) {
		name += 3;
		want = "0";
	}
	f = find_field(packet, name);
	got = !strcmp(name, "len") ? packet->payload_len :
	      !strcmp(name, "vlan") ? packet->vlan : get_field(packet, name);
	if (!f && strcmp(name, "len") && strcmp(name, "vlan")) {
		snprintf(why, why_size, "no %s in it", name);
		return false;
	}
	if (value_is(want, f ? f->meaning : MEANS_NUMBER, names, got, any))
		return true;
	snprintf(why, why_size, "%s is 0x%llx, not %s", name,
		 (unsigned long long)got, want);
	return false;
}

/* Is it "ACK", "NAK 0x61", or whatever opcode the line names. */
static bool is_of_kind(const struct packet *packet, struct line *line,
		       const struct names *names, bool any, char *why,
		       size_t why_size)
{
	uint64_t got = get_field(packet, "opcode");
	const char *nak;
	uint8_t opcode;
	int answer;

	if (!read_opcode(line, &opcode, &answer)) {
		snprintf(why, why_size, "the script names no opcode");
		return false;
	}
	nak = nak_of(line, answer);
	if (got != opcode)
		goto err_other;
	if (answer >= 0 && get_field(packet, "kind") != answers[answer].kind)
		goto err_other;
	if (nak && !value_is(nak, MEANS_NUMBER, names,
			     get_field(packet, "syndrome"), any)) {
		snprintf(why, why_size, "the syndrome is 0x%llx",
			 (unsigned long long)get_field(packet, "syndrome"));
		return false;
	}
	return true;

err_other:
	snprintf(why, why_size, "another packet");
	return false;
}

/**
 * packet_matches - is it the one that a line describes
 * @packet: as it was sent, read
 * @line: "> OPCODE ..."
 * @peer: to whom it must go
 * @names: for the values of the line
 * @any: all alternatives are right, not only the first
 * @why: set to what is different
 * @why_size: room for that
 */
bool packet_matches(const struct packet *packet, struct line *line,
		    const struct packet_peer *peer, const struct names *names,
		    bool any, char *why, size_t why_size)
{
	bool dqpn_given = line_value(line, "dqpn"), tagged = false, fits;
	size_t i;

	fits = is_of_kind(packet, line, names, any, why, why_size) &&
	       is_well_formed(packet, peer, why, why_size);
	for (i = 2; i < line->nr; i++) {
		struct word *word = &line->words[i];
		bool known = word->used && strcmp(word->name, "dqpn");

		tagged |= !strcmp(word->name, "vlan");
		if (fits && !known)
			fits = word_fits(packet, word, names, any, why,
					 why_size);
		word->used = true;
	}
	if (fits && !tagged && packet->vlan) {
		snprintf(why, why_size, "it is in VLAN %u", packet->vlan);
		fits = false;
	}
	if (fits && !dqpn_given &&
	    get_field(packet, "dqpn") != peer->peer_qpn) {
		snprintf(why, why_size, "it is for queue pair 0x%llx",
			 (unsigned long long)get_field(packet, "dqpn"));
		fits = false;
	}
	return fits;
}

/** packet_print - a packet in the words of scripts, for people */
void packet_print(const struct packet *packet, char *text, size_t size)
{
	uint8_t opcode = get_field(packet, "opcode");
	const char *name = operation_name(opcode);
	size_t i, used;

	used = snprintf(text, size, "%s (0x%02x) len=%u", name ?: "reserved",
			opcode, packet->payload_len);
	for (i = 0; fields[i].name && used < size; i++) {
		const struct field *f = &fields[i];

		if (f->header < HDR_BTH || !(packet->has & 1U << f->header) ||
		    !strcmp(f->name, "opcode") || !strcmp(f->name, "kind") ||
		    !strcmp(f->name, "credits") || !strcmp(f->name, "timer"))
			continue;
		if (f->header == HDR_BTH && !get_field(packet, f->name))
			continue;
		used += snprintf(text + used, size - used, " %s=0x%llx",
				 f->name, (unsigned long long)
				 get_field(packet, f->name));
	}
}
