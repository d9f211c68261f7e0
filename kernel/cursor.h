/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A place among the bytes of a buffer, or of memory that is lent, which only
 * moves forwards. A train is read from its first byte to its last, and its
 * fragments are many: whoever counted from the beginning each time
 * (skb_copy_bits()) would spend more on finding bytes than on copying them.
 */
#ifndef FRDMA_CURSOR_H
#define FRDMA_CURSOR_H

#include <linux/skbuff.h>

#include "copy.h"
#include "crc.h"
#include "lent.h"

/**
 * struct frdma_cursor - a place in a buffer, or in what is lent
 * @skb: the buffer, without a list of fragments; NULL: it is in @lent
 * @lent: the memory
 * @frag: the fragment, or the piece, it is in; -1: the linear part
 * @off: bytes from its beginning
 *
 * A copy of it is a mark to come back to.
 */
struct frdma_cursor {
	const struct sk_buff *skb;
	const struct frdma_lent *lent;
	int frag;
	u32 off;
};

/** frdma_cursor_at() - the place @off bytes into the linear part of @skb */
static inline struct frdma_cursor frdma_cursor_at(const struct sk_buff *skb,
						  u32 off)
{
	return (struct frdma_cursor) { .skb = skb, .frag = -1, .off = off };
}

/** frdma_cursor_in() - the first byte of @lent */
static inline struct frdma_cursor
frdma_cursor_in(const struct frdma_lent *lent)
{
	return (struct frdma_cursor) { .lent = lent };
}

/* As frdma_cursor_run(), in what is lent. */
static inline u32 frdma_cursor_run_lent(struct frdma_cursor *at,
					const void **kaddr)
{
	const struct frdma_lent *lent = at->lent;
	const struct kvec *vec;

	for (; at->frag < lent->nr; at->frag++) {
		vec = &lent->vec[at->frag];
		if (likely(at->off < vec->iov_len)) {
			*kaddr = vec->iov_base + at->off;
			return vec->iov_len - at->off;
		}
		at->off -= vec->iov_len;
	}
	return 0;
}

/**
 * frdma_cursor_run() - the bytes that follow each other here
 * @at: the place; moved into the next part if its own has ended
 * @kaddr: receives their address
 *
 * Return: how many; 0 at the end of all.
 */
static inline u32 frdma_cursor_run(struct frdma_cursor *at, const void **kaddr)
{
	const struct skb_shared_info *info;
	const skb_frag_t *frag;
	u32 end;

	if (!at->skb)
		return frdma_cursor_run_lent(at, kaddr);

	if (at->frag < 0) {
		end = skb_headlen(at->skb);
		if (likely(at->off < end)) {
			*kaddr = at->skb->data + at->off;
			return end - at->off;
		}
		at->off -= end;
		at->frag = 0;
	}

	info = skb_shinfo(at->skb);
	for (; at->frag < info->nr_frags; at->frag++) {
		frag = &info->frags[at->frag];
		end = skb_frag_size(frag);
		if (likely(at->off < end)) {
			*kaddr = skb_frag_address(frag) + at->off;
			return end - at->off;
		}
		at->off -= end;
	}
	return 0;
}

/** frdma_cursor_skip() - go on by @len bytes, all of them in the buffer */
static inline void frdma_cursor_skip(struct frdma_cursor *at, u32 len)
{
	at->off += len;
}

/**
 * frdma_cursor_copy() - copy what follows, and go on behind it
 * @at: the place
 * @dst: receives @len bytes
 * @len: bytes, all of them in the buffer
 */
static inline void frdma_cursor_copy(struct frdma_cursor *at, void *dst,
				     u32 len)
{
	const void *src;
	u32 n;

	for (; len; len -= n, dst += n) {
		n = min(len, frdma_cursor_run(at, &src));
		if (WARN_ON_ONCE(!n))
			return;
		memcpy(dst, src, n);
		at->off += n;
	}
}

/**
 * frdma_cursor_take() - as frdma_cursor_copy(), for a few bytes
 * @at: the place
 * @dst: receives @len bytes
 * @len: bytes, a constant, so that no function is called where they follow
 *       each other
 *
 * The bytes are read once: what is judged is the copy.
 */
static __always_inline void frdma_cursor_take(struct frdma_cursor *at,
					      void *dst, u32 len)
{
	const void *src;

	if (unlikely(frdma_cursor_run(at, &src) < len)) {
		frdma_cursor_copy(at, dst, len);
		return;
	}
	memcpy(dst, src, len);
	barrier();
	at->off += len;
}

/**
 * frdma_cursor_crc() - the CRC-32 of what follows, and go on behind it
 * @at: the place
 * @crc: what came before
 * @len: bytes, all of them in the buffer
 *
 * Return: the new CRC.
 */
static inline u32 frdma_cursor_crc(struct frdma_cursor *at, u32 crc, u32 len)
{
	const void *src;
	u32 n;

	for (; len; len -= n) {
		n = min(len, frdma_cursor_run(at, &src));
		if (WARN_ON_ONCE(!n))
			break;
		crc = frdma_crc32(crc, src, n);
		at->off += n;
	}
	return crc;
}

/**
 * struct frdma_payload - the payload of packets that follow each other
 * @at: where it goes on
 * @left: bytes of it from there to the next gap
 * @len: bytes of it in each packet
 * @gap: bytes between that of one packet and that of the next
 *
 * That of a single packet ends before the gap. What is lent has no gaps. A copy
 * of it is a mark to come back to.
 */
struct frdma_payload {
	struct frdma_cursor at;
	u32 left;
	u32 len;
	u32 gap;
};

/** frdma_payload_of() - what is lent, as the payload of packets */
static inline struct frdma_payload frdma_payload_of(const struct frdma_lent *lent)
{
	return (struct frdma_payload) {
		.at = frdma_cursor_in(lent), .left = U32_MAX,
	};
}

/* As frdma_cursor_run(), of the payload: in front of a gap, moves over it. */
static inline u32 frdma_payload_run(struct frdma_payload *from,
				    const void **kaddr)
{
	if (!from->left) {
		frdma_cursor_skip(&from->at, from->gap);
		from->left = from->len;
	}
	return min(frdma_cursor_run(&from->at, kaddr), from->left);
}

/* Go on by @len bytes, all of them in the run. */
static inline void frdma_payload_skip(struct frdma_payload *from, u32 len)
{
	frdma_cursor_skip(&from->at, len);
	from->left -= len;
}

/*
 * Copies one word of @dst whose bytes come from several places. They are collected
 * first, so that the word is stored at once. Returns the number of bytes.
 */
static inline u32 frdma_payload_copy_seam(struct frdma_payload *from, void *dst,
					  u32 len)
{
	u8 word[FRDMA_COPY_WORD];
	const void *src;
	u32 got, n;

	len = min_t(u32, len, FRDMA_COPY_WORD -
			      (unsigned long)dst % FRDMA_COPY_WORD);
	for (got = 0; got < len; got += n) {
		n = min(frdma_payload_run(from, &src), len - got);
		if (WARN_ON_ONCE(!n))
			return 0;
		memcpy(word + got, src, n);
		frdma_payload_skip(from, n);
	}
	frdma_copy(dst, word, len);
	return len;
}

/* How many of @n bytes at @dst fill whole words: the rest ends within one. */
static inline u32 frdma_payload_in_words(const void *dst, u32 n)
{
	u32 rest = ((unsigned long)dst + n) % FRDMA_COPY_WORD;

	return n > rest ? n - rest : 0;
}

/**
 * frdma_payload_copy() - copy what follows by the rules of copy.h, and go on
 * @from: the payload
 * @dst: receives @len bytes
 * @len: bytes, all of them in its packets
 *
 * A word of @dst is stored at once, also where fragments or packets meet.
 */
static inline void frdma_payload_copy(struct frdma_payload *from, void *dst,
				      u32 len)
{
	const void *src;
	u32 n;

	for (; len; len -= n, dst += n) {
		n = min(frdma_payload_run(from, &src), len);
		if (n < len)
			n = frdma_payload_in_words(dst, n);
		if (likely(n)) {
			frdma_copy(dst, src, n);
			frdma_payload_skip(from, n);
			continue;
		}
		n = frdma_payload_copy_seam(from, dst, len);
		if (!n)
			return;
	}
}

#endif /* FRDMA_CURSOR_H */
