// SPDX-License-Identifier: GPL-2.0
/*
 * CRC-32 by the CPU's instructions on kernels whose crc32_le() does without
 * them: there only the crypto hash "crc32" has them. Elsewhere this file is
 * empty. On x86-64 it is for processors that crc.c has no use for.
 */
#include "compat/crc.h"

#ifndef HAVE_CRC32_OPTIMIZATIONS

#include <crypto/hash.h>
#include <linux/err.h>
#include <linux/module.h>

/* What a carry-less multiplication needs before it is worth its set-up. */
#define HASH_MIN_LEN	80

/* NULL: no hash is faster than crc32_le(). */
static struct crypto_shash *crc_tfm __ro_after_init;

/**
 * frdma_crc_plain_init - find the fastest CRC-32
 *
 * Context: module load. Without a fast hash crc32_le() is used.
 */
void __init frdma_crc_plain_init(void)
{
	struct crypto_shash *tfm = crypto_alloc_shash("crc32", 0, 0);

	if (IS_ERR(tfm))
		return;
	/* The state is the CRC itself; the generic hash is crc32_le(). */
	if (crypto_shash_descsize(tfm) != sizeof(u32) ||
	    !strcmp(crypto_shash_driver_name(tfm), "crc32-generic")) {
		crypto_free_shash(tfm);
		return;
	}
	crc_tfm = tfm;
}

/**
 * frdma_crc_plain_exit - let go of what frdma_crc_plain_init() found
 *
 * Context: module load that fails, module removal; no caller of frdma_crc32_plain()
 * is left.
 */
void frdma_crc_plain_exit(void)
{
	if (crc_tfm)
		crypto_free_shash(crc_tfm);
}

static u32 crc32_by_hash(u32 crc, const void *p, size_t len)
{
	SHASH_DESC_ON_STACK(desc, crc_tfm);
	u32 *state = shash_desc_ctx(desc);

	desc->tfm = crc_tfm;
	*state = crc;
	crypto_shash_update(desc, p, len);
	return *state;
}

/**
 * frdma_crc32_plain - CRC-32 as in Ethernet, least significant bit first
 * @crc: what came before; ~0 at the start. Nothing is inverted
 * @p: bytes
 * @len: number of bytes
 *
 * Context: process or softirq.
 * Return: the new CRC.
 */
u32 frdma_crc32_plain(u32 crc, const void *p, size_t len)
{
	if (!crc_tfm || len < HASH_MIN_LEN)
		return crc32_le(crc, p, len);
	return crc32_by_hash(crc, p, len);
}

/* The hash is found by name: have all of its implementations loaded before. */
MODULE_SOFTDEP("pre: crypto-crc32");

#endif /* HAVE_CRC32_OPTIMIZATIONS */
