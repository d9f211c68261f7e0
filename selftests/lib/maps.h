/* SPDX-License-Identifier: GPL-2.0 */
/* What this process has mapped of an RDMA device. Include it after pair.h. */
#ifndef FRDMA_TEST_MAPS_H
#define FRDMA_TEST_MAPS_H

#define MAX_MAPS	16

struct map {
	char *at;
	size_t len;
	unsigned long offset;
};

static struct map maps[MAX_MAPS];
static int nr_maps;

/* The rings, in the order in which they were made. */
static inline void find_maps(void)
{
	unsigned long from, to, offset;
	char line[512];
	FILE *f;
	int i;

	nr_maps = 0;
	f = fopen("/proc/self/maps", "r");
	EXPECT(f);
	while (fgets(line, sizeof(line), f)) {
		if (!strstr(line, "/uverbs") ||
		    sscanf(line, "%lx-%lx %*s %lx", &from, &to, &offset) != 3)
			continue;
		EXPECT(nr_maps < MAX_MAPS);
		for (i = nr_maps++; i && maps[i - 1].offset > offset; i--)
			maps[i] = maps[i - 1];
		maps[i] = (struct map) { (void *)from, to - from, offset };
	}
	fclose(f);
}

#endif /* FRDMA_TEST_MAPS_H */
