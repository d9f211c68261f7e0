// SPDX-License-Identifier: GPL-2.0
/* Scatter/gather lists. */
#include "sge.h"

/**
 * struct sge_piece - a part of one element, entered
 * @mr: its region
 * @addr: first byte
 * @len: bytes
 * @done: bytes of the whole range in front of it
 */
struct sge_piece {
	struct frdma_mr *mr;
	u64 addr;
	size_t len;
	size_t done;
};

/* What to do with each piece; false ends the walk with FRDMA_MR_NOT_LENT. */
typedef bool (*sge_piece_fn)(const struct sge_piece *piece, void *arg);

/*
 * Enters the memory of a range of the list piece by piece. Inlined, so that
 * @fn is called directly. Absent pages are asked for if there is an @in.
 */
static __always_inline enum frdma_mr_fault
sge_walk(struct frdma_dev *dev, const struct ib_pd *pd,
	 const struct frdma_sge *sge, u32 num_sge, u64 off, size_t len,
	 int access, sge_piece_fn fn, void *arg, struct frdma_page_in *in)
{
	enum frdma_mr_fault fault = FRDMA_MR_OK;
	struct sge_piece piece = {};
	bool more;

	for (; num_sge && piece.done < len; num_sge--, sge++) {
		if (off >= sge->length) {
			off -= sge->length;
			continue;
		}

		piece.addr = sge->addr + off;
		piece.len = min_t(u64, sge->length - off, len - piece.done);
		piece.mr = frdma_mr_enter(dev, pd, 0, sge->lkey, piece.addr,
					  piece.len, access, &fault);
		if (!piece.mr)
			return fault;

		if (frdma_mr_is_absent(piece.mr, piece.addr, piece.len,
				       access)) {
			fault = in ? frdma_mr_page_in(piece.mr, piece.addr,
						      piece.len,
						      sge->length - off,
						      access, in) :
				     FRDMA_MR_ABSENT;
			frdma_mr_leave(piece.mr);
			return fault;
		}

		more = fn(&piece, arg);
		frdma_mr_leave(piece.mr);
		if (!more)
			return FRDMA_MR_NOT_LENT;

		piece.done += piece.len;
		off = 0;
	}

	return piece.done < len ? FRDMA_MR_BAD_RANGE : FRDMA_MR_OK;
}

static enum frdma_mr_fault sge_check_one(struct frdma_dev *dev,
					 const struct ib_pd *pd,
					 const struct frdma_sge *sge,
					 int access)
{
	enum frdma_mr_fault fault;
	struct frdma_mr *mr;

	mr = frdma_mr_enter(dev, pd, 0, sge->lkey, sge->addr, sge->length,
			    access, &fault);
	if (mr)
		frdma_mr_leave(mr);

	return fault;
}

enum frdma_mr_fault frdma_sge_check(struct frdma_dev *dev,
				    const struct ib_pd *pd,
				    const struct frdma_sge *sge, u32 num_sge,
				    int access, u64 *total)
{
	enum frdma_mr_fault fault = FRDMA_MR_OK;
	u32 i;

	*total = 0;

	for (i = 0; i < num_sge && fault == FRDMA_MR_OK; i++) {
		*total += sge[i].length;
		if (sge[i].length)
			fault = sge_check_one(dev, pd, &sge[i], access);
	}

	if (fault == FRDMA_MR_OK && *total > FRDMA_SGE_MAX_BYTES)
		fault = FRDMA_MR_BAD_RANGE;

	return fault;
}

static bool piece_read(const struct sge_piece *piece, void *to)
{
	frdma_mr_read(piece->mr, piece->addr, to, piece->len);
	return true;
}

enum frdma_mr_fault frdma_sge_gather(struct frdma_dev *dev,
				     const struct ib_pd *pd,
				     const struct frdma_sge *sge, u32 num_sge,
				     u64 off, struct frdma_stripes *to,
				     size_t len)
{
	return sge_walk(dev, pd, sge, num_sge, off, len, 0, piece_read, to,
			NULL);
}

static bool piece_write(const struct sge_piece *piece, void *src)
{
	frdma_mr_write(piece->mr, piece->addr, src + piece->done, piece->len);
	return true;
}

enum frdma_mr_fault frdma_sge_scatter(struct frdma_dev *dev,
				      const struct ib_pd *pd,
				      const struct frdma_sge *sge, u32 num_sge,
				      u64 off, const void *src, size_t len)
{
	return sge_walk(dev, pd, sge, num_sge, off, len, IB_ACCESS_LOCAL_WRITE,
			piece_write, (void *)src, NULL);
}

static bool piece_write_payload(const struct sge_piece *piece, void *from)
{
	frdma_mr_write_payload(piece->mr, piece->addr, from, piece->len);
	return true;
}

enum frdma_mr_fault frdma_sge_scatter_payload(struct frdma_dev *dev,
					      const struct ib_pd *pd,
					      const struct frdma_sge *sge,
					      u32 num_sge, u64 off,
					      struct frdma_payload from, size_t len)
{
	return sge_walk(dev, pd, sge, num_sge, off, len, IB_ACCESS_LOCAL_WRITE,
			piece_write_payload, &from, NULL);
}

static bool piece_is_there(const struct sge_piece *piece, void *arg)
{
	return true;
}

enum frdma_mr_fault frdma_sge_page_in(struct frdma_dev *dev,
				      const struct ib_pd *pd,
				      const struct frdma_sge *sge, u32 num_sge,
				      u64 off, size_t len, int access,
				      struct frdma_page_in *in)
{
	return sge_walk(dev, pd, sge, num_sge, off, len, access,
			piece_is_there, NULL, in);
}

static bool piece_lend(const struct sge_piece *piece, void *lent)
{
	return frdma_mr_outlasts_leave(piece->mr) &&
	       frdma_mr_lend(piece->mr, piece->addr, piece->len, lent);
}

enum frdma_mr_fault frdma_sge_lend(struct frdma_dev *dev,
				   const struct ib_pd *pd,
				   const struct frdma_sge *sge, u32 num_sge,
				   u64 off, size_t len, struct frdma_lent *lent)
{
	lent->nr = 0;
	lent->len = 0;
	return sge_walk(dev, pd, sge, num_sge, off, len, 0, piece_lend, lent,
			NULL);
}
