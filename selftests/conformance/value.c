// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "value.h"

#define NAME_MAX_LEN	31

/* "10.0.0.1" is the number that it has in an IPv4 header. */
static bool read_address(const char **at, uint64_t *value)
{
	const char *text = *at;
	uint64_t sum = 0;
	int i;

	for (i = 0; i < 4; i++) {
		char *end;
		unsigned long part = strtoul(text, &end, 10);

		if (end == text || part > 255 || (i < 3 && *end != '.'))
			return false;
		sum = sum << 8 | part;
		text = end + (i < 3);
	}
	*at = text;
	*value = sum;
	return true;
}

static bool read_name(const char **at, enum meaning meaning,
		      const struct names *names, uint64_t *value)
{
	char name[NAME_MAX_LEN + 1];
	size_t len = 0;

	while (isalnum((unsigned char)(*at)[len]) || (*at)[len] == '_')
		len++;
	if (!len || len > NAME_MAX_LEN)
		return false;
	memcpy(name, *at, len);
	name[len] = '\0';
	*at += len;
	return names->find(names->arg, name, meaning, value);
}

static bool read_term(const char **at, enum meaning meaning,
		      const struct names *names, uint64_t *value)
{
	char *end;

	if (!isdigit((unsigned char)**at))
		return read_name(at, meaning, names, value);
	if (meaning == MEANS_HOST && read_address(at, value))
		return true;

	*value = strtoull(*at, &end, 0);
	*at = end;
	if (*end == 'P') {
		uint64_t mtu;

		if (!read_name(at, MEANS_NUMBER, names, &mtu))
			return false;
		*value *= mtu;
	}
	return true;
}

/**
 * value_of - work out a value
 * @text: as in the script
 * @meaning: of the names in it
 * @names: who knows them
 * @value: set
 *
 * Return: false if it cannot be read.
 */
bool value_of(const char *text, enum meaning meaning, const struct names *names,
	      uint64_t *value)
{
	uint64_t sum, term;

	if (!read_term(&text, meaning, names, &sum))
		return false;
	while (*text) {
		char how = *text++;

		/* What is added to a name is a number. */
		if (!read_term(&text, MEANS_NUMBER, names, &term))
			return false;
		switch (how) {
		case '+': sum += term; break;
		case '-': sum -= term; break;
		case '^': sum ^= term; break;
		default: return false;
		}
	}
	*value = sum;
	return true;
}

/* One value, or a range of them: "0xc000..0xffff". */
static bool is_one(char *text, enum meaning meaning, const struct names *names,
		   uint64_t got)
{
	char *to = strstr(text, "..");
	uint64_t first, last;

	if (to) {
		*to = '\0';
		to += 2;
	}
	return value_of(text, meaning, names, &first) &&
	       value_of(to ?: text, meaning, names, &last) &&
	       got >= first && got <= last;
}

/**
 * value_is - is it what the script wants
 * @text: a value, or several, separated by "|", of which the first is frdma's
 * @meaning: of the names in it
 * @names: who knows them
 * @got: what there is
 * @any: each of them is right; else only the first
 */
bool value_is(const char *text, enum meaning meaning, const struct names *names,
	      uint64_t got, bool any)
{
	char copy[128], *rest = NULL, *one;

	if (strlen(text) >= sizeof(copy))
		return false;
	strcpy(copy, text);
	for (one = strtok_r(copy, "|", &rest); one;
	     one = strtok_r(NULL, "|", &rest)) {
		if (is_one(one, meaning, names, got))
			return true;
		if (!any)
			return false;
	}
	return false;
}
