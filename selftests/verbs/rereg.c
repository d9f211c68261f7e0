// SPDX-License-Identifier: GPL-2.0
/*
 * Regions that change: each combination of what ibv_rereg_mr() can change at
 * once, and what it refuses. rereg.sh builds and runs it:
 *
 *	rereg DEVICE GID_INDEX CASE
 *
 * In each pair of queue pairs near reaches for far's memory.
 */
#include <stdbool.h>
#include <sys/mman.h>

#include "../lib/pair.h"

#define PAGE	4096
#define SIZE	(4 * PAGE)

#define TRANSLATION	IBV_REREG_MR_CHANGE_TRANSLATION
#define PD		IBV_REREG_MR_CHANGE_PD
#define ACCESS		IBV_REREG_MR_CHANGE_ACCESS

static unsigned char *old, *new;
static unsigned char local[SIZE];
static struct ibv_mr *local_mr, *other_local_mr;
static struct ibv_pd *first_pd, *other_pd;

static unsigned char *pages(size_t len, int prot)
{
	void *p = mmap(NULL, len, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	EXPECT(p != MAP_FAILED);
	return p;
}

/* Can a peer, whose queue pair is of this domain, write there by this key? */
static bool is_writable(struct ibv_pd *in, const void *at, uint32_t rkey)
{
	struct ibv_sge sge = {
		(uintptr_t)local, 8,
		in == first_pd ? local_mr->lkey : other_local_mr->lkey
	};
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = { .remote_addr = (uintptr_t)at, .rkey = rkey },
	};
	struct pair p;
	int result;

	pd = in;
	p = make_pair(4);
	EXPECT(!ibv_post_send(p.near, &wr, &bad));
	result = status(p.near_cq);
	EXPECT(!result || result == IBV_WC_REM_ACCESS_ERR);
	unmake_pair(&p);
	return !result;
}

/*
 * All that may have changed has, all else has not. The first access is writing
 * for nobody but this host, the second for peers, too.
 */
static void change(int flags)
{
	struct ibv_pd *in = flags & PD ? other_pd : first_pd;
	unsigned char *at = flags & TRANSLATION ? new : old;
	struct ibv_mr *mr = ibv_reg_mr(first_pd, old, SIZE,
				       flags & ACCESS ? IBV_ACCESS_LOCAL_WRITE :
							RIGHTS);

	EXPECT(mr);
	EXPECT(is_writable(first_pd, old, mr->rkey) == !(flags & ACCESS));
	EXPECT(!ibv_rereg_mr(mr, flags, other_pd, new, SIZE / 2,
			     flags & ACCESS ? RIGHTS : 0));

	EXPECT(is_writable(in, at, mr->rkey));
	EXPECT(is_writable(in, at + SIZE / 2 - 8, mr->rkey));
	EXPECT(is_writable(in, at + SIZE / 2, mr->rkey) ==
	       !(flags & TRANSLATION));
	if (flags & TRANSLATION)
		EXPECT(!is_writable(in, old, mr->rkey));
	if (flags & PD)
		EXPECT(!is_writable(first_pd, at, mr->rkey));
	EXPECT(!ibv_dereg_mr(mr));
}

static void translation(void) { change(TRANSLATION); }
static void domain(void) { change(PD); }
static void access_rights(void) { change(ACCESS); }
static void translation_and_domain(void) { change(TRANSLATION | PD); }
static void translation_and_access(void) { change(TRANSLATION | ACCESS); }
static void domain_and_access(void) { change(PD | ACCESS); }
static void everything(void) { change(TRANSLATION | PD | ACCESS); }

/* Larger, smaller, elsewhere, at an odd place: again and again. */
static void many_times(void)
{
	unsigned char *p = pages(64 * PAGE, PROT_READ | PROT_WRITE);
	struct ibv_mr *mr = ibv_reg_mr(pd, old, SIZE, RIGHTS);
	uint32_t rkey;
	size_t len;
	int i;

	EXPECT(mr);
	rkey = mr->rkey;
	for (i = 0; i < 40; i++) {
		len = 16 + i * 1001;
		EXPECT(!ibv_rereg_mr(mr, TRANSLATION, NULL, p + i * 77, len,
				     0));
		EXPECT(mr->rkey == rkey);
		memset(local, i + 1, 8);
		EXPECT(is_writable(first_pd, p + i * 77 + len - 8, rkey));
		EXPECT(!memcmp(p + i * 77 + len - 8, local, 8));
	}
	EXPECT(!is_writable(first_pd, p + i * 77 + len, rkey));
	EXPECT(!ibv_dereg_mr(mr));
}

/* What is refused leaves the region as it was. */
static void refuses(void)
{
	struct ibv_mr *mr = ibv_reg_mr(pd, old, SIZE, RIGHTS);
	unsigned char *ro = pages(SIZE, PROT_READ);

	EXPECT(mr);
	EXPECT(ibv_rereg_mr(mr, TRANSLATION, NULL, NULL, SIZE, 0));
	EXPECT(ibv_rereg_mr(mr, TRANSLATION, NULL, new, 0, 0));
	EXPECT(ibv_rereg_mr(mr, TRANSLATION, NULL, (void *)16, 100, 0));
	EXPECT(ibv_rereg_mr(mr, TRANSLATION, NULL, ro, SIZE, 0));
	EXPECT(ibv_rereg_mr(mr, ACCESS, NULL, NULL, 0,
			    IBV_ACCESS_REMOTE_WRITE));
	EXPECT(ibv_rereg_mr(mr, ACCESS, NULL, NULL, 0,
			    IBV_ACCESS_ON_DEMAND));
	EXPECT(ibv_rereg_mr(mr, 8, NULL, NULL, 0, 0));
	EXPECT(ibv_rereg_mr(mr, 0, NULL, NULL, 0, 0));
	EXPECT(is_writable(first_pd, old, mr->rkey));
	EXPECT(is_writable(first_pd, old + SIZE - 8, mr->rkey));
	EXPECT(!ibv_dereg_mr(mr));
}

/* Pages that were pinned for reading may be shared: they stay so. */
static void reading_does_not_become_writing(void)
{
	unsigned char *ro = pages(SIZE, PROT_READ);
	struct ibv_mr *mr = ibv_reg_mr(pd, ro, SIZE, IBV_ACCESS_REMOTE_READ);

	EXPECT(mr);
	EXPECT(ibv_rereg_mr(mr, ACCESS, NULL, NULL, 0, RIGHTS));
	EXPECT(!is_writable(first_pd, ro, mr->rkey));
	EXPECT(!ibv_rereg_mr(mr, TRANSLATION | ACCESS, NULL, new, SIZE,
			     RIGHTS));
	EXPECT(is_writable(first_pd, new, mr->rkey));
	EXPECT(!ibv_rereg_mr(mr, ACCESS, NULL, NULL, 0, 0));
	EXPECT(!is_writable(first_pd, new, mr->rkey));
	EXPECT(!ibv_dereg_mr(mr));
}

/* Bytes that the kernel counts as pinned by this process. */
static long pinned_bytes(void)
{
	FILE *status = fopen("/proc/self/status", "r");
	char line[128];
	long kib = -1;

	EXPECT(status);
	while (fgets(line, sizeof(line), status))
		if (sscanf(line, "VmPin: %ld", &kib) == 1)
			break;
	fclose(status);
	EXPECT(kib >= 0);
	return kib * 1024;
}

/* Registrations that fail half way leave nothing pinned. */
static void what_is_pinned_is_counted(void)
{
	long before = pinned_bytes();
	struct ibv_mr *mr = ibv_reg_mr(pd, old, SIZE, IBV_ACCESS_LOCAL_WRITE);
	unsigned char *half = pages(2 * SIZE, PROT_READ | PROT_WRITE);

	EXPECT(mr && pinned_bytes() == before + SIZE);
	EXPECT(!munmap(half + SIZE, SIZE));
	EXPECT(!ibv_reg_mr(pd, half, 2 * SIZE, IBV_ACCESS_LOCAL_WRITE));
	EXPECT(ibv_rereg_mr(mr, TRANSLATION, NULL, half, 2 * SIZE, 0));
	EXPECT(!ibv_reg_mr(pd, new, SIZE, IBV_ACCESS_REMOTE_WRITE));
	EXPECT(pinned_bytes() == before + SIZE);
	EXPECT(!ibv_rereg_mr(mr, TRANSLATION, NULL, new, PAGE, 0));
	EXPECT(pinned_bytes() == before + PAGE);
	EXPECT(!ibv_dereg_mr(mr) && pinned_bytes() == before);
}

static const struct test_case cases[] = {
	CASE(translation),
	CASE(domain),
	CASE(access_rights),
	CASE(translation_and_domain),
	CASE(translation_and_access),
	CASE(domain_and_access),
	CASE(everything),
	CASE(many_times),
	CASE(refuses),
	CASE(reading_does_not_become_writing),
	CASE(what_is_pinned_is_counted),
	{ }
};

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	open_device(argv[1], argv[2]);
	first_pd = pd;
	other_pd = ibv_alloc_pd(ctx);
	EXPECT(other_pd);
	old = pages(SIZE, PROT_READ | PROT_WRITE);
	new = pages(SIZE, PROT_READ | PROT_WRITE);
	local_mr = ibv_reg_mr(first_pd, local, SIZE, RIGHTS);
	other_local_mr = ibv_reg_mr(other_pd, local, SIZE, RIGHTS);
	EXPECT(local_mr && other_local_mr);
	return run_case(cases, argv[3]);
}
