/* SPDX-License-Identifier: GPL-2.0 */
/* A thread that adds to memory, beside what else happens to it. */
#ifndef CONFORM_ADDER_H
#define CONFORM_ADDER_H

#include <stdbool.h>
#include <stdint.h>

bool adder_begin(uint64_t *at);
bool adder_end(uint64_t *added);

#endif /* CONFORM_ADDER_H */
