// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes as a packet: what is parsed is what is there, what is built from
 * it is the same again, and its ICRC does not depend on how it is cut.
 */
#include "fuzz.h"
#include "hdr.h"
#include "icrc.h"

/* Bits of the BTH that nobody keeps, and the same of what may follow. */
static void clear_reserved(u8 *bytes, const struct frdma_hdr *hdr)
{
	u16 ext = frdma_op(hdr->opcode)->ext;
	u8 *at = bytes + sizeof(struct frdma_bth);

	bytes[4] &= 0xc0;
	bytes[8] &= 0x80;
	if (ext & FRDMA_EXT_XRCETH) {
		at[0] = 0;
		at += sizeof(struct frdma_xrceth);
	}
	if (ext & FRDMA_EXT_DETH)
		at[4] = 0;
	if (ext & FRDMA_EXT_FETH) {
		at[0] = at[1] = at[2] = 0;
		at[3] &= 0x3f;
	}
}

static void check_rebuilt(const struct frdma_hdr *hdr, const u8 *data)
{
	u8 *built = malloc(hdr->hdr_len), *plain = malloc(hdr->hdr_len);

	FUZZ_CHECK(frdma_hdr_build(built, hdr) == hdr->hdr_len, "opcode 0x%02x",
		   hdr->opcode);
	memcpy(plain, data, hdr->hdr_len);
	clear_reserved(plain, hdr);
	FUZZ_CHECK(!memcmp(built, plain, hdr->hdr_len), "opcode 0x%02x",
		   hdr->opcode);
	free(built);
	free(plain);
}

static void check_icrc(const struct frdma_hdr *hdr, const u8 *data, size_t size)
{
	static const u8 ip[20] = { 0x45 }, udp[8];
	struct frdma_icrc_pseudo pseudo, again;
	u32 rest = size - hdr->hdr_len - FRDMA_ICRC_LEN;
	u32 cut = rest ? data[0] % rest : 0, whole, parts;
	const u8 *payload = data + hdr->hdr_len;
	u8 before[FRDMA_HDR_MAX];

	frdma_icrc_pseudo_ipv4(&pseudo, ip, udp);
	frdma_icrc_pseudo_set(&pseudo, hdr->pkey, size);
	whole = frdma_crc32(frdma_icrc_seed(&pseudo, data, hdr->hdr_len),
			    payload, rest);

	/* The third of one length: the CRC of the second is patched. */
	memcpy(before, data, hdr->hdr_len);
	before[data[8] % sizeof(struct frdma_bth)] ^= data[9];
	before[data[10] % sizeof(struct frdma_bth)] ^= data[11];
	frdma_icrc_pseudo_ipv4(&again, ip, udp);
	frdma_icrc_pseudo_set(&again, 7, size);
	frdma_icrc_seed(&again, before, hdr->hdr_len);
	frdma_icrc_pseudo_set(&again, hdr->psn, size);
	frdma_icrc_seed(&again, before, hdr->hdr_len);
	frdma_icrc_pseudo_set(&again, hdr->pkey, size);
	parts = frdma_icrc_seed(&again, data, hdr->hdr_len);
	parts = frdma_crc32(parts, payload, cut);
	parts = frdma_crc32(parts, payload + cut, rest - cut);
	FUZZ_CHECK(whole == parts, "0x%08x, not 0x%08x", parts, whole);
}

static void check_zero_behind_bth(const struct frdma_hdr *hdr)
{
	FUZZ_CHECK(!hdr->va && !hdr->rkey && !hdr->dma_len && !hdr->swap_add &&
		   !hdr->compare && !hdr->qkey && !hdr->sqpn && !hdr->srqn &&
		   !hdr->syndrome && !hdr->msn && !hdr->atomic_orig &&
		   !hdr->imm_data && !hdr->inv_rkey && !hdr->payload_len &&
		   !hdr->flush_placement && !hdr->flush_select,
		   "opcode 0x%02x", hdr->opcode);
}

FUZZ_TARGET(header)(const u8 *data, size_t size)
{
	enum frdma_hdr_verdict verdict;
	struct frdma_hdr hdr, part;

	fuzz_packets++;
	verdict = frdma_hdr_parse(&hdr, data, size, size);
	switch (verdict) {
	case FRDMA_HDR_OK:
		FUZZ_CHECK(hdr.hdr_len + hdr.payload_len + hdr.pad +
			   FRDMA_ICRC_LEN == size, "%u + %u + %u", hdr.hdr_len,
			   hdr.payload_len, hdr.pad);
		FUZZ_CHECK(!hdr.tver, "%u", hdr.tver);
		check_rebuilt(&hdr, data);
		check_icrc(&hdr, data, size);
		/* It is the same with its headers alone at hand. */
		verdict = frdma_hdr_parse(&part, data, hdr.hdr_len, size);
		FUZZ_CHECK(verdict == FRDMA_HDR_OK, "%u", verdict);
		FUZZ_CHECK(!memcmp(&part, &hdr, sizeof(hdr)), "cut");
		break;
	case FRDMA_HDR_OPCODE:
		FUZZ_CHECK(frdma_op(hdr.opcode)->kind == FRDMA_KIND_NONE,
			   "opcode 0x%02x", hdr.opcode);
		check_zero_behind_bth(&hdr);
		break;
	case FRDMA_HDR_SHORT:
	case FRDMA_HDR_VERSION:
		check_zero_behind_bth(&hdr);
		break;
	}
	return 0;
}
