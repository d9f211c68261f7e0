/* SPDX-License-Identifier: GPL-2.0 */
/* How much memory the machine has left. Include it after pair.h. */
#ifndef FRDMA_TEST_MEMINFO_H
#define FRDMA_TEST_MEMINFO_H

static inline double bytes_available(void)
{
	FILE *f = fopen("/proc/meminfo", "r");
	double kib = -1;
	char line[128];

	EXPECT(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "MemAvailable: %lf", &kib) == 1)
			break;
	fclose(f);
	EXPECT(kib >= 0);
	return kib * 1024;
}

#endif /* FRDMA_TEST_MEMINFO_H */
