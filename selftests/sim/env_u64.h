/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers that whoever starts a test may give. */
#ifndef FRDMA_SIM_ENV_U64_H
#define FRDMA_SIM_ENV_U64_H

#include <stdlib.h>

#include "env.h"

static inline u64 env_u64(const char *name, u64 otherwise)
{
	const char *value = getenv(name);

	return value && *value ? strtoull(value, NULL, 0) : otherwise;
}

#endif /* FRDMA_SIM_ENV_U64_H */
