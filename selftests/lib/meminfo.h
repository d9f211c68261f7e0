/* SPDX-License-Identifier: GPL-2.0 */
/* How much memory the machine has left, or uses. Include it after pair.h. */
#ifndef FRDMA_TEST_MEMINFO_H
#define FRDMA_TEST_MEMINFO_H

/* What a line of /proc/meminfo tells. */
static inline double bytes_of(const char *name)
{
	FILE *f = fopen("/proc/meminfo", "r");
	size_t len = strlen(name);
	double kib = -1;
	char line[128];

	EXPECT(f);
	while (fgets(line, sizeof(line), f))
		if (!strncmp(line, name, len) && line[len] == ':' &&
		    sscanf(line + len, ": %lf", &kib) == 1)
			break;
	fclose(f);
	EXPECT(kib >= 0);
	return kib * 1024;
}

static inline double bytes_available(void)
{
	return bytes_of("MemAvailable");
}

#endif /* FRDMA_TEST_MEMINFO_H */
