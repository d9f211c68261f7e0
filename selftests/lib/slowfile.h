/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A file whose pages come late: the one file of a file system in user space,
 * served by a child of the process that maps it.
 */
#ifndef FRDMA_TEST_SLOWFILE_H
#define FRDMA_TEST_SLOWFILE_H

#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/fuse.h>

#include "pair.h"

#define SLOWFILE_NODE	2
#define SLOWFILE_SIZE	(1 << 20)

static int slowfile_fd;
static unsigned int slowfile_delay_s;

/* This many reads fail; later reads are answered late. */
static unsigned int slowfile_failures;

static void slowfile_answer(const struct fuse_in_header *in, int err,
			    const void *data, size_t len)
{
	static char buffer[1 << 18];
	struct fuse_out_header out = {
		.len = sizeof(out) + len, .error = -err, .unique = in->unique,
	};

	memcpy(buffer, &out, sizeof(out));
	memcpy(buffer + sizeof(out), data, len);
	EXPECT(write(slowfile_fd, buffer, out.len) == (ssize_t)out.len);
}

static struct fuse_attr slowfile_attr(uint64_t node)
{
	return (struct fuse_attr) {
		.ino = node, .nlink = 1,
		.size = node == SLOWFILE_NODE ? SLOWFILE_SIZE : 0,
		.mode = node == SLOWFILE_NODE ? S_IFREG | 0600 : S_IFDIR | 0700,
	};
}

static void slowfile_serve_one(const struct fuse_in_header *in,
			       const void *arg)
{
	static const char zeros[SLOWFILE_SIZE / 8];
	struct fuse_init_out init = { .major = FUSE_KERNEL_VERSION,
				      .minor = FUSE_KERNEL_MINOR_VERSION,
				      .max_write = 4096 };
	struct fuse_entry_out entry = { .nodeid = SLOWFILE_NODE,
					.attr = slowfile_attr(SLOWFILE_NODE) };
	struct fuse_attr_out attr = { .attr = slowfile_attr(in->nodeid) };
	struct fuse_open_out opened = {};

	switch (in->opcode) {
	case FUSE_INIT:
		slowfile_answer(in, 0, &init, sizeof(init));
		break;
	case FUSE_LOOKUP:
		slowfile_answer(in, 0, &entry, sizeof(entry));
		break;
	case FUSE_GETATTR:
		slowfile_answer(in, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
		slowfile_answer(in, 0, &opened, sizeof(opened));
		break;
	case FUSE_READ:
		if (slowfile_failures) {
			slowfile_failures--;
			slowfile_answer(in, EIO, NULL, 0);
			break;
		}
		sleep(slowfile_delay_s);
		slowfile_answer(in, 0, zeros,
				((const struct fuse_read_in *)arg)->size);
		break;
	case FUSE_FORGET:
		break;
	default:
		slowfile_answer(in, ENOSYS, NULL, 0);
	}
}

/* Until nobody has the file any more. */
static void slowfile_serve(void)
{
	static char request[1 << 16];
	const struct fuse_in_header *in = (void *)request;

	while (read(slowfile_fd, request, sizeof(request)) > 0)
		slowfile_serve_one(in, in + 1);
	_exit(0);
}

/* Ends the server with its process: a fault of frdma in the file then fails. */
static bool slowfile_ends;

/* Opens it. Each read of pages that are not there takes so many seconds. */
static inline int slowfile_open(unsigned int delay_s)
{
	char dir[] = "/tmp/slowfile.XXXXXX", path[64], options[64];
	pid_t pid;
	int fd;

	slowfile_delay_s = delay_s;
	slowfile_fd = open("/dev/fuse", O_RDWR);
	EXPECT(slowfile_fd >= 0 && mkdtemp(dir));
	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=40000,user_id=0,group_id=0", slowfile_fd);
	EXPECT(!mount("slowfile", dir, "fuse", 0, options));
	pid = fork();
	EXPECT(pid >= 0);
	if (!pid) {
		EXPECT(!slowfile_ends || !prctl(PR_SET_PDEATHSIG, SIGKILL));
		slowfile_serve();
	}
	close(slowfile_fd);
	snprintf(path, sizeof(path), "%s/file", dir);
	fd = open(path, O_RDONLY);
	EXPECT(fd >= 0);
	EXPECT(!umount2(dir, MNT_DETACH));
	return fd;
}

#endif /* FRDMA_TEST_SLOWFILE_H */
