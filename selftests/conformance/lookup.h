/* SPDX-License-Identifier: GPL-2.0 */
/* What a line's words stand for, while a script is played. */
#ifndef CONFORM_LOOKUP_H
#define CONFORM_LOOKUP_H

#include "play.h"
#include "value.h"

bool wrong(struct play *play, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

struct region *find_region(struct play *play, const char *name);
struct queue_pair *find_qp(struct play *play, const char *name);
struct shared_queue *find_srq(struct play *play, const char *name);
struct names names_of(struct play *play);

bool take(struct play *play, struct line *line, const char *name,
	  enum meaning meaning, uint64_t *value);
bool take32(struct play *play, struct line *line, const char *name,
	    enum meaning meaning, uint32_t *value);
bool take_rights(struct play *play, struct line *line, uint32_t *rights);
struct queue_pair *qp_of(struct play *play, struct line *line);
struct packet_peer peer_of(struct play *play, struct line *line);

#endif /* CONFORM_LOOKUP_H */
