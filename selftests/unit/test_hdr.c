// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include "hdr.h"
#include "rnd.h"
#include "tap.h"

static struct rnd rnd = { 1 };

/* Every field that some header carries, at random. */
static struct frdma_hdr random_hdr(u8 opcode)
{
	return (struct frdma_hdr) {
		.opcode		= opcode,
		.pad		= rnd_below(&rnd, 4),
		.solicited	= rnd_below(&rnd, 2),
		.ack_req	= rnd_below(&rnd, 2),
		.migreq		= rnd_below(&rnd, 2),
		.fecn		= rnd_below(&rnd, 2),
		.becn		= rnd_below(&rnd, 2),
		.pkey		= rnd_u64(&rnd),
		.dqpn		= rnd_u64(&rnd) & FRDMA_QPN_MASK,
		.psn		= rnd_u64(&rnd) & 0xffffff,
		.flush_placement = rnd_below(&rnd, 16),
		.flush_select	= rnd_below(&rnd, 4),
		.srqn		= rnd_u64(&rnd) & FRDMA_SRQN_MASK,
		.va		= rnd_u64(&rnd),
		.rkey		= rnd_u64(&rnd),
		.dma_len	= rnd_u64(&rnd),
		.swap_add	= rnd_u64(&rnd),
		.compare	= rnd_u64(&rnd),
		.qkey		= rnd_u64(&rnd),
		.sqpn		= rnd_u64(&rnd) & FRDMA_QPN_MASK,
		.syndrome	= rnd_u64(&rnd),
		.msn		= rnd_u64(&rnd) & FRDMA_MSN_MASK,
		.atomic_orig	= rnd_u64(&rnd),
		.imm_data	= rnd_u64(&rnd),
		.inv_rkey	= rnd_u64(&rnd),
	};
}

/* What parse must find after build: nothing that the opcode does not have. */
static struct frdma_hdr without_absent(struct frdma_hdr hdr)
{
	u16 ext = frdma_op(hdr.opcode)->ext;

	if (!(ext & FRDMA_EXT_XRCETH))
		hdr.srqn = 0;
	if (!(ext & FRDMA_EXT_DETH))
		hdr.qkey = hdr.sqpn = 0;
	if (!(ext & FRDMA_EXT_FETH))
		hdr.flush_placement = hdr.flush_select = 0;
	if (!(ext & (FRDMA_EXT_RETH | FRDMA_EXT_ATOMIC)))
		hdr.va = hdr.rkey = 0;
	if (!(ext & FRDMA_EXT_RETH))
		hdr.dma_len = 0;
	if (!(ext & FRDMA_EXT_ATOMIC))
		hdr.swap_add = hdr.compare = 0;
	if (!(ext & FRDMA_EXT_AETH))
		hdr.syndrome = hdr.msn = 0;
	if (!(ext & FRDMA_EXT_ATOMIC_ACK))
		hdr.atomic_orig = 0;
	if (!(ext & FRDMA_EXT_IMM))
		hdr.imm_data = 0;
	if (!(ext & FRDMA_EXT_INV))
		hdr.inv_rkey = 0;
	return hdr;
}

static void expect_same(const struct frdma_hdr *a, const struct frdma_hdr *b)
{
	EXPECT_EQ(a->opcode, b->opcode);
	EXPECT_EQ(a->pad, b->pad);
	EXPECT_EQ(a->tver, b->tver);
	EXPECT_EQ(a->solicited, b->solicited);
	EXPECT_EQ(a->ack_req, b->ack_req);
	EXPECT_EQ(a->migreq, b->migreq);
	EXPECT_EQ(a->fecn, b->fecn);
	EXPECT_EQ(a->becn, b->becn);
	EXPECT_EQ(a->pkey, b->pkey);
	EXPECT_EQ(a->dqpn, b->dqpn);
	EXPECT_EQ(a->psn, b->psn);
	EXPECT_EQ(a->flush_placement, b->flush_placement);
	EXPECT_EQ(a->flush_select, b->flush_select);
	EXPECT_EQ(a->srqn, b->srqn);
	EXPECT_EQ(a->va, b->va);
	EXPECT_EQ(a->rkey, b->rkey);
	EXPECT_EQ(a->dma_len, b->dma_len);
	EXPECT_EQ(a->swap_add, b->swap_add);
	EXPECT_EQ(a->compare, b->compare);
	EXPECT_EQ(a->qkey, b->qkey);
	EXPECT_EQ(a->sqpn, b->sqpn);
	EXPECT_EQ(a->syndrome, b->syndrome);
	EXPECT_EQ(a->msn, b->msn);
	EXPECT_EQ(a->atomic_orig, b->atomic_orig);
	EXPECT_EQ(a->imm_data, b->imm_data);
	EXPECT_EQ(a->inv_rkey, b->inv_rkey);
	EXPECT_EQ(a->hdr_len, b->hdr_len);
	EXPECT_EQ(a->payload_len, b->payload_len);
}

/* In memory of exactly that size, so that reading on is seen. */
static enum frdma_hdr_verdict parse_exact(struct frdma_hdr *hdr,
					  const void *buf, size_t avail,
					  size_t len)
{
	enum frdma_hdr_verdict verdict;
	void *copy = malloc(avail);

	memcpy(copy, buf, avail);
	verdict = frdma_hdr_parse(hdr, copy, avail, len);
	free(copy);
	return verdict;
}

static bool is_known(u32 opcode)
{
	return frdma_op(opcode)->kind != FRDMA_KIND_NONE;
}

/* The FETH comes before the RETH; its low byte says it all. */
TEST(frdma_hdr_build__flush)
{
	static const u8 expected[] = {
		0, 0, 0, 0x13,
		1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
	};
	struct frdma_hdr hdr = {
		.opcode = FRDMA_FLUSH, .flush_placement = 3,
		.flush_select = FRDMA_FLUSH_REGION,
		.va = 0x0102030405060708, .rkey = 0x090a0b0c,
		.dma_len = 0x0d0e0f10,
	};
	u8 buf[FRDMA_HDR_MAX];

	EXPECT_EQ(frdma_hdr_build(buf, &hdr), 12 + sizeof(expected));
	EXPECT(!memcmp(buf + 12, expected, sizeof(expected)));
}

TEST(frdma_hdr_is_nak__every_syndrome)
{
	struct frdma_hdr hdr = { .opcode = FRDMA_ACKNOWLEDGE };
	u32 syndrome;

	for (syndrome = 0; syndrome < 256; syndrome++) {
		hdr.syndrome = syndrome;
		EXPECT_EQ(frdma_hdr_is_nak(&hdr), syndrome > 0x1f);
	}
}

TEST(frdma_hdr_max__is_the_longest_row)
{
	u32 opcode, longest = 0;

	for (opcode = 0; opcode < 256; opcode++) {
		if (frdma_hdr_len(opcode) > longest)
			longest = frdma_hdr_len(opcode);
	}
	EXPECT_EQ(longest, FRDMA_HDR_MAX);
}

TEST(frdma_hdr_build__every_opcode_returns_its_length)
{
	u32 opcode;

	for (opcode = 0; opcode < 256; opcode++) {
		struct frdma_hdr hdr = random_hdr(opcode);
		size_t len = frdma_hdr_len(opcode);
		void *buf = malloc(len);

		EXPECT_EQ(frdma_hdr_build(buf, &hdr), len);
		free(buf);
	}
}

/* As if each had been built by itself. */
TEST(frdma_hdr_build_run__counts_and_asks_at_the_end)
{
	static const u8 opcodes[] = {
		FRDMA_SEND_MIDDLE, FRDMA_READ_RESP_MIDDLE,
		FRDMA_XRC | FRDMA_WRITE_MIDDLE, FRDMA_WRITE_ONLY_IMM,
	};
	u8 run[9 * 100], one[FRDMA_HDR_MAX];
	u32 i, j, nr;

	for (i = 0; i < ARRAY_SIZE(opcodes); i++) {
		for (nr = 1; nr <= 9; nr++) {
			struct frdma_hdr hdr = random_hdr(opcodes[i]);
			bool ack_req = hdr.ack_req;
			size_t len = frdma_hdr_len(opcodes[i]);

			hdr.psn = 0xfffffc;
			memset(run, 0xee, sizeof(run));
			EXPECT_EQ(frdma_hdr_build_run(run, 100, &hdr, nr), len);
			for (j = 0; j < nr; j++) {
				hdr.psn = (0xfffffc + j) & 0xffffff;
				hdr.ack_req = ack_req && j + 1 == nr;
				frdma_hdr_build(one, &hdr);
				EXPECT(!memcmp(run + 100 * j, one, len));
				EXPECT_EQ(run[100 * j + len], 0xee);
			}
		}
	}
}

TEST(frdma_hdr_build__leaves_reserved_bits_zero)
{
	struct frdma_hdr hdr = {
		.opcode = FRDMA_UD | FRDMA_SEND_ONLY,
		.dqpn = 0xffffffff, .psn = 0xffffffff, .sqpn = 0xffffffff,
		.pad = 0xfc, .tver = 0xf0,
	};
	static const u8 expected[20] = {
		0x64, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0, 0xff, 0xff, 0xff,
		0, 0, 0, 0, 0, 0xff, 0xff, 0xff,
	};
	u8 buf[20];

	EXPECT_EQ(frdma_hdr_build(buf, &hdr), sizeof(buf));
	EXPECT(!memcmp(buf, expected, sizeof(buf)));
}

/* A count that was not cut to its width does not reach the syndrome. */
TEST(frdma_hdr_build__long_msn)
{
	struct frdma_hdr hdr = {
		.opcode = FRDMA_ACKNOWLEDGE, .syndrome = FRDMA_NAK_PSN,
		.msn = 0xff000005,
	};
	static const u8 expected[4] = { FRDMA_NAK_PSN, 0, 0, 5 };
	u8 buf[16];

	EXPECT_EQ(frdma_hdr_build(buf, &hdr), sizeof(buf));
	EXPECT(!memcmp(buf + 12, expected, sizeof(expected)));
}

TEST(frdma_hdr_build__write_only_with_imm_byte_by_byte)
{
	struct frdma_hdr hdr = {
		.opcode = FRDMA_WRITE_ONLY_IMM,
		.pad = 3, .solicited = true, .ack_req = true, .migreq = true,
		.pkey = 0x1234, .dqpn = 0x56789a, .psn = 0xbcdef0,
		.va = 0x0102030405060708, .rkey = 0x11223344,
		.dma_len = 0x55667788, .imm_data = cpu_to_be32(0x99aabbcc),
	};
	static const u8 expected[] = {
		0x0b, 0xf0, 0x12, 0x34, 0x00, 0x56, 0x78, 0x9a,
		0x80, 0xbc, 0xde, 0xf0,
		1, 2, 3, 4, 5, 6, 7, 8, 0x11, 0x22, 0x33, 0x44,
		0x55, 0x66, 0x77, 0x88,
		0x99, 0xaa, 0xbb, 0xcc,
	};
	u8 buf[FRDMA_HDR_MAX];

	EXPECT_EQ(frdma_hdr_build(buf, &hdr), sizeof(expected));
	EXPECT(!memcmp(buf, expected, sizeof(expected)));
}

TEST(frdma_hdr_build__xrc_fetch_add_byte_by_byte)
{
	struct frdma_hdr hdr = {
		.opcode = FRDMA_XRC | FRDMA_FETCH_ADD,
		.pkey = 0xffff, .dqpn = 0x123456, .psn = 0x789abc,
		.srqn = 0xffdef012, .va = 0x0102030405060708,
		.rkey = 0x11223344, .swap_add = 5, .compare = 6,
	};
	static const u8 expected[FRDMA_HDR_MAX] = {
		0xb4, 0x00, 0xff, 0xff, 0x00, 0x12, 0x34, 0x56,
		0x00, 0x78, 0x9a, 0xbc,
		/* The queue, behind eight reserved bits. */
		0x00, 0xde, 0xf0, 0x12,
		1, 2, 3, 4, 5, 6, 7, 8, 0x11, 0x22, 0x33, 0x44,
		0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 6,
	};
	u8 buf[FRDMA_HDR_MAX];

	EXPECT_EQ(frdma_hdr_build(buf, &hdr), sizeof(expected));
	EXPECT(!memcmp(buf, expected, sizeof(expected)));
}

TEST(frdma_hdr_parse__reserved_bits_before_the_queue_mean_nothing)
{
	static const u8 packet[] = {
		0xa4, 0x00, 0xff, 0xff, 0x00, 0x12, 0x34, 0x56,
		0x00, 0x78, 0x9a, 0xbc, 0xff, 0x00, 0x00, 0x07,
		0, 0, 0, 0,
	};
	struct frdma_hdr hdr;

	EXPECT_EQ(frdma_hdr_parse(&hdr, packet, sizeof(packet),
				  sizeof(packet)), FRDMA_HDR_OK);
	EXPECT_EQ(hdr.srqn, 7);
	EXPECT_EQ(hdr.hdr_len, 16);
	EXPECT_EQ(hdr.payload_len, 0);
}

TEST(frdma_hdr_parse__every_opcode_reads_what_build_wrote)
{
	u32 opcode, round;

	for (opcode = 0; opcode < 256; opcode++) {
		for (round = 0; is_known(opcode) && round < 50; round++) {
			struct frdma_hdr in = random_hdr(opcode), out;
			u8 buf[1 + FRDMA_HDR_MAX + 8 + 3 + 4] = { };
			u32 payload = rnd_below(&rnd, 9), len;

			/* At an odd address. */
			in.hdr_len = frdma_hdr_build(buf + 1, &in);
			in.payload_len = payload;
			len = in.hdr_len + payload + in.pad + 4;

			EXPECT_EQ(frdma_hdr_parse(&out, buf + 1, len, len),
				  FRDMA_HDR_OK);
			in = without_absent(in);
			expect_same(&out, &in);
		}
	}
}

/* What parse would say of the next packet; most are like the one before. */
static bool expect_next(struct frdma_hdr *hdr, u8 *buf, u32 len)
{
	struct frdma_bth last, *bth = (struct frdma_bth *)buf;
	struct frdma_hdr parsed, before = *hdr;
	u8 change = rnd_u64(&rnd);

	memcpy(&last, buf, sizeof(last));
	rnd_fill(&rnd, &bth->apsn, sizeof(bth->apsn));
	if (rnd_below(&rnd, 2) == 0)
		buf[rnd_below(&rnd, 8)] ^= change;

	if (!frdma_hdr_parse_next(hdr, &last, bth)) {
		EXPECT(memcmp(buf, &last, 8));
		expect_same(hdr, &before);
		return false;
	}
	EXPECT(!memcmp(buf, &last, 8));
	frdma_hdr_parse(&parsed, buf, len, len);
	expect_same(hdr, &parsed);
	return true;
}

TEST(frdma_hdr_parse_next__as_parse_or_not_at_all)
{
	u32 opcode, round, alike = 0;

	for (opcode = 0; opcode < 256; opcode++) {
		for (round = 0; round < 50; round++) {
			struct frdma_hdr in = random_hdr(opcode), hdr;
			u8 buf[sizeof(struct frdma_bth) + 8 + 3 + 4] = { };
			u32 len;

			if (frdma_hdr_len(opcode) != sizeof(struct frdma_bth))
				break;
			len = frdma_hdr_build(buf, &in) + 8 + in.pad + 4;
			frdma_hdr_parse(&hdr, buf, len, len);
			alike += expect_next(&hdr, buf, len);
		}
	}
	EXPECT(alike > 1000);
}

TEST(frdma_hdr_may_run__in_the_middle_of_a_message)
{
	u32 opcode, transport, nr = 0;

	for (opcode = 0; opcode < 256; opcode++) {
		struct frdma_hdr hdr = { .opcode = opcode };

		nr += frdma_hdr_may_run(&hdr);
	}
	/* RC and XRC have three of them, UC has no READs. */
	EXPECT_EQ(nr, 8);
	for (transport = FRDMA_RC; transport <= FRDMA_XRC; transport += 0x20) {
		struct frdma_hdr send = {
			.opcode = transport | FRDMA_SEND_MIDDLE,
		};
		struct frdma_hdr write = {
			.opcode = transport | FRDMA_WRITE_MIDDLE,
		};
		struct frdma_hdr read = {
			.opcode = transport | FRDMA_READ_RESP_MIDDLE,
		};
		bool reliable = transport == FRDMA_RC || transport == FRDMA_XRC;
		bool connected = reliable || transport == FRDMA_UC;

		EXPECT_EQ(frdma_hdr_may_run(&send), connected);
		EXPECT_EQ(frdma_hdr_may_run(&write), connected);
		EXPECT_EQ(frdma_hdr_may_run(&read), reliable);
	}
}

TEST(frdma_hdr_brings_data__neither_requests_for_it_nor_notifications)
{
	struct frdma_hdr send = { .opcode = FRDMA_SEND_ONLY };
	struct frdma_hdr read = { .opcode = FRDMA_READ_REQUEST };
	struct frdma_hdr cnp = { .opcode = FRDMA_CNP, .payload_len = 16 };

	EXPECT(!frdma_hdr_brings_data(&send));
	send.payload_len = 1;
	EXPECT(frdma_hdr_brings_data(&send));
	EXPECT(!frdma_hdr_brings_data(&read));
	EXPECT(!frdma_hdr_brings_data(&cnp));
}

/* It is what the next one is built as, whatever else the BTH holds. */
TEST(frdma_hdr_next_bth__counts_and_changes_nothing_else)
{
	static const u32 psns[] = { 0, 1, 0x7f, 0xffff, 0xfffffe, 0xffffff };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(psns); i++) {
		struct frdma_hdr hdr = random_hdr(FRDMA_WRITE_MIDDLE);
		struct frdma_bth last, next;

		hdr.psn = psns[i];
		frdma_hdr_build(&last, &hdr);
		frdma_hdr_skip(&hdr, 1);
		EXPECT_EQ(hdr.psn, (psns[i] + 1) & 0xffffff);
		frdma_hdr_build(&next, &hdr);
		last.apsn ^= htobe32(0x80000000);
		next.apsn ^= htobe32(0x80000000);
		last.dqpn ^= htobe32(0xff000000);
		next.dqpn ^= htobe32(0xff000000);
		frdma_hdr_next_bth(&last);
		EXPECT(!memcmp(&last, &next, sizeof(last)));
	}
}

TEST(frdma_hdr_parse__payload_need_not_be_readable)
{
	u32 opcode;

	for (opcode = 0; opcode < 256; opcode++) {
		struct frdma_hdr hdr = { .opcode = opcode }, out;
		u8 buf[FRDMA_HDR_MAX];
		size_t n = frdma_hdr_build(buf, &hdr);

		if (!is_known(opcode))
			continue;
		EXPECT_EQ(parse_exact(&out, buf, n, n + 4096 + 4),
			  FRDMA_HDR_OK);
		EXPECT_EQ(out.payload_len, 4096);
	}
}

TEST(frdma_hdr_parse__every_prefix_is_short)
{
	u32 opcode, pad, len, payload;

	for (opcode = 0; opcode < 256; opcode++) {
		for (pad = 0; is_known(opcode) && pad < 4; pad++) {
			struct frdma_hdr hdr = random_hdr(opcode), out;
			u8 buf[FRDMA_HDR_MAX + 3 + 4] = { };
			u32 full;

			hdr.pad = pad;
			full = frdma_hdr_build(buf, &hdr) + pad + 4;
			for (len = 0; len < full; len++)
				EXPECT_EQ(parse_exact(&out, buf, len, len),
					  FRDMA_HDR_SHORT);
			EXPECT_EQ(parse_exact(&out, buf, full, full),
				  FRDMA_HDR_OK);

			/* A long packet of which too little is readable. */
			payload = full + 1000;
			for (len = 0; len < frdma_hdr_len(opcode); len++)
				EXPECT_EQ(parse_exact(&out, buf, len, payload),
					  FRDMA_HDR_SHORT);
		}
	}
}

/* More can be read than belongs to it; and what it said before is forgotten. */
TEST(frdma_hdr_parse__nothing_is_read_without_a_bth)
{
	struct frdma_hdr out;
	u8 buf[64];
	u32 len;

	memset(buf, 0x55, sizeof(buf));
	for (len = 0; len < 12; len++) {
		memset(&out, 0xaa, sizeof(out));
		EXPECT_EQ(frdma_hdr_parse(&out, buf, sizeof(buf), len),
			  FRDMA_HDR_SHORT);
		EXPECT_EQ(out.opcode, 0);
		EXPECT_EQ(out.dqpn, 0);
		EXPECT_EQ(out.psn, 0);
		EXPECT_EQ(out.hdr_len, 0);
		EXPECT_EQ(out.syndrome, 0);
	}
}

/* A pad without room is short before its opcode is known. */
TEST(frdma_hdr_parse__reserved_opcode_with_too_much_pad)
{
	struct frdma_hdr hdr = { .opcode = 0x15, .pad = 3 }, out;
	u8 buf[19] = { };

	frdma_hdr_build(buf, &hdr);
	EXPECT_EQ(frdma_hdr_parse(&out, buf, 18, 18), FRDMA_HDR_SHORT);
	EXPECT_EQ(frdma_hdr_parse(&out, buf, 19, 19), FRDMA_HDR_OPCODE);
}

TEST(frdma_hdr_parse__another_version)
{
	u32 tver;

	for (tver = 1; tver < 16; tver++) {
		struct frdma_hdr hdr = { .tver = tver }, out;
		u8 buf[16] = { };

		frdma_hdr_build(buf, &hdr);
		EXPECT_EQ(frdma_hdr_parse(&out, buf, 16, 16),
			  FRDMA_HDR_VERSION);
		EXPECT_EQ(out.tver, tver);
	}
}

TEST(frdma_hdr_parse__reserved_opcode_has_a_bth)
{
	u32 opcode;

	for (opcode = 0; opcode < 256; opcode++) {
		struct frdma_hdr hdr = random_hdr(opcode), out;
		u8 buf[FRDMA_HDR_MAX] = { };

		if (is_known(opcode))
			continue;
		hdr.pad = 0;
		EXPECT_EQ(frdma_hdr_build(buf, &hdr), 12);
		EXPECT_EQ(parse_exact(&out, buf, 16, 16), FRDMA_HDR_OPCODE);
		EXPECT_EQ(out.opcode, opcode);
		EXPECT_EQ(out.dqpn, hdr.dqpn);
		EXPECT_EQ(out.psn, hdr.psn);
		EXPECT_EQ(out.hdr_len, 12);
		EXPECT_EQ(out.payload_len, 0);
	}
}

TEST(frdma_hdr_parse__any_bytes_at_any_length)
{
	u32 round;

	for (round = 0; round < 20000; round++) {
		size_t avail = rnd_below(&rnd, 64);
		size_t len = avail + rnd_below(&rnd, 2) * 1000;
		struct frdma_hdr hdr;
		u8 buf[64];

		rnd_fill(&rnd, buf, avail);
		/* Most of the space is reserved: stay where it is not. */
		buf[0] &= 0x3f;
		buf[1] &= 0xf0 | rnd_below(&rnd, 2);
		if (parse_exact(&hdr, buf, avail, len) != FRDMA_HDR_OK)
			continue;
		EXPECT_EQ(hdr.hdr_len + hdr.payload_len + hdr.pad + 4, len);
	}
}
