/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The copy into registered memory, which a process may be reading.
 *
 * A program may poll the last bytes of a message instead of a completion queue,
 * and may write to a byte as soon as it has seen it. memcpy() serves neither:
 * it may copy backwards, store a byte twice, or store in no order (rep movsb).
 * Each copy into registered memory therefore keeps these rules:
 *
 *  - stores ascend by address;
 *  - each byte is stored once;
 *  - each store is naturally aligned, so no aligned word of eight bytes is seen in
 *    part. A vector store of 32 bytes may be seen as two halves;
 *  - a write barrier precedes the last store, which has at most eight bytes.
 *
 * On weakly ordered processors only the last store is seen behind the others.
 */
#ifndef FRDMA_COPY_H
#define FRDMA_COPY_H

#include <linux/types.h>

/* Bytes of the largest store that ends a copy. */
#define FRDMA_COPY_WORD		sizeof(u64)

/**
 * frdma_copy_words() - copy bytes by the rules above, without vector registers
 * @dst: receives the bytes
 * @src: bytes, which may change meanwhile
 * @len: number of bytes
 *
 * Context: any.
 */
void frdma_copy_words(void *dst, const void *src, size_t len);

#endif /* FRDMA_COPY_H */
