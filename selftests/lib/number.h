/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Numbers that a test program is called with. atoi() makes 0 of whatever is no
 * number: the message of a failed command would be the GID index 0.
 */
#ifndef FRDMA_TEST_NUMBER_H
#define FRDMA_TEST_NUMBER_H

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* The number that @text is, as a whole; anything else ends the process. */
static inline unsigned long long arg_number(const char *text)
{
	unsigned long long number;
	char *end;

	errno = 0;
	number = strtoull(text, &end, 0);
	if (!isdigit((unsigned char)*text) || *end || errno) {
		printf("'%s' is no number\n", text);
		exit(2);
	}
	return number;
}

#endif /* FRDMA_TEST_NUMBER_H */
