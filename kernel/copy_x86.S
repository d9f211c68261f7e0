/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A copy by vector registers, by the rules of copy.h:
 *
 *	void frdma_copy_256(void *dst, const void *src, size_t len)
 *
 * It needs AVX, @dst aligned to 32 bytes, and at least one byte. @src has any
 * alignment. No byte outside of the range is touched. Each byte is loaded once.
 *
 * Stores have 32 bytes at most and are naturally aligned. The last one has
 * eight bytes at most. x86 keeps the order of stores: there is no barrier.
 *
 * Context: kernel_fpu_begin().
 */
#include <linux/linkage.h>

	.text

/* If @bits has @size: moves as many bytes; rsi and rdi to behind them. */
	.macro	part size, bits, load, to, store, from
	test	$\size, \bits
	jz	.Lnone_\@
	\load	(%rsi), \to
	add	$\size, %rsi
	\store	\from, (%rdi)
	add	$\size, %rdi
.Lnone_\@:
	.endm

SYM_FUNC_START(frdma_copy_256)
	/*
	 * Blocks of 128 bytes, as long as a byte is left: rsi and rdi to their
	 * end, rcx up to 0, rdx to the 1 to 128 bytes behind them.
	 */
	lea	-1(%rdx), %rcx
	and	$-128, %rcx
	jz	.Lrest
	add	%rcx, %rsi
	add	%rcx, %rdi
	sub	%rcx, %rdx
	neg	%rcx
.Lblock:
	.irp	i, 0, 1, 2, 3
	vmovdqu	\i*32(%rsi,%rcx), %ymm\i
	.endr
	.irp	i, 0, 1, 2, 3
	vmovdqu	%ymm\i, \i*32(%rdi,%rcx)
	.endr
	sub	$-128, %rcx
	jnz	.Lblock

.Lrest:
	cmp	$128, %edx
	jne	.Lless
	/* Most packets end so: another block, whose last word is stored last. */
	.irp	i, 0, 1, 2
	vmovdqu	\i*32(%rsi), %ymm\i
	.endr
	vmovdqu	96(%rsi), %xmm3
	.irp	i, 0, 1, 2
	vmovdqu	%ymm\i, \i*32(%rdi)
	.endr
	vmovdqu	%xmm3, 96(%rdi)
	.irp	i, 112, 120
	mov	\i(%rsi), %rax
	mov	%rax, \i(%rdi)
	.endr
	vzeroupper
	RET

.Lless:
	/* ecx: bytes in front of the last word; edx: 1 to 8 bytes of that. */
	lea	-1(%rdx), %ecx
	and	$120, %ecx
	sub	%ecx, %edx
	test	$64, %cl
	jz	.Lup_to_63
	vmovdqu	(%rsi), %ymm0
	vmovdqu	32(%rsi), %ymm1
	add	$64, %rsi
	vmovdqu	%ymm0, (%rdi)
	vmovdqu	%ymm1, 32(%rdi)
	add	$64, %rdi
.Lup_to_63:
	part	32, %cl, vmovdqu, %ymm0, vmovdqu, %ymm0
	part	16, %cl, vmovdqu, %xmm0, vmovdqu, %xmm0
	part	8, %cl, mov, %rax, mov, %rax
	part	8, %dl, mov, %rax, mov, %rax
	part	4, %dl, mov, %eax, mov, %eax
	part	2, %dl, movzwl, %eax, mov, %ax
	part	1, %dl, movzbl, %eax, mov, %al
	vzeroupper
	RET
SYM_FUNC_END(frdma_copy_256)
