// SPDX-License-Identifier: GPL-2.0
/*
 * Makes objects of one kind on a device, and prints what one took:
 *
 *	objects DEVICE GID qp 0 COUNT		connected queue pairs
 *	objects DEVICE GID region BYTES COUNT	regions
 *	objects DEVICE GID huge-region BYTES 1	a region in huge pages
 *
 * A line is "KIND NANOSECONDS BYTES", with "-" where one of them is not known.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "../lib/pair.h"
#include "../lib/meminfo.h"

/* What the kernel counts as free is not told apart to the page. */
#define BYTES_TOLD	(256 << 10)

static void say(const char *kind, double seconds, double bytes, int count)
{
	printf("%s %.0f ", kind, seconds / count * 1e9);
	if (bytes < BYTES_TOLD)
		puts("-");
	else
		printf("%.0f\n", bytes / count);
}

static void connect_qps(struct ibv_cq *cq, struct ibv_qp **qps, int count)
{
	int i;

	for (i = 0; i < count; i++) {
		qps[i] = make_qp(cq, 1);
		EXPECT(qps[i] && !connect_qp(qps[i], qps[i]->qp_num));
	}
}

/* What the first ones take for all is there before: a tenth as many. */
static void make_qps(int count)
{
	struct ibv_cq *cq = ibv_create_cq(ctx, 64, NULL, NULL, 0);
	int i, first = count / 10, all = count + first;
	struct ibv_qp **qps = calloc(all, sizeof(*qps));
	double since, bytes, slab;

	EXPECT(cq && qps);
	connect_qps(cq, qps, first);
	bytes = bytes_available();
	slab = bytes_of("Slab") + bytes_of("Percpu");
	since = now();
	connect_qps(cq, qps + first, count);
	since = now() - since;
	say("qp", since, bytes - bytes_available(), count);
	printf("qp-kernel - %.0f\n", (bytes_of("Slab") + bytes_of("Percpu") -
				      slab) / count);
	for (i = 0; i < all; i++)
		EXPECT(!ibv_destroy_qp(qps[i]));
	EXPECT(!ibv_destroy_cq(cq));
}

static void make_regions(const char *kind, size_t bytes_each, int count,
			 int flags)
{
	struct ibv_mr **mrs = calloc(count + 1, sizeof(*mrs));
	double since = 0, bytes = 0;
	void *p;
	int i;

	p = mmap(NULL, bytes_each, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE | flags, -1, 0);
	EXPECT(mrs && p != MAP_FAILED);
	/* Of one that is large, one more would not be warmer. */
	for (i = count == 1; i <= count; i++) {
		if (i == 1) {
			bytes = bytes_available();
			since = now();
		}
		mrs[i] = ibv_reg_mr(pd, p, bytes_each, IBV_ACCESS_LOCAL_WRITE);
		EXPECT(mrs[i]);
	}
	since = now() - since;
	say(kind, since, bytes - bytes_available(), count);
	for (i = count == 1; i <= count; i++)
		EXPECT(!ibv_dereg_mr(mrs[i]));
	EXPECT(!munmap(p, bytes_each));
}

int main(int argc, char **argv)
{
	size_t bytes;
	int count;

	EXPECT(argc == 6);
	open_device(argv[1], argv[2]);
	bytes = arg_number(argv[4]);
	count = arg_number(argv[5]);
	EXPECT(count > 0);
	if (!strcmp(argv[3], "qp"))
		make_qps(count);
	else if (!strcmp(argv[3], "region"))
		make_regions(argv[3], bytes, count, 0);
	else
		make_regions(argv[3], bytes, count, MAP_HUGETLB);
	EXPECT(!ibv_dealloc_pd(pd) && !ibv_close_device(ctx));
	return 0;
}
