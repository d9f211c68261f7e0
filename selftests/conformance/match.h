/* SPDX-License-Identifier: GPL-2.0 */
/* Is a packet the one that a line describes? And how one looks, for people. */
#ifndef CONFORM_MATCH_H
#define CONFORM_MATCH_H

#include "packet.h"

bool packet_matches(const struct packet *packet, struct line *line,
		    const struct packet_peer *peer, const struct names *names,
		    bool any, char *why, size_t why_size);
void packet_print(const struct packet *packet, char *text, size_t size);

#endif /* CONFORM_MATCH_H */
