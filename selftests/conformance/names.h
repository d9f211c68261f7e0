/* SPDX-License-Identifier: GPL-2.0 */
/* Words of scripts for the numbers of the verbs. */
#ifndef CONFORM_NAMES_H
#define CONFORM_NAMES_H

#include <stdbool.h>
#include <stdint.h>

bool name_to_status(const char *name, int *status);
bool name_to_event(const char *name, int *event);
bool name_to_state(const char *name, int *state);
bool name_to_type(const char *name, int *type);
bool name_to_op(const char *name, int *op);
bool name_to_rights(const char *names, uint32_t *rights);

const char *status_name(int status);
const char *event_name(int event);
const char *state_name(int state);

#endif /* CONFORM_NAMES_H */
