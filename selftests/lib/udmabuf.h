/* SPDX-License-Identifier: GPL-2.0 */
/* A dma-buf of pages of a memfd. Include it after pair.h. */
#ifndef FRDMA_TEST_UDMABUF_H
#define FRDMA_TEST_UDMABUF_H

#include <fcntl.h>
#include <linux/udmabuf.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

/** make_udmabuf - of @size bytes, in whole pages; returns its descriptor */
static inline int make_udmabuf(size_t size)
{
	int dev = open("/dev/udmabuf", O_RDWR);
	int mem = memfd_create("udmabuf", MFD_ALLOW_SEALING);
	struct udmabuf_create create = { .memfd = mem, .size = size };
	int fd;

	EXPECT(dev >= 0 && mem >= 0);
	EXPECT(!ftruncate(mem, size));
	EXPECT(!fcntl(mem, F_ADD_SEALS, F_SEAL_SHRINK));
	fd = ioctl(dev, UDMABUF_CREATE, &create);
	EXPECT(fd >= 0);
	close(mem);
	close(dev);
	return fd;
}

#endif /* FRDMA_TEST_UDMABUF_H */
