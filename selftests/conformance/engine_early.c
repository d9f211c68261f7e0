// SPDX-License-Identifier: GPL-2.0
/* What is ahead of its turn, as the kernel's ahead.c has it. */
#include <stdlib.h>

#include "engine.h"

/**
 * engine_keep - keep a packet until its turn comes
 * @list: those of its side
 * @psn: what has its turn next there
 * @hdr: its headers
 * @payload: as long as they say
 * @round: for frdma_ack_is_old()
 */
void engine_keep(struct frdma_kept_list *list, u32 psn,
		 const struct frdma_hdr *hdr, const u8 *payload, u32 round)
{
	struct frdma_kept **at = frdma_kept_find(list, hdr->psn, psn);
	struct early *early;

	if (!at)
		return;
	early = malloc(sizeof(*early) + hdr->payload_len);
	early->item.psn = hdr->psn;
	early->item.nr = 1;
	early->item.round = round;
	early->hdr = *hdr;
	memcpy(early->payload, payload, hdr->payload_len);
	frdma_kept_add(list, at, &early->item);
}

/**
 * engine_forget - drop what is ahead of its turn
 * @list: where
 */
void engine_forget(struct frdma_kept_list *list)
{
	struct frdma_kept *item;

	while ((item = frdma_kept_any(list)))
		free(item);
}
