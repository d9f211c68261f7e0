// SPDX-License-Identifier: GPL-2.0
/*
 * Runs the targets on their corpora, or one of them on the files that are
 * named, without libFuzzer. Prints TAP.
 *
 * usage: replay [<part of target names>]
 *        replay <target> <file>...
 */
#include <dirent.h>
#include <limits.h>
#include <signal.h>
#include <unistd.h>

#include "fuzz.h"

static struct fuzz_target *first_target;

/* The input at work, for when it ends the program. */
static char current[PATH_MAX];

void __sanitizer_set_death_callback(void (*callback)(void));

void fuzz_add(struct fuzz_target *target)
{
	target->next = first_target;
	first_target = target;
}

static void say_input(void)
{
	fprintf(stderr, "# input: %s\n", current);
}

static void on_abort(int signal)
{
	say_input();
	_exit(1);
}

static bool run_file(const struct fuzz_target *target, const char *path)
{
	FILE *file = fopen(path, "rb");
	u8 *bytes;
	long size;

	if (!file)
		return false;
	snprintf(current, sizeof(current), "%s", path);
	fseek(file, 0, SEEK_END);
	size = ftell(file);
	rewind(file);

	/* Of exactly that size, so that reading on is seen. */
	bytes = malloc(size);
	size = fread(bytes, 1, size, file);
	target->run(bytes, size);
	free(bytes);
	fclose(file);
	return true;
}

static u32 run_corpus(const struct fuzz_target *target)
{
	char folder[PATH_MAX / 2], path[PATH_MAX];
	struct dirent *entry;
	u32 inputs = 0;
	DIR *dir;

	snprintf(folder, sizeof(folder), FUZZ_CORPUS "/%s", target->name);
	dir = opendir(folder);
	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		inputs += run_file(target, path);
	}
	if (dir)
		closedir(dir);
	return inputs;
}

int main(int argc, char **argv)
{
	const char *wanted = argc > 1 ? argv[1] : "";
	u32 passed = 0, failed = 0;
	struct fuzz_target *target;
	int i;

	__sanitizer_set_death_callback(say_input);
	signal(SIGABRT, on_abort);
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("TAP version 13\n");
	for (target = first_target; target; target = target->next) {
		u64 packets = fuzz_packets;
		u32 inputs = 0;

		if (!strstr(target->name, wanted))
			continue;
		for (i = 2; i < argc; i++)
			inputs += run_file(target, argv[i]);
		if (argc <= 2)
			inputs = run_corpus(target);
		passed += !!inputs;
		failed += !inputs;
		printf("# %u inputs, %llu packets\n", inputs,
		       fuzz_packets - packets);
		printf("%sok %u - fuzz__%s\n", inputs ? "" : "not ",
		       passed + failed, target->name);
	}
	printf("1..%u\n", passed + failed);
	printf("# %u passed, %u failed, 0 skipped\n", passed, failed);
	return failed ? 1 : 0;
}
