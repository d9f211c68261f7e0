// SPDX-License-Identifier: GPL-2.0
/*
 * A process that calls the kernel at random: commands and methods whose
 * arguments are right, or right but for one, or rubbish (random/calls.h), in
 * several threads that share their objects; rings written and read; connections
 * made. It has many lives of some thousand calls each, which end as lives do.
 * Meanwhile another process sends to itself, and must not notice. random.sh
 * builds and runs it:
 *
 *	random DEVICE GID_INDEX CALLS SEED [all]
 *
 * It says how many calls that were and which errors; with "all", of each call.
 *
 * What a life does follows from its seed, but for how its threads meet.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../lib/pair.h"
#include "../lib/bystander.h"
#include "../lib/udmabuf.h"
#include "random/deeds.h"

#define THREADS		3
#define LIFE		6000		/* calls */
#define HANG		90		/* seconds without a call */
#define ENOUGH		15000		/* calls, to have made each one */

static void *live(void *arg)
{
	struct thread *me = arg;
	unsigned int i;

	for (i = 0; i < me->calls; i++)
		do_something(me);
	return NULL;
}

/* Is there a command that could make something, but never has in this life? */
static bool lacks_one(const unsigned long *before)
{
	unsigned int i;

	for (i = 0; i < NR_COMMANDS; i++)
		if (commands[i].makes && may_succeed(i) &&
		    !is_of_another_life(commands[i].number) &&
		    stats->taken[i] == before[i])
			return true;
	return false;
}

/*
 * Some of every kind of parent, so that calls have something to refer to; and
 * each command that makes one is taken, if chance allows: the life may be short.
 */
static void begin(struct thread *me)
{
	unsigned long before[NR_STATS];
	unsigned int round, i;

	memcpy(before, stats->taken, sizeof(before));
	for (round = 0; round < 3 || (round < 20 && lacks_one(before)); round++)
		for (i = 0; i < NR_COMMANDS; i++)
			if (commands[i].makes)
				do_command(me, i);
}

static void one_life(const char *device, const char *gid, uint64_t seed)
{
	static struct thread threads[THREADS];
	pthread_t ids[THREADS];
	unsigned int i, n;

	open_device(device, gid);
	EXPECT(!ibv_query_gid(ctx, 1, gid_index, &own_gid));
	table_init();
	has_groups = seed % 2;
	for (i = 0; i < THREADS; i++) {
		threads[i] = (struct thread) {
			.random = seed * 1000003 + i,
			.calls = LIFE / THREADS,
			.answers = mmap(arena + (64 + i) * ARENA, ANSWERS,
					PROT_READ | PROT_WRITE, MAP_PRIVATE |
					MAP_ANONYMOUS | MAP_FIXED, -1, 0),
		};
		for (n = 0; n < NR_KINDS; n++)
			threads[i].slot[n] = -1;
		EXPECT(threads[i].answers != MAP_FAILED);
	}
	begin(&threads[0]);
	for (i = 0; i < THREADS; i++)
		EXPECT(!pthread_create(&ids[i], NULL, live, &threads[i]));
	/* Some lose their file, or the arena, in the midst of life. */
	if (seed % 5 == 1) {
		usleep(seed % 7 * 50000);
		close(ctx->cmd_fd);
	}
	if (seed % 5 == 2) {
		usleep(seed % 7 * 50000);
		mmap(arena, ARENA, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	}
	for (i = 0; i < THREADS; i++)
		pthread_join(ids[i], NULL);
	_exit(0);
}

/* What this kernel knows, asked by a process that ends with that. */
static void ask_the_kernel(const char *device, const char *gid)
{
	pid_t pid = fork();
	int wait_status;

	EXPECT(pid >= 0);
	if (!pid) {
		open_device(device, gid);
		ask_for_methods();
		_exit(0);
	}
	EXPECT(waitpid(pid, &wait_status, 0) == pid && !wait_status);
}

/*
 * The arena, the zone of rings, where answers go, and nothing else within 4 GiB
 * of them: an argument of which half is rubbish, or an answer that is longer
 * than there is room for, does not lead into our own memory.
 */
static void reserve(void)
{
	const size_t apart = 4ULL << 30;
	uintptr_t at;

	at = (uintptr_t)mmap(NULL, 4 * apart, PROT_NONE, MAP_PRIVATE |
			     MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	EXPECT(at != (uintptr_t)MAP_FAILED);
	at = (at + 2 * apart) & ~(apart - 1);
	arena = mmap((void *)at, ARENA, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	EXPECT(arena != MAP_FAILED);
	readable = mmap((void *)(at + 2 * ARENA), PAGE, PROT_READ,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	EXPECT(readable != MAP_FAILED);
	zone = (unsigned char *)at + 4 * ARENA;
}

/* Where in the kernel its threads are. */
static void say_stacks(pid_t pid)
{
	char command[64];

	snprintf(command, sizeof(command), "cat /proc/%d/task/*/stack", pid);
	fflush(stdout);
	(void)!system(command);
}

/* Its end; it has to make calls until then. One in three is killed. */
static void watch_life(pid_t pid, uint64_t seed)
{
	unsigned long target = stats->calls + seed * 2654435761u % LIFE;
	unsigned long calls = 0;
	bool kills = seed % 3 == 0;
	double moved = now();
	int wait_status;

	while (!waitpid(pid, &wait_status, WNOHANG)) {
		if (kills && stats->calls >= target) {
			EXPECT(!kill(pid, SIGKILL));
			kills = false;
		}
		if (stats->calls != calls) {
			calls = stats->calls;
			moved = now();
		}
		if (now() - moved > HANG * slow()) {
			printf("the life of seed %lu hangs\n",
			       (unsigned long)seed);
			say_stacks(pid);
			exit(1);
		}
		usleep(2000);
	}
	if (wait_status && !(WIFSIGNALED(wait_status) &&
			     WTERMSIG(wait_status) == SIGKILL &&
			     seed % 3 == 0)) {
		printf("the life of seed %lu ends with %#x\n",
		       (unsigned long)seed, wait_status);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	unsigned long calls;
	uint64_t seed, first;
	pid_t pid;

	if (argc < 5)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	calls = arg_number(argv[3]);
	first = seed = arg_number(argv[4]);
	stats = mmap(NULL, sizeof(*stats), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	EXPECT(stats != MAP_FAILED);
	bystander_forks(argv[1], argv[2]);
	reserve();
	stats->no_dmabuf = access("/dev/udmabuf", F_OK);
	if (!stats->no_dmabuf)
		dmabuf = make_udmabuf(16 * PAGE);

	ask_the_kernel(argv[1], argv[2]);

	for (; stats->calls < calls; seed++) {
		pid = fork();
		EXPECT(pid >= 0);
		if (!pid)
			one_life(argv[1], argv[2], seed);
		watch_life(pid, seed);
		bystander_is_well();
	}
	printf("%lu calls in %lu lives, seeds %lu to %lu; the bystander has sent %lu messages\n",
	       stats->calls, (unsigned long)(seed - first),
	       (unsigned long)first, (unsigned long)seed - 1,
	       bystander_stops());
	report();
	if (argc > 5)
		report_calls();
	return calls < ENOUGH ? 0 : judge();
}
