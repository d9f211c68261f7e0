// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include "aside.h"

/**
 * aside_put - put packets aside
 * @side: whose
 * @list: those of its send side, or of its receive side
 * @psn: what has its turn next there
 * @hdr: headers of the first, which is ahead of that
 * @payload: of all of them
 * @nr: how many
 *
 * Return: false if there is no room, which is so now and then.
 */
bool aside_put(struct sim_side *side, struct frdma_kept_list *list, u32 psn,
	       const struct frdma_hdr *hdr, const u8 *payload, u32 nr)
{
	u32 len = nr * hdr->payload_len;
	struct frdma_kept **at;
	struct sim_kept *kept;

	if (!rnd_below(&side->world->rnd, 8))
		return false;
	at = frdma_kept_find(list, hdr->psn, psn);
	if (!at)
		return true;
	kept = malloc(sizeof(*kept) + len);
	kept->item.psn = hdr->psn;
	kept->item.nr = nr;
	kept->item.round = side->req.resend.round;
	kept->hdr = *hdr;
	if (len)
		memcpy(kept->payload, payload, len);
	frdma_kept_add(list, at, &kept->item);
	return true;
}

/**
 * aside_take - take packets whose turn has come
 * @side: whose
 * @kept: they
 * @take: called for each that is not taken as one of a run
 * @take_run: called first, if they are several; says how many it took
 */
void aside_take(struct sim_side *side, const struct sim_kept *kept,
		aside_take_fn take, aside_run_fn take_run)
{
	u32 nr = kept->item.nr, taken = 0;
	struct frdma_hdr hdr = kept->hdr;

	if (nr > 1)
		taken = take_run(side, &hdr, kept->payload, nr);
	frdma_hdr_skip(&hdr, taken);
	for (; taken < nr && !side_is_broken(side); taken++) {
		take(side, &hdr, kept->payload + taken * hdr.payload_len);
		frdma_hdr_skip(&hdr, 1);
	}
}

/**
 * aside_forget - drop all that was put aside
 * @list: where
 */
void aside_forget(struct frdma_kept_list *list)
{
	struct frdma_kept *item;

	while ((item = frdma_kept_any(list)))
		free(item);
}
