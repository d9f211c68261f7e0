// SPDX-License-Identifier: GPL-2.0
/*
 * klog NUMBER: prints what the kernel has logged after that record, as dmesg
 * does, and last the number of the newest record there is (-1: only that). One
 * process, where dmesg and those who find the place would be several: emulated
 * guests are slow to start them.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The text of a record: "\xHH" are bytes that would be confused with others. */
static void print_text(const char *text)
{
	unsigned int byte;
	int len;

	for (; *text && *text != '\n'; text++) {
		if (*text == '\\' &&
		    sscanf(text, "\\x%2x%n", &byte, &len) == 1 && len == 4) {
			putchar(byte);
			text += len - 1;
		} else {
			putchar(*text);
		}
	}
	putchar('\n');
}

/* "priority,number,microseconds,flags;text\n", then what is not printed. */
int main(int argc, char **argv)
{
	unsigned long long after, number, newest = 0, us;
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK);
	char record[8192], *text;
	ssize_t len;

	if (argc != 2)
		return 2;
	after = strtoull(argv[1], NULL, 0);
	if (fd < 0) {
		perror("/dev/kmsg");
		return 1;
	}
	while ((len = read(fd, record, sizeof(record) - 1)) > 0 ||
	       (len < 0 && errno == EPIPE)) {
		if (len < 0)
			continue;	/* overwritten before it was read */
		record[len] = 0;
		text = strchr(record, ';');
		if (!text || sscanf(record, "%*u,%llu,%llu", &number,
				    &us) != 2)
			continue;
		newest = number;
		if (number <= after)
			continue;
		printf("[%5llu.%06llu] ", us / 1000000, us % 1000000);
		print_text(text + 1);
	}
	if (len < 0 && errno != EAGAIN) {
		perror("/dev/kmsg");
		return 1;
	}
	printf("%llu\n", newest);
	return 0;
}
