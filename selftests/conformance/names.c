// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "end.h"
#include "names.h"
#include "play.h"

struct name {
	const char *name;
	int number;
};

static const struct name statuses[] = {
	{ "SUCCESS", 0 }, { "LOC_LEN_ERR", 1 }, { "LOC_QP_OP_ERR", 2 },
	{ "LOC_PROT_ERR", 4 }, { "WR_FLUSH_ERR", 5 }, { "MW_BIND_ERR", 6 },
	{ "BAD_RESP_ERR", 7 }, { "LOC_ACCESS_ERR", 8 },
	{ "REM_INV_REQ_ERR", 9 }, { "REM_ACCESS_ERR", 10 },
	{ "REM_OP_ERR", 11 }, { "RETRY_EXC_ERR", 12 },
	{ "RNR_RETRY_EXC_ERR", 13 }, { "GENERAL_ERR", 21 }, { }
};

static const struct name events[] = {
	{ "CQ_ERR", 0 }, { "QP_FATAL", 1 }, { "QP_REQ_ERR", 2 },
	{ "QP_ACCESS_ERR", 3 }, { "COMM_EST", 4 }, { "SQ_DRAINED", 5 },
	{ "SRQ_ERR", 14 }, { "SRQ_LIMIT_REACHED", 15 },
	{ "QP_LAST_WQE_REACHED", 16 }, { "COMPLETION", CQ_EVENT }, { }
};

static const struct name states[] = {
	{ "RESET", STATE_RESET }, { "INIT", STATE_INIT }, { "RTR", STATE_RTR },
	{ "RTS", STATE_RTS }, { "SQD", STATE_SQD }, { "SQE", STATE_SQE },
	{ "ERR", STATE_ERR }, { }
};

static const struct name types[] = {
	{ "RC", IS_RC }, { "UC", IS_UC }, { "UD", IS_UD },
	{ "XRC_INI", IS_XRC_INI }, { "XRC_TGT", IS_XRC_TGT }, { }
};

static const struct name ops[] = {
	{ "WRITE", DO_WRITE }, { "WRITE_IMM", DO_WRITE_IMM },
	{ "SEND", DO_SEND }, { "SEND_IMM", DO_SEND_IMM }, { "READ", DO_READ },
	{ "COMPARE_SWAP", DO_COMPARE_SWAP }, { "FETCH_ADD", DO_FETCH_ADD },
	{ "LOCAL_INV", DO_LOCAL_INV }, { "BIND", DO_BIND },
	{ "SEND_INV", DO_SEND_INV }, { "FLUSH", DO_FLUSH },
	{ "ATOMIC_WRITE", DO_ATOMIC_WRITE }, { }
};

static const struct name rights[] = {
	{ "local", RIGHT_LOCAL }, { "write", RIGHT_WRITE },
	{ "read", RIGHT_READ }, { "atomic", RIGHT_ATOMIC },
	{ "bind", RIGHT_BIND }, { "flush", RIGHT_FLUSH },
	{ "persist", RIGHT_PERSIST }, { "none", 0 }, { }
};

static bool find(const struct name *row, const char *name, int *number)
{
	for (; name && row->name; row++)
		if (!strcmp(row->name, name)) {
			*number = row->number;
			return true;
		}
	return false;
}

static const char *find_number(const struct name *row, int number)
{
	for (; row->name; row++)
		if (row->number == number)
			return row->name;
	return "?";
}

bool name_to_status(const char *name, int *status)
{
	return find(statuses, name, status);
}

bool name_to_event(const char *name, int *event)
{
	return find(events, name, event);
}

bool name_to_state(const char *name, int *state)
{
	return find(states, name, state);
}

bool name_to_type(const char *name, int *type)
{
	return find(types, name, type);
}

bool name_to_op(const char *name, int *op)
{
	return find(ops, name, op);
}

/** name_to_rights - several, joined by commas */
bool name_to_rights(const char *names, uint32_t *sum)
{
	char copy[64], *rest = NULL, *one;
	int right;

	if (strlen(names) >= sizeof(copy))
		return false;
	strcpy(copy, names);
	*sum = 0;
	for (one = strtok_r(copy, ",", &rest); one;
	     one = strtok_r(NULL, ",", &rest)) {
		if (!find(rights, one, &right))
			return false;
		*sum |= right;
	}
	return true;
}

const char *status_name(int status)
{
	return find_number(statuses, status);
}

const char *event_name(int event)
{
	return find_number(events, event);
}

const char *state_name(int state)
{
	return find_number(states, state);
}
