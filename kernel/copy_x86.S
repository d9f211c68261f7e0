/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A copy by vector registers:
 *
 *	void frdma_copy_256(void *dst, const void *src, size_t len)
 *
 * It needs AVX. Any length, any alignment; no byte outside of the range is
 * touched. Each byte is loaded once and stored once, from the first to the
 * last: a process that waits for a byte of @dst, and then writes there, does
 * not find that undone, as it would if two stores overlapped.
 *
 * Context: kernel_fpu_begin().
 */
#include <linux/linkage.h>

	.text

/* If there are so many bytes, what moves them; rsi and rdi to behind them. */
	.macro	part size, load, to, store, from
	test	$\size, %dl
	jz	.Lnone_\@
	\load	(%rsi), \to
	add	$\size, %rsi
	\store	\from, (%rdi)
	add	$\size, %rdi
.Lnone_\@:
	.endm

SYM_FUNC_START(frdma_copy_256)
	/* Blocks of 128 bytes: rsi and rdi to their end, rcx up to 0. */
	mov	%rdx, %rcx
	and	$-128, %rcx
	jz	.Lrest
	add	%rcx, %rsi
	add	%rcx, %rdi
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
	and	$127, %edx
	jz	.Ldone
	test	$64, %dl
	jz	.Lup_to_63
	vmovdqu	(%rsi), %ymm0
	vmovdqu	32(%rsi), %ymm1
	add	$64, %rsi
	vmovdqu	%ymm0, (%rdi)
	vmovdqu	%ymm1, 32(%rdi)
	add	$64, %rdi
.Lup_to_63:
	part	32, vmovdqu, %ymm0, vmovdqu, %ymm0
	part	16, vmovdqu, %xmm0, vmovdqu, %xmm0
	part	8, mov, %rax, mov, %rax
	part	4, mov, %eax, mov, %eax
	part	2, movzwl, %eax, mov, %ax
	part	1, movzbl, %eax, mov, %al
.Ldone:
	vzeroupper
	RET
SYM_FUNC_END(frdma_copy_256)
