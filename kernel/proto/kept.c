// SPDX-License-Identifier: GPL-2.0
#include "kept.h"

/**
 * frdma_kept_find - where a packet belongs that is to wait for its turn
 * @list: what is kept already
 * @psn: of the request, ahead of @epsn
 * @epsn: PSN that is expected next
 *
 * What is resent meanwhile is not kept twice. A run may overlap with others.
 * Only what comes between others, or again, is looked for from the beginning.
 *
 * Return: for frdma_kept_add(), with the list as it is; NULL if the request is
 * not worth being kept.
 */
struct frdma_kept **frdma_kept_find(struct frdma_kept_list *list, u32 psn,
				    u32 epsn)
{
	struct frdma_kept **at = &list->first;

	if (frdma_psn_diff(psn, epsn) >= FRDMA_KEPT_SPAN)
		return NULL;

	/* Most come in their order, behind all others. */
	if (list->first && psn == list->last->psn)
		return NULL;
	if (list->first && frdma_psn_diff(psn, list->last->psn) > 0)
		at = &list->last->next;
	while (*at && frdma_psn_diff((*at)->psn, psn) < 0)
		at = &(*at)->next;
	return *at && (*at)->psn == psn ? NULL : at;
}

/**
 * frdma_kept_add - keep a request until its turn comes
 * @list: what is kept already
 * @at: where frdma_kept_find() says that it belongs
 * @item: the request
 */
void frdma_kept_add(struct frdma_kept_list *list, struct frdma_kept **at,
		    struct frdma_kept *item)
{
	item->next = *at;
	*at = item;
	if (!item->next)
		list->last = item;
}

/**
 * frdma_kept_any - take a request off the list, the first
 * @list: what is kept
 *
 * Return: NULL if there is none.
 */
struct frdma_kept *frdma_kept_any(struct frdma_kept_list *list)
{
	struct frdma_kept *item = list->first;

	if (item)
		list->first = item->next;
	return item;
}

/**
 * frdma_kept_due - take a request off the list, if its turn has come
 * @list: what is kept
 * @epsn: PSN that is expected next
 *
 * Return: one that begins with @epsn or before it, see frdma_kept_is_stale();
 * NULL if there is none.
 */
struct frdma_kept *frdma_kept_due(struct frdma_kept_list *list, u32 epsn)
{
	return frdma_kept_is_due(list, epsn) ? frdma_kept_any(list) : NULL;
}

/**
 * frdma_kept_is_stuck - has nothing come of what is missing
 * @list: what is kept
 * @epsn: PSN that is expected next
 *
 * Return: true if it was the same when this was last asked.
 */
bool frdma_kept_is_stuck(struct frdma_kept_list *list, u32 epsn)
{
	bool stuck = list->seen_psn == epsn;

	list->seen_psn = epsn;
	return stuck;
}
