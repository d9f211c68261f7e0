// SPDX-License-Identifier: GPL-2.0
/* How much a fuzzer has done; it says so when it ends. */
#include "fuzz.h"

u64 fuzz_packets;

#ifdef FUZZ_LIBFUZZER
static void say_packets(void)
{
	fprintf(stderr, "# %llu packets\n", fuzz_packets);
}

__attribute__((constructor)) static void say_packets_at_the_end(void)
{
	atexit(say_packets);
}
#endif
