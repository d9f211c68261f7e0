// SPDX-License-Identifier: GPL-2.0
/* Threads that register and deregister memory: storm DEVICE GID_INDEX */
#include <pthread.h>

#include "../lib/pair.h"

#define THREADS		8
#define REGIONS		100

static void *register_many(void *arg)
{
	static __thread char memory[4096];
	struct ibv_mr *mr;
	int i;

	for (i = 0; i < REGIONS; i++) {
		mr = ibv_reg_mr(pd, memory, sizeof(memory), RIGHTS);
		EXPECT(mr && !ibv_dereg_mr(mr));
	}
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	int i;

	EXPECT(argc == 3);
	open_device(argv[1], argv[2]);
	for (i = 0; i < THREADS; i++)
		EXPECT(!pthread_create(&threads[i], NULL, register_many, NULL));
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%d regions\n", THREADS * REGIONS);
	return 0;
}
