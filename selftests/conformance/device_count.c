// SPDX-License-Identifier: GPL-2.0
/* Hardware counters, which sysfs shows. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "device.h"

#define NR_COUNTERS	128

static char directory[256];
static size_t nr;
static struct {
	char name[64];
	uint64_t value;
} counters[NR_COUNTERS];

/* When one was read, and how long the core then says the same again. */
static double read_at;
static uint64_t lifespan_ms;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

/* What is read next is no older than this. It counts in ticks of the kernel. */
static void let_it_be_new(void)
{
	double wait = read_at + (lifespan_ms + 10) * 1e-3 - now();

	if (wait > 0)
		usleep(wait * 1e6);
}

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
	read_at = now();
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
	if (!read_counter("lifespan", &lifespan_ms))
		lifespan_ms = 0;
	let_it_be_new();
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
		let_it_be_new();
		if (!read_counter(counter, value))
			return false;
		*value -= counters[i].value;
		return true;
	}
	return false;
}
