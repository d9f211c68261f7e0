// SPDX-License-Identifier: GPL-2.0
/*
 * confine CMD [ARG...]: runs CMD, which cannot make a setuid file: an attempt
 * ends with EPERM. QEMU makes the files of /results for its guests, as root.
 * What would make a device node or give a file capabilities is a capability
 * that QEMU runs without (run.sh).
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef __NR_fchmodat2
#define __NR_fchmodat2	452
#endif

#define LENGTH(array)	(sizeof(array) / sizeof((array)[0]))

/* System calls that set a mode, and which of their arguments it is. */
static const struct {
	unsigned int nr;
	unsigned int arg;
} calls[] = {
	{ __NR_chmod, 1 },
	{ __NR_fchmod, 1 },
	{ __NR_fchmodat, 2 },
	{ __NR_fchmodat2, 2 },
	{ __NR_creat, 1 },
	{ __NR_open, 2 },
	{ __NR_openat, 3 },
	{ __NR_mknod, 1 },
	{ __NR_mknodat, 2 },
};

#define LOAD(offset)	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (offset))
#define RETURN(value)	BPF_STMT(BPF_RET | BPF_K, (value))
#define DATA(member)	offsetof(struct seccomp_data, member)

/* Three instructions check the ABI, four each call; two are the verdicts. */
static struct sock_filter code[3 + 4 * LENGTH(calls) + 2];
static unsigned short len;

static void add(struct sock_filter instruction)
{
	code[len++] = instruction;
}

/* The low half of an argument is all of a mode. */
static void write_filter(void)
{
	unsigned int refuse;
	size_t i;

	add((struct sock_filter)LOAD(DATA(arch)));
	add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
					 AUDIT_ARCH_X86_64, 1, 0));
	add((struct sock_filter)RETURN(SECCOMP_RET_ERRNO | EPERM));
	for (i = 0; i < LENGTH(calls); i++) {
		/* From the last of these four to the last of all. */
		refuse = 4 * (LENGTH(calls) - 1 - i) + 1;
		add((struct sock_filter)LOAD(DATA(nr)));
		add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
						 calls[i].nr, 0, 2));
		add((struct sock_filter)LOAD(DATA(args) + 8 * calls[i].arg));
		add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K,
						 S_ISUID, refuse, 0));
	}
	add((struct sock_filter)RETURN(SECCOMP_RET_ALLOW));
	add((struct sock_filter)RETURN(SECCOMP_RET_ERRNO | EPERM));
}

int main(int argc, char **argv)
{
	struct sock_fprog program = { .filter = code };

	if (argc < 2) {
		fprintf(stderr, "usage: confine CMD [ARG...]\n");
		return 2;
	}
	write_filter();
	program.len = len;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		perror("confine");
		return 126;
	}
	execvp(argv[1], argv + 1);
	perror(argv[1]);
	return 127;
}
