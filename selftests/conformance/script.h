/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The text of a case: a header of comments, then one line for each thing that
 * is done or expected. See README for the language.
 */
#ifndef CONFORM_SCRIPT_H
#define CONFORM_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINE_WORDS	24
#define SCRIPT_LINES	200

/**
 * struct word - NAME=VALUE, or a word alone
 * @name: what is before "="; the whole word if there is none
 * @value: what is behind it, or NULL
 * @used: somebody has read it
 */
struct word {
	char *name;
	char *value;
	bool used;
};

/**
 * struct line - one line of a script
 * @number: counted from 1, for people
 * @text: as it was written, without blanks around it
 * @min_ns: not earlier than this after the line before
 * @max_ns: nor later; equal to @min_ns where no range is given
 * @timed: it begins with a time
 * @where: a word with a colon in front, without that: whom the line is for
 * @nr: number of words
 * @words: those
 */
struct line {
	unsigned int number;
	char *text;
	uint64_t min_ns;
	uint64_t max_ns;
	bool timed;
	const char *where;
	size_t nr;
	struct word words[LINE_WORDS];
};

/**
 * struct script - a case
 * @file: its path
 * @text: all of it; @words of the lines point into a copy
 * @copy: that copy
 * @nr: number of lines
 * @lines: those that do or expect something
 */
struct script {
	const char *file;
	char *text;
	char *copy;
	size_t nr;
	struct line *lines;
};

bool script_read(struct script *script, const char *file, char *error,
		 size_t error_size);
void script_free(struct script *script);
bool script_header(const struct script *script, const char *key, char *value,
		   size_t size);
void script_id(const struct script *script, char *id, size_t size);

const char *line_keyword(const struct line *line);
const char *line_value(struct line *line, const char *name);
const char *line_next(struct line *line);
bool line_flag(struct line *line, const char *name);
const struct word *line_unused(const struct line *line);
void line_forget(struct line *line);

#endif /* CONFORM_SCRIPT_H */
