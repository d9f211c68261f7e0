// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <string.h>
#include "tap.h"

/* Of one test, so that a loop gone wrong stays readable. */
#define SHOWN_FAILURES	10

static struct tap_test *first_test, **last_link = &first_test;
static const char *skip_reason;
static unsigned int failures;

void tap_add(struct tap_test *test)
{
	*last_link = test;
	last_link = &test->next;
}

void tap_fail(const char *file, int line, const char *fmt, ...)
{
	va_list args;

	if (failures++ >= SHOWN_FAILURES)
		return;
	printf("# %s:%d: ", file, line);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	printf("\n");
}

/* Has the test that runs failed already? */
bool tap_failed(void)
{
	return failures;
}

void tap_skip(const char *why)
{
	skip_reason = why;
}

/* An argument selects the tests whose name contains it. */
int main(int argc, char **argv)
{
	const char *wanted = argc > 1 ? argv[1] : "";
	unsigned int n = 0, passed = 0, failed = 0, skipped = 0;
	struct tap_test *test;

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("TAP version 13\n");
	for (test = first_test; test; test = test->next)
		n += !!strstr(test->name, wanted);
	printf("1..%u\n", n);

	n = 0;
	for (test = first_test; test; test = test->next) {
		if (!strstr(test->name, wanted))
			continue;
		failures = 0;
		skip_reason = NULL;
		test->run();
		passed += !failures && !skip_reason;
		failed += !!failures;
		skipped += !failures && skip_reason;
		printf("%sok %u - %s%s%s\n", failures ? "not " : "", ++n,
		       test->name, skip_reason ? " # SKIP " : "",
		       skip_reason ? skip_reason : "");
	}

	printf("# %u passed, %u failed, %u skipped\n", passed, failed, skipped);
	return failed ? 1 : 0;
}
