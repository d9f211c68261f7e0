// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "script.h"

struct complaint {
	const char *file;
	char *text;
	size_t size;
};

static bool complain(const struct complaint *to, unsigned int number,
		     const char *why)
{
	snprintf(to->text, to->size, "%s:%u: %s", to->file, number, why);
	return false;
}

static char *read_all(const char *file)
{
	FILE *f = fopen(file, "re");
	char *text = NULL;
	long size;

	if (!f)
		return NULL;
	fseek(f, 0, SEEK_END);
	size = ftell(f);
	rewind(f);
	text = calloc(1, size + 1);
	if (fread(text, 1, size, f) != (size_t)size)
		text[0] = '\0';
	fclose(f);
	return text;
}

static const struct {
	const char *name;
	uint64_t ns;
} units[] = {
	{ "ns", 1 },
	{ "us", 1000 },
	{ "ms", 1000000 },
	{ "s", 1000000000 },
};

/* A number with a unit; *at moves behind it. */
static bool read_time(const char **at, uint64_t *ns)
{
	char *end;
	double number = strtod(*at, &end);
	size_t i;

	if (end == *at)
		return false;
	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		size_t len = strlen(units[i].name);

		if (strncmp(end, units[i].name, len))
			continue;
		*ns = number * units[i].ns;
		*at = end + len;
		return true;
	}
	return false;
}

/* "+10us" or "+10us..40us" */
static bool read_when(struct line *line, const char *text)
{
	text++;
	if (!read_time(&text, &line->min_ns))
		return false;
	line->max_ns = line->min_ns;
	line->timed = true;
	if (!strncmp(text, "..", 2)) {
		text += 2;
		if (!read_time(&text, &line->max_ns) ||
		    line->max_ns < line->min_ns)
			return false;
	}
	return !*text;
}

static bool split(struct line *line, char *text, const struct complaint *to)
{
	char *word, *rest = NULL;

	for (word = strtok_r(text, " \t", &rest); word;
	     word = strtok_r(NULL, " \t", &rest)) {
		struct word *w = &line->words[line->nr];
		char *equals = strchr(word, '=');

		if (word[0] == '+' && !line->nr && !line->timed) {
			if (!read_when(line, word))
				return complain(to, line->number, "bad time");
			continue;
		}
		if (!line->nr && !line->where && word[strlen(word) - 1] == ':') {
			word[strlen(word) - 1] = '\0';
			line->where = word;
			continue;
		}
		if (line->nr == LINE_WORDS)
			return complain(to, line->number, "too long");
		*w = (struct word) { .name = word };
		if (equals) {
			*equals = '\0';
			w->value = equals + 1;
		}
		line->nr++;
	}
	if (!line->nr)
		return complain(to, line->number, "a time alone");
	return true;
}

static char *trim(char *text)
{
	char *end = strchr(text, '#');

	if (!end)
		end = text + strlen(text);
	while (end > text && isspace((unsigned char)end[-1]))
		end--;
	*end = '\0';
	while (isspace((unsigned char)*text))
		text++;
	return text;
}

/**
 * script_read - read a case
 * @script: set
 * @file: its path
 * @error: set to what is wrong with it
 * @error_size: room for that
 */
bool script_read(struct script *script, const char *file, char *error,
		 size_t error_size)
{
	struct complaint to = { file, error, error_size };
	unsigned int number = 0;
	char *text, *next;

	*script = (struct script) { .file = file, .text = read_all(file) };
	if (!script->text)
		return complain(&to, 0, "cannot be read: is it a file of cases/?");
	script->copy = strdup(script->text);
	script->lines = calloc(SCRIPT_LINES, sizeof(*script->lines));

	for (text = script->copy; text && *text; text = next) {
		struct line *line = &script->lines[script->nr];

		next = strchr(text, '\n');
		if (next)
			*next++ = '\0';
		number++;
		text = trim(text);
		if (!*text)
			continue;
		if (script->nr == SCRIPT_LINES)
			return complain(&to, number, "too many lines");
		line->number = number;
		line->text = strdup(text);
		script->nr++;
		if (!split(line, text, &to))
			return false;
	}
	return true;
}

void script_free(struct script *script)
{
	size_t i;

	for (i = 0; i < script->nr; i++)
		free(script->lines[i].text);
	free(script->lines);
	free(script->copy);
	free(script->text);
}

/**
 * script_header - what the header says about something
 * @script: case
 * @key: "# key: value" at its top; values of several such lines are joined
 * @value: set to that
 * @size: room for it
 *
 * Return: false if it says nothing.
 */
bool script_header(const struct script *script, const char *key, char *value,
		   size_t size)
{
	size_t len = strlen(key);
	const char *at = script->text;
	bool found = false;

	value[0] = '\0';
	while (at && *at == '#') {
		const char *end = strchrnul(at, '\n');
		size_t used = strlen(value);

		if (end - at > (long)len + 3 && !strncmp(at + 2, key, len) &&
		    at[len + 2] == ':') {
			const char *text = at + len + 3;

			while (*text == ' ' || *text == '\t')
				text++;
			snprintf(value + used, size - used, "%s%.*s",
				 found ? " " : "", (int)(end - text), text);
			found = true;
		}
		at = *end ? end + 1 : NULL;
	}
	return found;
}

/* "cases/A8.case" is case A8. */
void script_id(const struct script *script, char *id, size_t size)
{
	const char *base = strrchr(script->file, '/');

	snprintf(id, size, "%s", base ? base + 1 : script->file);
	id[strcspn(id, ".")] = '\0';
	/* B9.1 is B9-1 as a file. */
	for (; *id; id++)
		if (*id == '-')
			*id = '.';
}

/** line_keyword - the first word */
const char *line_keyword(const struct line *line)
{
	return line->words[0].name;
}

/** line_value - the value of NAME=, or NULL */
const char *line_value(struct line *line, const char *name)
{
	size_t i;

	for (i = 1; i < line->nr; i++)
		if (line->words[i].value && !strcmp(line->words[i].name, name)) {
			line->words[i].used = true;
			return line->words[i].value;
		}
	return NULL;
}

/** line_next - the first word alone that nobody has read, or NULL */
const char *line_next(struct line *line)
{
	size_t i;

	for (i = 1; i < line->nr; i++)
		if (!line->words[i].value && !line->words[i].used) {
			line->words[i].used = true;
			return line->words[i].name;
		}
	return NULL;
}

/** line_flag - is that word there */
bool line_flag(struct line *line, const char *name)
{
	size_t i;

	for (i = 1; i < line->nr; i++)
		if (!line->words[i].value && !strcmp(line->words[i].name, name)) {
			line->words[i].used = true;
			return true;
		}
	return false;
}

/** line_unused - a word that nobody has read: a mistake of the script */
const struct word *line_unused(const struct line *line)
{
	size_t i;

	for (i = 1; i < line->nr; i++)
		if (!line->words[i].used)
			return &line->words[i];
	return NULL;
}

/** line_forget - nobody has read it yet */
void line_forget(struct line *line)
{
	size_t i;

	for (i = 0; i < line->nr; i++)
		line->words[i].used = false;
}
