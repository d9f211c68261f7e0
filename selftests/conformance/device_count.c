// SPDX-License-Identifier: GPL-2.0
/* Hardware counters, which sysfs shows. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "device.h"

#define NR_COUNTERS	128

static char directory[256];
static size_t nr;
static struct {
	char name[64];
	uint64_t value;
} counters[NR_COUNTERS];

static bool read_counter(const char *name, uint64_t *value)
{
	unsigned long long read;
	char path[512];
	bool good;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	f = fopen(path, "re");
	if (!f)
		return false;
	good = fscanf(f, "%llu", &read) == 1;
	fclose(f);
	*value = read;
	return good;
}

/** count_begin - from now on, of this device */
void count_begin(const char *device)
{
	struct dirent *entry;
	DIR *dir;

	snprintf(directory, sizeof(directory),
		 "/sys/class/infiniband/%s/ports/1/hw_counters", device);
	nr = 0;
	dir = opendir(directory);
	while (dir && (entry = readdir(dir)) && nr < NR_COUNTERS) {
		if (entry->d_name[0] != '.' &&
		    read_counter(entry->d_name, &counters[nr].value))
			snprintf(counters[nr++].name, sizeof(counters[0].name),
				 "%.63s", entry->d_name);
	}
	if (dir)
		closedir(dir);
}

/** count_since - what a counter has counted since then; false: there is none */
bool count_since(const char *counter, uint64_t *value)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		if (strcmp(counters[i].name, counter))
			continue;
		if (!read_counter(counter, value))
			return false;
		*value -= counters[i].value;
		return true;
	}
	return false;
}
