/* SPDX-License-Identifier: GPL-2.0 */
/* What lines of a script do or expect, by the word that begins them. */
#ifndef CONFORM_STATEMENT_H
#define CONFORM_STATEMENT_H

#include "play.h"

/**
 * statement_fn - play a line
 * @play: @why of it says what is wrong
 * @line: that line; words of it that are read are marked as used
 */
typedef bool statement_fn(struct play *play, struct line *line);

/**
 * struct statement - one of them
 * @keyword: what begins its lines
 * @play: plays such a line
 */
struct statement {
	const char *keyword;
	statement_fn *play;
};

/* What is done, and what is expected; none behind the last. */
extern const struct statement deeds[];
extern const struct statement expectations[];

bool is_optional(const struct play *play, const struct line *line);
bool stays_quiet(struct play *play, uint64_t ns);
bool add_region(struct play *play, const char *name, uint32_t len,
		uint32_t rights, uint32_t pd, int64_t fill);

#endif /* CONFORM_STATEMENT_H */
