/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CRC-32 by carry-less multiplication, of bytes that stay where they are or
 * are copied on the way:
 *
 *	u32 frdma_crc_<width>(u32 crc, const void *src, size_t len, void *dst)
 *	u32 frdma_crc_copy_<width>(...)
 *
 * 128 needs PCLMULQDQ and AVX, 256 VPCLMULQDQ and AVX2, 512 VPCLMULQDQ and
 * AVX-512F. Any length, any alignment; no byte outside of the range is
 * touched. Each byte is loaded once, so that what is stored is what was summed,
 * whoever writes to the source meanwhile.
 *
 * Context: kernel_fpu_begin().
 *
 * How it works. Bytes are a polynomial over GF(2), whose highest power is the
 * lowest bit of the first byte; P is that of Ethernet, of degree 32. A lane is
 * 16 bytes. A lane may be added to a later one if it is multiplied by x^n mod P
 * before, n being the bits between both: its first 8 bytes by x^(n + 64), its
 * last ones by x^n, and one less of 32 in each since a product of 64 and 33
 * bits ends 32 bits short of 128.
 *
 * So four registers full of lanes are carried from block to block to the last
 * one. There each lane is multiplied by what its distance from the end and the
 * 32 zeros of a CRC ask for. The sum has 96 bits. Its quotient by P is the
 * product of the first 64 with 1/P, as a power series; what is left of the sum
 * without P times that is the CRC.
 */
#include <linux/linkage.h>

	.section .rodata
	.p2align 4

/* Over a block of four registers: x^(n + 32) and x^(n - 32) mod P, n its bits. */
.Lover_128:
	.quad	0x154442bd4, 0x1c6e41596
.Lover_256:
	.quad	0x1e88ef372, 0x14a7fe880
.Lover_512:
	.quad	0x11542778a, 0x1322d1430

/* x^(n + 96) and x^(n + 32) mod P for lanes with n bits behind them. */
	.quad	0x1322d1430, 0x1db06f64c
	.quad	0x1c47d2a9c, 0x19159bb02
	.quad	0x125f17dfc, 0x1b35adb0e
	.quad	0x1e7146aac, 0x1821d8bc0
	.quad	0x12e958ac4, 0x1816ab61c
	.quad	0x10aae2566, 0x0e3543be0
	.quad	0x14b57d3f0, 0x1fdc60a7c
	.quad	0x03f41287a, 0x1e88ef372
	.quad	0x14a7fe880, 0x1ea89367e
	.quad	0x1d7cfc6ac, 0x0df068dc2
	.quad	0x18cb44e58, 0x1c7569e54
	.quad	0x0ae0b5394, 0x154442bd4
	.quad	0x1c6e41596, 0x03db1ecdc
	.quad	0x174359406, 0x0f1da05aa
	.quad	0x15a546366, 0x1751997d0
	.quad	0x0ccaa009e, 0x1db710640
.Lend:

/* 1/P up to x^-63, and P. */
.Ldivide:
	.quad	0xb4e5b025f7011641, 0x1db710641

	.text

/*
 * eax is the CRC, rsi the source, rcx the destination, rdx the bytes left; in
 * blocks both are where the blocks end, and r8 counts from there up to 0.
 */

/*
 * The registers of a width, as v is xmm, ymm or zmm: 0 to 3 are the lanes, 4
 * has the powers, 5 and 6 are used in between. AVX-512 has other names for
 * some instructions.
 */
	.macro	load v, from, r
	.ifc \v, zmm
	vmovdqu64 \from, %zmm\r
	.else
	vmovdqu	\from, %\v\r
	.endif
	.endm

	.macro	store v, r, to
	.ifc \v, zmm
	vmovdqu64 %zmm\r, \to
	.else
	vmovdqu	%\v\r, \to
	.endif
	.endm

	.macro	add_to v, a, r
	.ifc \v, zmm
	vpxorq	\a, %zmm\r, %zmm\r
	.else
	vpxor	\a, %\v\r, %\v\r
	.endif
	.endm

	.macro	broadcast v, from, r
	.ifc \v, zmm
	vbroadcasti32x4 \from, %zmm\r
	.else
	.ifc \v, ymm
	vbroadcasti128 \from, %ymm\r
	.else
	vmovdqa	\from, %xmm\r
	.endif
	.endif
	.endm

/* Loads bytes, and stores them if this is a copy. */
	.macro	take v, size, i, r, copy
	load	\v, "\i*\size(%rsi,%r8)", \r
	.if \copy
	store	\v, \r, "\i*\size(%rcx,%r8)"
	.endif
	.endm

/*
 * What is there in blocks of a size: %rsi and %rcx to their end, %r8 to the first
 * one, and the CRC to where it is added to the first bytes.
 */
	.macro	enter size, copy, none
	mov	%rdx, %r8
	and	$-\size, %r8
	jz	\none
	add	%r8, %rsi
	.if \copy
	add	%r8, %rcx
	.endif
	neg	%r8
	vmovd	%eax, %xmm5
	.endm

/* The first block. ZF: it was the only one. */
	.macro	first v, size, copy
	.irp	i, 0, 1, 2, 3
	take	\v, \size, \i, \i, \copy
	.endr
	add_to	\v, %\v\()5, 0
	add	$4*\size, %r8
	.endm

/* All other blocks. */
	.macro	fold v, size, copy
.Lblock_\@:
	.irp	i, 0, 1, 2, 3
	vpclmulqdq $0x00, %\v\()4, %\v\i, %\v\()5
	vpclmulqdq $0x11, %\v\()4, %\v\i, %\v\i
	.if \copy
	take	\v, \size, \i, 6, 1
	add_to	\v, %\v\()6, 5
	.else
	add_to	\v, "\i*\size(%rsi,%r8)", 5
	.endif
	add_to	\v, %\v\()5, \i
	.endr
	add	$4*\size, %r8
	jnz	.Lblock_\@
	.endm

/* CRC = 96 bits of xmm0 mod P */
	.macro	divide
	vpclmulqdq $0x00, .Ldivide(%rip), %xmm0, %xmm5
	vpclmulqdq $0x10, .Ldivide(%rip), %xmm5, %xmm5
	vpxor	%xmm5, %xmm0, %xmm0
	vpextrd	$2, %xmm0, %eax
	.endm

/* From the last block to the CRC. */
	.macro	reduce v, size
	.irp	i, 0, 1, 2, 3
	load	\v, ".Lend-(4-\i)*\size(%rip)", 6
	vpclmulqdq $0x00, %\v\()6, %\v\i, %\v\()5
	vpclmulqdq $0x11, %\v\()6, %\v\i, %\v\i
	add_to	\v, %\v\()5, \i
	.endr
	add_to	\v, %\v\()1, 0
	add_to	\v, %\v\()3, 2
	add_to	\v, %\v\()2, 0
	.ifc \v, zmm
	vextracti64x4 $1, %zmm0, %ymm1
	vpxor	%ymm1, %ymm0, %ymm0
	.endif
	.ifnc \v, xmm
	vextracti128 $1, %ymm0, %xmm1
	vpxor	%xmm1, %xmm0, %xmm0
	vzeroupper
	.endif
	divide
	.endm

/* %rdx bytes, 1 to 15 of them. */
	.macro	last_bytes copy
	test	$8, %dl
	jz	.Lup_to_7_\@
	mov	(%rsi), %r8
	.if \copy
	mov	%r8, (%rcx)
	add	$8, %rcx
	.endif
	add	$8, %rsi
	xor	%rax, %r8
	vmovq	%r8, %xmm0
	divide
	and	$7, %edx
	jz	.Lend_\@

	/* Together in r8, from the last to the first. */
.Lup_to_7_\@:
	xor	%r8d, %r8d
	test	$1, %dl
	jz	.Lpairs_\@
	movzbl	-1(%rsi,%rdx), %r8d
	.if \copy
	mov	%r8b, -1(%rcx,%rdx)
	.endif
.Lpairs_\@:
	test	$2, %dl
	jz	.Lfour_\@
	mov	%edx, %r10d
	and	$4, %r10d
	movzwl	(%rsi,%r10), %r9d
	.if \copy
	mov	%r9w, (%rcx,%r10)
	.endif
	shl	$16, %r8d
	or	%r9d, %r8d
.Lfour_\@:
	test	$4, %dl
	jz	.Lword_\@
	mov	(%rsi), %r9d
	.if \copy
	mov	%r9d, (%rcx)
	.endif
	shl	$32, %r8
	or	%r9, %r8

	/*
	 * Zeros in front of them change nothing. What the CRC has beyond them
	 * is added to the new one.
	 */
.Lword_\@:
	lea	(,%rdx,8), %ecx
	xor	%rax, %r8
	shr	%cl, %rax
	mov	%eax, %edx
	neg	%ecx
	shl	%cl, %r8
	vmovq	%r8, %xmm0
	divide
	xor	%edx, %eax
.Lend_\@:
	RET
	.endm

/* Lanes of one by one, up to three, in front of the first whole block. */
	.macro	odd_lanes copy
	vpxor	%xmm1, %xmm1, %xmm1
	vpxor	%xmm2, %xmm2, %xmm2
	vpxor	%xmm3, %xmm3, %xmm3
.Llane_\@:
	vmovdqa	%xmm1, %xmm0
	vmovdqa	%xmm2, %xmm1
	vmovdqa	%xmm3, %xmm2
	take	xmm, 16, 0, 3, \copy
	vpxor	%xmm5, %xmm3, %xmm3
	vpxor	%xmm5, %xmm5, %xmm5
	add	$16, %r8
	test	$0x30, %r8b
	jnz	.Llane_\@
	test	%r8, %r8
	.endm

	.macro	crc width, v, size, copy
	mov	%edi, %eax

	/* The blocks that only a wide register can fill. */
	.ifnc \v, xmm
	enter	4*\size, \copy, .Lnarrow_\@
	broadcast \v, .Lover_\width(%rip), 4
	first	\v, \size, \copy
	jz	.Lwide_reduce_\@
	fold	\v, \size, \copy
.Lwide_reduce_\@:
	reduce	\v, \size
	and	$4*\size-1, %edx
	jz	.Ldone_\@
.Lnarrow_\@:
	.endif

	enter	16, \copy, .Lrest_\@
	broadcast xmm, .Lover_128(%rip), 4
	test	$0x30, %r8b
	jnz	.Lodd_\@
	first	xmm, 16, \copy
	jz	.Lreduce_\@
.Lfold_\@:
	fold	xmm, 16, \copy
.Lreduce_\@:
	reduce	xmm, 16
.Lrest_\@:
	and	$15, %edx
	jnz	.Lbytes_\@
.Ldone_\@:
	RET

.Lodd_\@:
	odd_lanes \copy
	jnz	.Lfold_\@
	jmp	.Lreduce_\@

.Lbytes_\@:
	last_bytes \copy
	.endm

SYM_FUNC_START(frdma_crc_128)
	crc	128, xmm, 16, 0
SYM_FUNC_END(frdma_crc_128)

SYM_FUNC_START(frdma_crc_copy_128)
	crc	128, xmm, 16, 1
SYM_FUNC_END(frdma_crc_copy_128)

SYM_FUNC_START(frdma_crc_256)
	crc	256, ymm, 32, 0
SYM_FUNC_END(frdma_crc_256)

SYM_FUNC_START(frdma_crc_copy_256)
	crc	256, ymm, 32, 1
SYM_FUNC_END(frdma_crc_copy_256)

SYM_FUNC_START(frdma_crc_512)
	crc	512, zmm, 64, 0
SYM_FUNC_END(frdma_crc_512)

SYM_FUNC_START(frdma_crc_copy_512)
	crc	512, zmm, 64, 1
SYM_FUNC_END(frdma_crc_copy_512)
