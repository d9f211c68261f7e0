// SPDX-License-Identifier: GPL-2.0
/*
 * Can a peer guess a number that it was not told from those that it was?
 * guess.sh builds and runs it, as a user without privileges:
 *
 *	guess DEVICE GID_INDEX CASE
 */
#include <unistd.h>

#include "../lib/pair.h"
#include "lot.h"

#define USER	65534

static uint32_t qpns[2][NUMBERS];

static void make_numbers(struct ibv_cq *cq, uint32_t *numbers)
{
	struct ibv_qp *qps[NUMBERS];
	size_t i;

	for (i = 0; i < NUMBERS; i++) {
		qps[i] = make_qp(cq, 1);
		EXPECT(qps[i]);
		numbers[i] = qps[i]->qp_num;
		EXPECT(numbers[i] >= 16 && numbers[i] < 0xffffff);
	}
	for (i = 0; i < NUMBERS; i++)
		EXPECT(!ibv_destroy_qp(qps[i]));
}

/* Those that others have given back do not come again, nor in any order. */
static void queue_pairs(void)
{
	struct ibv_cq *cq = ibv_create_cq(ctx, 2, NULL, NULL, 0);

	EXPECT(cq);
	make_numbers(cq, qpns[0]);
	make_numbers(cq, qpns[1]);
	no_rule(qpns[0], NUMBERS, 24, 3);
	no_rule(qpns[1], NUMBERS, 24, 3);
	EXPECT(most_frequent(qpns[0], 2 * NUMBERS) == 1);
	EXPECT(!ibv_destroy_cq(cq));
}

/* One that is made, and ends, and is made again. */
static void queue_pairs_one_by_one(void)
{
	struct ibv_cq *cq = ibv_create_cq(ctx, 2, NULL, NULL, 0);
	struct ibv_qp *qp;
	size_t i;

	EXPECT(cq);
	for (i = 0; i < NUMBERS; i++) {
		qp = make_qp(cq, 1);
		EXPECT(qp);
		qpns[0][i] = qp->qp_num;
		EXPECT(!ibv_destroy_qp(qp));
	}
	no_rule(qpns[0], NUMBERS, 24, 3);
	EXPECT(most_frequent(qpns[0], NUMBERS) == 1);
	EXPECT(!ibv_destroy_cq(cq));
}

static void take_keys(const uint32_t *keys, size_t nr)
{
	uint32_t index[NUMBERS];
	size_t i;

	for (i = 0; i < nr; i++)
		index[i] = keys[i] >> 8;
	EXPECT(most_frequent(index, nr) == 1);
	no_rule(index, nr, 24, 3);
	no_rule(keys, nr, 32, 3);
}

static void regions(void)
{
	static unsigned char memory[4096];
	static struct ibv_mr *mrs[NUMBERS];
	uint32_t keys[NUMBERS];
	size_t i;

	for (i = 0; i < NUMBERS; i++) {
		mrs[i] = ibv_reg_mr(pd, memory, 8, RIGHTS);
		EXPECT(mrs[i]);
		keys[i] = mrs[i]->rkey;
	}
	for (i = 0; i < NUMBERS; i++)
		EXPECT(!ibv_dereg_mr(mrs[i]));
	take_keys(keys, NUMBERS);
}

static void windows(void)
{
	static struct ibv_mw *mws[NUMBERS];
	uint32_t keys[NUMBERS];
	size_t i;

	for (i = 0; i < NUMBERS; i++) {
		mws[i] = ibv_alloc_mw(pd, IBV_MW_TYPE_2);
		EXPECT(mws[i]);
		keys[i] = mws[i]->rkey;
	}
	for (i = 0; i < NUMBERS; i++)
		EXPECT(!ibv_dealloc_mw(mws[i]));
	take_keys(keys, NUMBERS);
}

/* The next one hundred, for who compares them with those of another time. */
static void print_numbers(void)
{
	struct ibv_cq *cq = ibv_create_cq(ctx, 2, NULL, NULL, 0);
	size_t i;

	EXPECT(cq);
	make_numbers(cq, qpns[0]);
	for (i = 0; i < 100; i++)
		printf("%u\n", qpns[0][i]);
	EXPECT(!ibv_destroy_cq(cq));
}

static const struct test_case cases[] = {
	CASE(queue_pairs), CASE(queue_pairs_one_by_one), CASE(regions),
	CASE(windows), CASE(print_numbers), { }
};

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	EXPECT(!setgid(USER) && !setuid(USER));
	open_device(argv[1], argv[2]);
	return run_case(cases, argv[3]);
}
