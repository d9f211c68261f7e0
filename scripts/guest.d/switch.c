// SPDX-License-Identifier: GPL-2.0
/*
 * The network of the guests: every frame a guest sends goes to all the others,
 * whose NICs keep what is theirs; a guest that is alone talks to nobody.
 *
 *   switch N
 *
 * Guest I's NIC is bound to the datagram socket "nicI" in the current
 * directory and sends to "portI". Two guests do without: each one's NIC sends
 * straight to the other's.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define MAX_PORTS	64
#define MAX_FRAME	(1 << 17)

/* How long a full receiver may hold up the others before it loses a frame. */
#define PATIENCE_MS	100

static struct sockaddr_un address(const char *what, int n)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	snprintf(a.sun_path, sizeof(a.sun_path), "%s%d", what, n);
	return a;
}

static int open_port(int n)
{
	struct sockaddr_un a = address("port", n);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);

	unlink(a.sun_path);
	if (fd < 0 || bind(fd, (void *)&a, sizeof(a))) {
		perror(a.sun_path);
		exit(1);
	}
	return fd;
}

/* A guest that is not there yet, or is gone, simply does not receive. */
static void send_to(int fd, int n, const void *frame, size_t len)
{
	struct sockaddr_un a = address("nic", n);
	struct pollfd p = { .fd = fd, .events = POLLOUT };

	for (int tries = 0; tries < PATIENCE_MS; tries++) {
		if (sendto(fd, frame, len, 0, (void *)&a, sizeof(a)) >= 0 ||
		    errno != EAGAIN)
			return;
		poll(&p, 0, 1);
	}
}

int main(int argc, char **argv)
{
	static char frame[MAX_FRAME];
	struct pollfd ports[MAX_PORTS];
	int n = argc > 1 ? atoi(argv[1]) : 0;

	if (n < 1 || n > MAX_PORTS)
		return 1;
	for (int i = 0; i < n; i++)
		ports[i] = (struct pollfd) {
			.fd = open_port(i + 1), .events = POLLIN,
		};
	while (poll(ports, n, -1) >= 0) {
		for (int i = 0; i < n; i++) {
			ssize_t len;

			if (!ports[i].revents)
				continue;
			len = recv(ports[i].fd, frame, sizeof(frame), 0);
			for (int to = 0; to < n && len > 0; to++)
				if (to != i)
					send_to(ports[i].fd, to + 1, frame,
						len);
		}
	}
	return 1;
}
