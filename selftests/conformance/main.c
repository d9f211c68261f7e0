// SPDX-License-Identifier: GPL-2.0
/*
 * Plays cases and prints TAP:
 *
 *	conform-engine CASE...
 *	conform-device DEVICE HOST PEER FAR_INTERFACE CASE...
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "play.h"

static unsigned int passed, failed, skipped;

static bool has_word(const char *words, const char *word)
{
	size_t len = strlen(word);
	const char *at = words;

	while ((at = strstr(at, word))) {
		if ((at == words || at[-1] == ' ') &&
		    (!at[len] || at[len] == ' '))
			return true;
		at += len;
	}
	return false;
}

static void result(const struct script *script, bool good, const char *why)
{
	char id[32], title[256];

	script_id(script, id, sizeof(id));
	script_header(script, "case", title, sizeof(title));
	printf("%sok %u %s: %s%s%s\n", good ? "" : "not ",
	       passed + failed + skipped, id, title,
	       good && why ? " # SKIP " : "", good && why ? why : "");
}

static void play_one(const char *file)
{
	static struct play play;
	char on[128], why[256], error[256];
	struct script script;

	if (!script_read(&script, file, error, sizeof(error))) {
		failed++;
		printf("# %s\n", error);
		result(&script, false, NULL);
	} else if (script_header(&script, "on", on, sizeof(on)) &&
		   !has_word(on, the_end.name)) {
		skipped++;
		if (!script_header(&script, "because", why, sizeof(why)))
			snprintf(why, sizeof(why), "only on: %s", on);
		result(&script, true, why);
	} else if (play_script(&play, &script, &the_end)) {
		passed++;
		result(&script, true, NULL);
	} else {
		failed++;
		printf("# %s: %s\n", file, play.why);
		result(&script, false, NULL);
	}
	script_free(&script);
}

int main(int argc, char **argv)
{
	int took, i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	took = the_end.open(argc - 1, argv + 1);
	if (took < 0)
		return 2;
	printf("TAP version 13\n");
	for (i = 1 + took; i < argc; i++)
		play_one(argv[i]);
	printf("1..%u\n", passed + failed + skipped);
	printf("# %u passed, %u failed, %u skipped\n", passed, failed,
	       skipped);
	return failed || !(passed + skipped);
}
