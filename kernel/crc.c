// SPDX-License-Identifier: GPL-2.0
/* CRC-32 on x86-64, by carry-less multiplication. */
#include <linux/bug.h>
#include <linux/init.h>
#include <linux/kasan-checks.h>
#include <linux/lockdep.h>
#include <linux/percpu.h>
#include <linux/string.h>
#include <asm/cpufeature.h>
#include <asm/fpu/api.h>

#include "compat/crc.h"
#include "copy.h"
#include "crc.h"
#include "compat/x86.h"

/* Fewer bytes are not worth a section of their own. */
#define SECTION_MIN	64

/* crc_x86.S; @dst is for those that copy. */
typedef u32 crc_fn(u32 crc, const void *src, size_t len, void *dst);

crc_fn frdma_crc_128, frdma_crc_copy_128;
crc_fn frdma_crc_256, frdma_crc_copy_256;
crc_fn frdma_crc_512, frdma_crc_copy_512;

/* copy_x86.S; for any width: each of them implies AVX. */
typedef void copy_fn(void *dst, const void *src, size_t len);

copy_fn frdma_copy_256;

/* Alignment that frdma_copy_256() wants of its destination. */
#define COPY_256_ALIGN	32

/* Shorter copies cost less word by word; more than COPY_256_ALIGN. */
#define COPY_256_MIN	128

/* Bits of the registers to be used; 0: none, frdma_crc32_plain() does all. */
static unsigned int crc_width __ro_after_init;

/*
 * The vector registers of this CPU are ours. Written and read with bottom
 * halves off, and by nothing that interrupts these.
 */
static DEFINE_PER_CPU(bool, crc_in_section);

static bool __init cpu_has_128(void)
{
	return boot_cpu_has(X86_FEATURE_PCLMULQDQ) &&
	       boot_cpu_has(X86_FEATURE_AVX) &&
	       cpu_has_xfeatures(XFEATURE_MASK_SSE | XFEATURE_MASK_YMM, NULL);
}

static bool __init cpu_has_256(void)
{
	return cpu_has_128() && boot_cpu_has(X86_FEATURE_VPCLMULQDQ) &&
	       boot_cpu_has(X86_FEATURE_AVX2);
}

static bool __init cpu_has_512(void)
{
	return cpu_has_256() && boot_cpu_has(X86_FEATURE_AVX512F) &&
	       !boot_cpu_has(X86_FEATURE_PREFER_YMM) &&
	       cpu_has_xfeatures(XFEATURE_MASK_AVX512, NULL);
}

/**
 * frdma_crc_init - find the fastest CRC-32
 *
 * Context: module load.
 */
void __init frdma_crc_init(void)
{
	crc_width = cpu_has_512() ? 512 :
		    cpu_has_256() ? 256 :
		    cpu_has_128() ? 128 : 0;
	if (!crc_width)
		frdma_crc_plain_init();
}

/**
 * frdma_crc_exit - let go of what frdma_crc_init() found
 *
 * Context: module load that fails, module removal; nobody sums any more.
 */
void frdma_crc_exit(void)
{
	if (!crc_width)
		frdma_crc_plain_exit();
}

static u32 sum_by_width(u32 crc, const void *p, size_t len)
{
	kasan_check_read(p, len);
	switch (crc_width) {
	case 512:
		return frdma_crc_512(crc, p, len, NULL);
	case 256:
		return frdma_crc_256(crc, p, len, NULL);
	default:
		return frdma_crc_128(crc, p, len, NULL);
	}
}

static u32 copy_by_width(u32 crc, void *dst, const void *src, size_t len)
{
	kasan_check_read(src, len);
	kasan_check_write(dst, len);
	switch (crc_width) {
	case 512:
		return frdma_crc_copy_512(crc, src, len, dst);
	case 256:
		return frdma_crc_copy_256(crc, src, len, dst);
	default:
		return frdma_crc_copy_128(crc, src, len, dst);
	}
}

/* False: somebody else has the registers, or they are of no use. */
static bool section_begin(void)
{
	lockdep_assert_in_softirq();
	if (!crc_width || !irq_fpu_usable())
		return false;
	kernel_fpu_begin();
	this_cpu_write(crc_in_section, true);
	return true;
}

static void section_end(void)
{
	this_cpu_write(crc_in_section, false);
	kernel_fpu_end();
}

/**
 * frdma_crc_begin - some CRCs follow each other, or some copies
 *
 * Makes frdma_crc32(), frdma_crc32_copy() and frdma_copy() cheaper until
 * frdma_crc_end(); a CPU that cannot make them so does as before. Sections do
 * not nest.
 *
 * Context: bottom halves off. From here on no preemption: nothing that sleeps,
 * takes a lock, allocates or calls into the stack; a train of packets at most.
 */
void frdma_crc_begin(void)
{
	WARN_ON_ONCE(this_cpu_read(crc_in_section));
	section_begin();
}

/**
 * frdma_crc_end - the last of some CRCs or copies is done
 *
 * Context: as frdma_crc_begin(), and the same CPU.
 */
void frdma_crc_end(void)
{
	if (this_cpu_read(crc_in_section))
		section_end();
}

/**
 * frdma_crc32 - CRC-32 as in Ethernet, least significant bit first
 * @crc: what came before; ~0 at the start. Nothing is inverted
 * @p: bytes
 * @len: number of bytes
 *
 * Context: bottom halves off; cheapest in a section.
 * Return: the new CRC.
 */
u32 frdma_crc32(u32 crc, const void *p, size_t len)
{
	if (this_cpu_read(crc_in_section))
		return sum_by_width(crc, p, len);
	if (len < SECTION_MIN || !section_begin())
		return frdma_crc32_plain(crc, p, len);

	crc = sum_by_width(crc, p, len);
	section_end();
	return crc;
}

/**
 * frdma_crc32_copy - copy bytes, and go on with the CRC-32 of the copy
 * @crc: what came before
 * @dst: receives the bytes; nobody else writes there
 * @src: bytes, which may change meanwhile; they do not overlap @dst
 * @len: number of bytes
 *
 * Context: as frdma_crc32().
 * Return: the new CRC, of the bytes that are in @dst now.
 */
u32 frdma_crc32_copy(u32 crc, void *dst, const void *src, size_t len)
{
	if (this_cpu_read(crc_in_section))
		return copy_by_width(crc, dst, src, len);
	if (len < SECTION_MIN || !section_begin()) {
		memcpy(dst, src, len);
		return frdma_crc32_plain(crc, dst, len);
	}

	crc = copy_by_width(crc, dst, src, len);
	section_end();
	return crc;
}

/* In a section. */
static void copy_by_vector(void *dst, const void *src, size_t len)
{
	size_t head = -(unsigned long)dst % COPY_256_ALIGN;

	if (unlikely(head)) {
		frdma_copy_words(dst, src, head);
		dst += head;
		src += head;
		len -= head;
	}
	kasan_check_read(src, len);
	kasan_check_write(dst, len);
	frdma_copy_256(dst, src, len);
}

/**
 * frdma_copy - copy bytes into registered memory, by the rules of copy.h
 * @dst: receives the bytes
 * @src: bytes, which may change meanwhile. If they overlap @dst, the contents
 *	of @dst are undefined
 * @len: number of bytes
 *
 * Context: bottom halves off. Only a section makes long copies cheaper.
 */
void frdma_copy(void *dst, const void *src, size_t len)
{
	if (len >= COPY_256_MIN && this_cpu_read(crc_in_section))
		copy_by_vector(dst, src, len);
	else
		frdma_copy_words(dst, src, len);
}
