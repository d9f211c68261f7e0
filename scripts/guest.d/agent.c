// SPDX-License-Identifier: GPL-2.0
/*
 * The guest bench's messenger: runs commands in guests.
 *
 *   agent serve NODE SOCKET [UPLINK]   one per guest, and one on the host
 *   agent call SOCKET NODE [-i] [-t] [-C DIR] COMMAND [ARG...]
 *
 * The host's agent is node 0, the hub: QEMU connects every guest's virtio
 * serial port to its socket. A guest's agent is process 1 there; it speaks to
 * the hub through that port (UPLINK) and to programs of the guest through a
 * socket of its own. So any node runs a command on any other, without a
 * network, and any number of commands may run at once.
 *
 * Everything that travels is a frame: a header and a payload. A command is
 * known by the node that asked for it and a number that node's agent gave it.
 *
 * "call" gives one argument to the shell and executes several as they are. It
 * passes on output, error output and, with -i, input (-t: on a terminal), and
 * ends with the command's exit status, 128 + signal, or 255 when the node
 * cannot be reached. The command runs in DIR, else in the caller's directory
 * if the node has it. When "call" is killed, its command gets a SIGTERM.
 *
 * The hub reports on its standard output, a line each: "up NODE", "down NODE".
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#define MAX_CONNS	128
#define MAX_JOBS	128
#define MAX_PAYLOAD	(1 << 20)
#define CHUNK		16384
#define UNREACHABLE	255

/* Above this many unsent bytes, commands' output and input is not read. */
#define PENDING_HIGH	(1 << 20)

enum frame_type {
	FRAME_HELLO,		/* guest to hub: this connection leads to me */
	FRAME_RUN,		/* payload: struct run_opts, cwd\0, arg\0... */
	FRAME_IN,		/* input of the command; empty: end of it */
	FRAME_OUT,
	FRAME_ERR,
	FRAME_EXIT,		/* payload: one byte of exit status */
	FRAME_HANGUP,		/* nobody waits for the command any more */
};

struct frame {
	uint8_t type;
	uint8_t to;
	uint8_t from;
	uint8_t unused;
	uint32_t job;		/* given by the agent of the asking node */
	uint32_t len;		/* of the payload that follows, in bytes */
};

struct run_opts {
	uint8_t terminal;
	uint8_t input;
	uint16_t rows;
	uint16_t cols;
};

struct buffer {
	char *data;
	size_t len;
	size_t cap;
};

/* A framed stream: a client, the uplink, or (at the hub) a guest. */
struct conn {
	int fd;			/* -1: free slot */
	int node;		/* the guest it leads to, -1 for a client */
	uint32_t job;		/* client: the command it waits for, 0: none */
	int target;		/* client: where that command runs */
	struct buffer in;
	struct buffer out;
};

/* A command that runs on this node. */
struct job {
	pid_t pid;		/* 0: free slot */
	int from;		/* who asked, and the number given there */
	uint32_t id;
	int in, out, err;	/* our ends, -1 when closed */
	bool in_ends;		/* close in once in_buf is written */
	struct buffer in_buf;
};

static struct conn conns[MAX_CONNS];
static struct job jobs[MAX_JOBS];
static int self;
static struct conn *uplink;
static size_t pending;

static void die(const char *what)
{
	fprintf(stderr, "guest agent: %s: %s\n", what, strerror(errno));
	exit(UNREACHABLE);
}

static void buffer_add(struct buffer *b, const void *data, size_t len)
{
	if (b->len + len > b->cap) {
		b->cap = (b->len + len) * 2;
		b->data = realloc(b->data, b->cap);
		if (!b->data)
			die("out of memory");
	}
	memcpy(b->data + b->len, data, len);
	b->len += len;
}

static void buffer_drop(struct buffer *b, size_t len)
{
	b->len -= len;
	memmove(b->data, b->data + len, b->len);
}

static void buffer_free(struct buffer *b)
{
	free(b->data);
	*b = (struct buffer) {};
}

static void set_nonblock(int fd)
{
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

static void close_end(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static int unix_socket(const char *path, struct sockaddr_un *addr)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		die("socket");
	*addr = (struct sockaddr_un) { .sun_family = AF_UNIX };
	if (strlen(path) >= sizeof(addr->sun_path)) {
		errno = ENAMETOOLONG;
		die(path);
	}
	strcpy(addr->sun_path, path);
	return fd;
}

/* Connections */

static struct conn *conn_new(int fd)
{
	for (struct conn *c = conns; c < conns + MAX_CONNS; c++) {
		if (c->fd >= 0)
			continue;
		*c = (struct conn) { .fd = fd, .node = -1 };
		set_nonblock(fd);
		return c;
	}
	close(fd);
	return NULL;
}

static void conn_send(struct conn *c, const struct frame *f, const void *data)
{
	buffer_add(&c->out, f, sizeof(*f));
	buffer_add(&c->out, data, f->len);
	pending += sizeof(*f) + f->len;
}

static struct conn *conn_to_node(int node)
{
	if (uplink)
		return uplink;
	for (struct conn *c = conns; c < conns + MAX_CONNS; c++)
		if (c->fd >= 0 && c->node == node)
			return c;
	return NULL;
}

static struct conn *conn_of_job(uint32_t id)
{
	for (struct conn *c = conns; c < conns + MAX_CONNS; c++)
		if (c->fd >= 0 && c->node < 0 && c->job == id)
			return c;
	return NULL;
}

static void deliver(const struct frame *f, const char *data);

/* Sends one frame of this node's own making on its way. */
static void post(int type, int to, uint32_t job, const void *data, size_t len)
{
	struct frame f = {
		.type = type, .to = to, .from = self, .job = job, .len = len,
	};

	deliver(&f, data);
}

/* Answers in the name of a node that is not there. */
static void refuse(const struct frame *f)
{
	static const char why[] = "guest agent: no such guest is up\n";
	uint8_t status = UNREACHABLE;
	struct frame r = {
		.type = FRAME_ERR, .to = f->from, .from = f->to,
		.job = f->job, .len = sizeof(why) - 1,
	};

	if (f->type != FRAME_RUN)
		return;
	deliver(&r, why);
	r.type = FRAME_EXIT;
	r.len = 1;
	deliver(&r, (char *)&status);
}

/* Commands of this node */

static struct job *job_find(int from, uint32_t id)
{
	for (struct job *j = jobs; j < jobs + MAX_JOBS; j++)
		if (j->pid && j->from == from && j->id == id)
			return j;
	return NULL;
}

/* In the child: becomes the command. args: cwd\0 arg\0 arg\0 ... */
static void job_exec(const char *args, size_t len)
{
	const char *end = args + len;
	char *argv[256];
	sigset_t none;
	int argc = 0;

	if (chdir(args) < 0 && chdir("/") < 0)
		_exit(126);
	for (args += strlen(args) + 1; args < end && argc < 255;
	     args += strlen(args) + 1)
		argv[argc++] = (char *)args;
	argv[argc] = NULL;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	if (argc == 1)
		execl("/bin/bash", "bash", "-c", argv[0], NULL);
	else if (argc > 1)
		execvp(argv[0], argv);
	fprintf(stderr, "%s: %s\n", argc ? argv[0] : "?", strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

static bool job_fork_terminal(struct job *j, const struct run_opts *o)
{
	struct winsize size = { .ws_row = o->rows, .ws_col = o->cols };
	int fd;

	j->pid = forkpty(&fd, NULL, NULL, &size);
	if (j->pid <= 0)
		return j->pid == 0;
	j->in = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	j->out = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	close(fd);
	return false;
}

static bool job_fork_pipes(struct job *j, const struct run_opts *o)
{
	int in[2], out[2], err[2];

	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC) ||
	    pipe2(err, O_CLOEXEC))
		die("pipe");
	j->pid = fork();
	if (!j->pid) {
		setsid();
		dup2(in[0], 0);
		dup2(out[1], 1);
		dup2(err[1], 2);
		return true;
	}
	close(in[0]);
	close(out[1]);
	close(err[1]);
	j->in = in[1];
	j->out = out[0];
	j->err = err[0];
	if (!o->input)
		close_end(&j->in);
	return false;
}

static void job_start(const struct frame *f, const char *data)
{
	const struct run_opts *o = (const void *)data;
	struct job *j = jobs;
	bool child;

	while (j < jobs + MAX_JOBS && j->pid)
		j++;
	if (j == jobs + MAX_JOBS || f->len < sizeof(*o) + 2 ||
	    data[f->len - 1]) {
		refuse(f);
		return;
	}
	*j = (struct job) {
		.from = f->from, .id = f->job, .in = -1, .out = -1, .err = -1,
	};
	child = o->terminal ? job_fork_terminal(j, o) : job_fork_pipes(j, o);
	if (child)
		job_exec(data + sizeof(*o), f->len - sizeof(*o));
	if (j->pid < 0)
		die("fork");
	for (int *fd = &j->in; fd <= &j->err; fd++)
		if (*fd >= 0)
			set_nonblock(*fd);
}

/* Takes what the command wrote; closes the end when there will be no more. */
static bool job_read(struct job *j, int *fd, int type)
{
	char data[CHUNK];
	ssize_t n = read(*fd, data, sizeof(data));

	if (n > 0) {
		post(type, j->from, j->id, data, n);
		return true;
	}
	if (n == 0 || errno != EAGAIN)
		close_end(fd);
	return false;
}

static void job_write(struct job *j)
{
	ssize_t n = write(j->in, j->in_buf.data, j->in_buf.len);

	if (n > 0) {
		buffer_drop(&j->in_buf, n);
	} else if (n < 0 && errno != EAGAIN) {
		/* The command does not read any more. */
		j->in_ends = true;
		j->in_buf.len = 0;
	}
	if (j->in_ends && !j->in_buf.len)
		close_end(&j->in);
}

static void job_input(struct job *j, const char *data, size_t len)
{
	if (j->in < 0)
		return;
	if (len)
		buffer_add(&j->in_buf, data, len);
	else
		j->in_ends = true;
	job_write(j);
}

/*
 * The command has ended: what it has written goes first, then its status.
 * A background process it leaves behind loses its output here.
 */
static void job_end(struct job *j, int wstatus)
{
	uint8_t status = WIFSIGNALED(wstatus) ? 128 + WTERMSIG(wstatus) :
						WEXITSTATUS(wstatus);

	while (j->out >= 0 && job_read(j, &j->out, FRAME_OUT))
		;
	while (j->err >= 0 && job_read(j, &j->err, FRAME_ERR))
		;
	for (int *fd = &j->in; fd <= &j->err; fd++)
		close_end(fd);
	buffer_free(&j->in_buf);
	post(FRAME_EXIT, j->from, j->id, &status, 1);
	j->pid = 0;
}

/* A guest's agent is process 1: it also buries the orphans. */
static void reap(void)
{
	int wstatus;
	pid_t pid;

	while ((pid = waitpid(-1, &wstatus, WNOHANG)) > 0)
		for (struct job *j = jobs; j < jobs + MAX_JOBS; j++)
			if (j->pid == pid)
				job_end(j, wstatus);
}

/* Routing */

static void deliver_here(const struct frame *f, const char *data)
{
	struct conn *c;
	struct job *j;

	switch (f->type) {
	case FRAME_RUN:
		job_start(f, data);
		break;
	case FRAME_IN:
		j = job_find(f->from, f->job);
		if (j)
			job_input(j, data, f->len);
		break;
	case FRAME_HANGUP:
		j = job_find(f->from, f->job);
		if (j)
			kill(-j->pid, SIGTERM);
		break;
	default:
		c = conn_of_job(f->job);
		if (!c)
			break;
		conn_send(c, f, data);
		if (f->type == FRAME_EXIT)
			c->job = 0;
	}
}

static void deliver(const struct frame *f, const char *data)
{
	struct conn *c;

	if (f->to == self) {
		deliver_here(f, data);
		return;
	}
	c = conn_to_node(f->to);
	if (c)
		conn_send(c, f, data);
	else
		refuse(f);
}

/* A whole frame came in on this connection. */
static void receive(struct conn *c, struct frame *f, const char *data)
{
	static uint32_t last_job;

	if (f->type == FRAME_HELLO) {
		c->node = f->from;
		printf("up %d\n", c->node);
		fflush(stdout);
		return;
	}
	if (c->node < 0 && c != uplink) {
		if (f->type == FRAME_RUN) {
			c->job = ++last_job;
			c->target = f->to;
		}
		f->from = self;
		f->to = c->target;
		f->job = c->job;
	}
	deliver(f, data);
}

/* The guests a dead connection led to take their commands with them. */
static void lose_node(int node)
{
	uint8_t status = UNREACHABLE;
	struct frame f = {
		.type = FRAME_EXIT, .to = self, .from = node, .len = 1,
	};

	printf("down %d\n", node);
	fflush(stdout);
	for (struct conn *c = conns; c < conns + MAX_CONNS; c++) {
		if (c->fd < 0 || c->node >= 0 || !c->job || c->target != node)
			continue;
		f.job = c->job;
		deliver_here(&f, (char *)&status);
	}
}

static void conn_close(struct conn *c)
{
	int node = c->node;

	if (c == uplink) {
		errno = EPIPE;
		die("the host is gone");
	}
	if (node < 0 && c->job)
		post(FRAME_HANGUP, c->target, c->job, "", 0);
	pending -= c->out.len;
	buffer_free(&c->in);
	buffer_free(&c->out);
	close_end(&c->fd);
	if (node >= 0)
		lose_node(node);
}

static void conn_read(struct conn *c)
{
	struct frame f;
	char data[CHUNK];
	ssize_t n = read(c->fd, data, sizeof(data));
	size_t at = 0;

	if (n <= 0) {
		if (n == 0 || (errno != EAGAIN && errno != EINTR))
			conn_close(c);
		return;
	}
	buffer_add(&c->in, data, n);
	while (c->in.len - at >= sizeof(f)) {
		memcpy(&f, c->in.data + at, sizeof(f));
		if (f.len > MAX_PAYLOAD) {
			conn_close(c);
			return;
		}
		if (c->in.len - at < sizeof(f) + f.len)
			break;
		receive(c, &f, c->in.data + at + sizeof(f));
		at += sizeof(f) + f.len;
	}
	buffer_drop(&c->in, at);
}

static void conn_write(struct conn *c)
{
	ssize_t n = write(c->fd, c->out.data, c->out.len);

	if (n > 0) {
		buffer_drop(&c->out, n);
		pending -= n;
	} else if (errno != EAGAIN && errno != EINTR) {
		conn_close(c);
	}
}

/* "agent serve" */

static int listen_on(const char *path)
{
	struct sockaddr_un addr;
	int fd = unix_socket(path, &addr);

	unlink(path);
	if (bind(fd, (void *)&addr, sizeof(addr)) || listen(fd, 64))
		die(path);
	return fd;
}

static void open_uplink(const char *path)
{
	struct frame hello = { .type = FRAME_HELLO, .from = self };
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		die(path);
	uplink = conn_new(fd);
	conn_send(uplink, &hello, "");
}

static int watch_children(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

struct poll_set {
	struct pollfd fds[2 + MAX_CONNS + 3 * MAX_JOBS];
	int n;
};

static struct pollfd *watch(struct poll_set *p, int fd, short events)
{
	p->fds[p->n] = (struct pollfd) { .fd = fd, .events = events };
	return &p->fds[p->n++];
}

static bool ready(struct poll_set *p, int fd, short events)
{
	for (int i = 0; fd >= 0 && i < p->n; i++)
		if (p->fds[i].fd == fd)
			return p->fds[i].revents & (events | POLLERR);
	return false;
}

/* Guests are always listened to; clients and commands while we can send. */
static void watch_all(struct poll_set *p)
{
	bool full = pending > PENDING_HIGH;

	for (struct conn *c = conns; c < conns + MAX_CONNS; c++) {
		bool from_node = c->node >= 0 || c == uplink;
		short events = from_node || !full ? POLLIN : 0;

		if (c->fd >= 0)
			watch(p, c->fd, c->out.len ? events | POLLOUT : events);
	}
	for (struct job *j = jobs; j < jobs + MAX_JOBS; j++) {
		if (!j->pid)
			continue;
		if (j->in >= 0 && j->in_buf.len)
			watch(p, j->in, POLLOUT);
		if (j->out >= 0 && !full)
			watch(p, j->out, POLLIN);
		if (j->err >= 0 && !full)
			watch(p, j->err, POLLIN);
	}
}

static void serve_all(struct poll_set *p)
{
	for (struct conn *c = conns; c < conns + MAX_CONNS; c++) {
		if (ready(p, c->fd, POLLOUT) && c->out.len)
			conn_write(c);
		if (ready(p, c->fd, POLLIN | POLLHUP))
			conn_read(c);
	}
	for (struct job *j = jobs; j < jobs + MAX_JOBS; j++) {
		if (!j->pid)
			continue;
		if (ready(p, j->in, POLLOUT))
			job_write(j);
		if (ready(p, j->out, POLLIN | POLLHUP))
			job_read(j, &j->out, FRAME_OUT);
		if (ready(p, j->err, POLLIN | POLLHUP))
			job_read(j, &j->err, FRAME_ERR);
	}
}

static _Noreturn void serve(int node, const char *path, const char *port)
{
	static struct poll_set p;
	int listener, children;

	self = node;
	signal(SIGPIPE, SIG_IGN);
	for (struct conn *c = conns; c < conns + MAX_CONNS; c++)
		c->fd = -1;
	children = watch_children();
	listener = listen_on(path);
	if (port)
		open_uplink(port);
	for (;;) {
		struct signalfd_siginfo info;
		int fd;

		p.n = 0;
		watch(&p, listener, POLLIN);
		watch(&p, children, POLLIN);
		watch_all(&p);
		if (poll(p.fds, p.n, -1) < 0 && errno != EINTR)
			die("poll");
		serve_all(&p);
		if (read(children, &info, sizeof(info)) > 0)
			reap();
		if (!ready(&p, listener, POLLIN))
			continue;
		fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd >= 0)
			conn_new(fd);
	}
}

/* "agent call" */

static struct termios saved_terminal;
static const char *call_dir;

static void terminal_restore(void)
{
	tcsetattr(0, TCSANOW, &saved_terminal);
}

static void terminal_raw(struct run_opts *o)
{
	struct termios raw;
	struct winsize size;

	if (!ioctl(0, TIOCGWINSZ, &size)) {
		o->rows = size.ws_row;
		o->cols = size.ws_col;
	}
	if (tcgetattr(0, &saved_terminal))
		return;
	raw = saved_terminal;
	cfmakeraw(&raw);
	atexit(terminal_restore);
	tcsetattr(0, TCSANOW, &raw);
}

static void write_whole(int fd, const void *data, size_t len)
{
	const char *at = data;

	while (len) {
		ssize_t n = write(fd, at, len);

		if (n < 0 && errno != EINTR)
			exit(UNREACHABLE);
		if (n > 0) {
			at += n;
			len -= n;
		}
	}
}

static bool read_whole(int fd, void *data, size_t len)
{
	char *at = data;

	while (len) {
		ssize_t n = read(fd, at, len);

		if (n == 0 || (n < 0 && errno != EINTR))
			return false;
		if (n > 0) {
			at += n;
			len -= n;
		}
	}
	return true;
}

static void call_send(int fd, int type, const void *data, size_t len)
{
	struct frame f = { .type = type, .len = len };

	write_whole(fd, &f, sizeof(f));
	write_whole(fd, data, len);
}

static void call_run(int fd, int node, const struct run_opts *o, char **argv)
{
	struct frame f = { .type = FRAME_RUN, .to = node };
	struct buffer b = {};
	char cwd[4096];

	if (!getcwd(cwd, sizeof(cwd)))
		strcpy(cwd, "/");
	if (call_dir)
		snprintf(cwd, sizeof(cwd), "%s", call_dir);
	buffer_add(&b, o, sizeof(*o));
	buffer_add(&b, cwd, strlen(cwd) + 1);
	for (; *argv; argv++)
		buffer_add(&b, *argv, strlen(*argv) + 1);
	f.len = b.len;
	write_whole(fd, &f, sizeof(f));
	write_whole(fd, b.data, b.len);
	buffer_free(&b);
}

/* Handles one frame of the command's; returns false after its last. */
static bool call_receive(int fd, int *status)
{
	static char data[MAX_PAYLOAD];
	struct frame f;

	*status = UNREACHABLE;
	if (!read_whole(fd, &f, sizeof(f)) || f.len > sizeof(data) ||
	    !read_whole(fd, data, f.len))
		return false;
	if (f.type == FRAME_EXIT)
		*status = (uint8_t)data[0];
	else
		write_whole(f.type == FRAME_OUT ? 1 : 2, data, f.len);
	return f.type != FRAME_EXIT;
}

static int call(const char *path, int node, struct run_opts *o, char **argv)
{
	struct sockaddr_un addr;
	int fd = unix_socket(path, &addr);
	struct pollfd fds[] = {
		{ .fd = fd, .events = POLLIN },
		{ .fd = o->input ? 0 : -1, .events = POLLIN },
	};
	int status;

	if (connect(fd, (void *)&addr, sizeof(addr)))
		die(path);
	if (o->terminal)
		terminal_raw(o);
	call_run(fd, node, o, argv);
	for (;;) {
		char data[CHUNK];

		if (poll(fds, 2, -1) < 0)
			continue;
		if (fds[0].revents && !call_receive(fd, &status))
			return status;
		if (fds[1].revents) {
			ssize_t n = read(0, data, sizeof(data));

			call_send(fd, FRAME_IN, data, n > 0 ? n : 0);
			if (n <= 0)
				fds[1].fd = -1;
		}
	}
}

int main(int argc, char **argv)
{
	struct run_opts o = {};
	char **arg = argv + 4;

	if (argc >= 4 && !strcmp(argv[1], "serve"))
		serve(atoi(argv[2]), argv[3], argv[4]);
	if (argc < 5 || strcmp(argv[1], "call")) {
		fprintf(stderr, "usage: see the head of agent.c\n");
		return UNREACHABLE;
	}
	for (; *arg && **arg == '-'; arg++) {
		if (!strcmp(*arg, "-C") && arg[1]) {
			call_dir = *++arg;
			continue;
		}
		o.input = 1;
		o.terminal |= !strcmp(*arg, "-t");
	}
	return call(argv[2], atoi(argv[3]), &o, arg);
}
