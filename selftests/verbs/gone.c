// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that goes while it is sent: a part of the message is on its way, in
 * trains, another is still to be sent. gone.sh builds and runs it:
 *
 *	gone NEAR GID_INDEX FAR GID_INDEX INTERFACE OPERATION HARM
 *
 * What NEAR sends, or answers a READ of FAR with, leaves by INTERFACE, where it
 * waits for a while.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "../lib/two.h"
#include "../lib/statistic.h"

#define LEN		(2 << 20)
#define SECRETS		(16 << 20)
#define SEED		11
#define UNTOUCHED	0xee
#define SECRET		0x5a

static void give_memory(struct end *end, int rights)
{
	end->fd = memfd_create("message", MFD_CLOEXEC);
	EXPECT(end->fd >= 0 && !ftruncate(end->fd, LEN));
	end->bytes = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_SHARED,
			  end->fd, 0);
	EXPECT(end->bytes != MAP_FAILED);
	end->mr = ibv_reg_mr(end->pd, end->bytes, LEN, RIGHTS | rights);
	EXPECT(end->mr);
}

static void take_memory(struct end *end)
{
	EXPECT(!end->mr || !ibv_dereg_mr(end->mr));
	EXPECT(!end->bytes || !munmap(end->bytes, LEN));
	EXPECT(!close(end->fd));
	end->mr = NULL;
	end->bytes = NULL;
}

/*
 * What may be done to the source. What is given back by that is soon somebody
 * else's, with a secret in it.
 */
static void unmapped(void)
{
	EXPECT(!munmap(near.bytes, LEN));
	near.bytes = NULL;
}

static void truncated(void)
{
	EXPECT(!ftruncate(near.fd, 0));
}

static void deregistered(void)
{
	EXPECT(!ibv_dereg_mr(near.mr));
	near.mr = NULL;
	unmapped();
	truncated();
}

static const struct harm {
	const char *name;
	void (*harm)(void);
	int rights;
	bool may_fail;
} harms[] = {
	{ "unmapped", unmapped, 0, false },
	{ "truncated", truncated, 0, false },
	{ "deregistered", deregistered, 0, true },
	{ "unmapped_on_demand", unmapped, IBV_ACCESS_ON_DEMAND, true },
	{ "truncated_on_demand", truncated, IBV_ACCESS_ON_DEMAND, true },
	{ .name = NULL }
};

static const struct operation {
	const char *name;
	enum ibv_wr_opcode opcode;
	enum ibv_wc_status error;
} operations[] = {
	{ "write", IBV_WR_RDMA_WRITE, IBV_WC_LOC_PROT_ERR },
	{ "send", IBV_WR_SEND, IBV_WC_LOC_PROT_ERR },
	{ "read", IBV_WR_RDMA_READ, IBV_WC_REM_ACCESS_ERR },
	{ .name = NULL }
};

/* Packets that wait to leave by the interface. */
static unsigned int backlog(const char *interface)
{
	unsigned int packets = 0;
	char command[128];
	FILE *said;

	snprintf(command, sizeof(command), "tc -s qdisc show dev %s |"
		 " sed -n 's/.* backlog [^ ]* \\([0-9]*\\)p .*/\\1/p'",
		 interface);
	said = popen(command, "r");
	EXPECT(said && fscanf(said, "%u", &packets) == 1);
	pclose(said);
	return packets;
}

static struct end *begin(const struct operation *op)
{
	struct end *who = op->opcode == IBV_WR_RDMA_READ ? &far : &near;
	struct end *peer = who == &far ? &near : &far;
	struct ibv_sge sge = { (uintptr_t)who->bytes, LEN, who->mr->lkey };
	struct ibv_sge to = { (uintptr_t)peer->bytes, LEN, peer->mr->lkey };
	struct ibv_recv_wr *bad_recv, recv = { .sg_list = &to, .num_sge = 1 };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = op->opcode,
		.wr.rdma = { (uintptr_t)peer->bytes, peer->mr->rkey },
	};

	if (op->opcode == IBV_WR_SEND)
		EXPECT(!ibv_post_recv(far.qp, &recv, &bad_recv));
	EXPECT(!ibv_post_send(who->qp, &wr, &bad));
	return who;
}

/* Bytes of the message that have come, in front of which nothing lacks. */
static size_t came(void)
{
	size_t n, rest;

	for (n = 0; n < LEN; n++)
		if (far.bytes[n] != near.bytes[n])
			break;
	for (rest = n; rest < LEN; rest++)
		if (far.bytes[rest] != UNTOUCHED) {
			printf("%zu bytes are right, but byte %zu is 0x%02x\n",
			       n, rest, far.bytes[rest]);
			exit(1);
		}
	return n;
}

/* So many trains have left, and some of it waits on the way. */
static void until_under_way(const struct statistic *before, unsigned int trains,
			    const char *interface)
{
	double end = now() + 20 * slow();
	struct statistic after;

	do {
		EXPECT(now() < end);
		statistic_read(&after);
	} while (statistic_since(before, &after, "tx_trains") < trains ||
		 !backlog(interface));
}

/*
 * What was on the way has come or is lost, and no more comes: an error is told
 * while trains that left before it are still to arrive.
 */
static void until_quiet(const char *interface)
{
	double end = now() + 20 * slow();

	while (backlog(interface))
		EXPECT(now() < end);
	EXPECT(!ibv_destroy_qp(near.qp) && !ibv_destroy_qp(far.qp));
}

/* Memory that is new gets the secret. */
static void spread_secrets(void)
{
	void *at = mmap(NULL, SECRETS, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	EXPECT(at != MAP_FAILED);
	memset(at, SECRET, SECRETS);
	EXPECT(!munmap(at, SECRETS));
}

static void round_of(const struct operation *op, const struct harm *harm,
		     unsigned int trains, const char *interface)
{
	static uint8_t source[LEN];
	struct statistic before;
	enum ibv_wc_status how;
	struct end *who;
	size_t n;

	make_qps();
	give_memory(&near, harm->rights);
	give_memory(&far, 0);
	fill(source, LEN, SEED);
	memcpy(near.bytes, source, LEN);
	memset(far.bytes, UNTOUCHED, LEN);

	statistic_read(&before);
	who = begin(op);
	until_under_way(&before, trains, interface);
	harm->harm();
	spread_secrets();
	how = next_wc(who->cq).status;
	until_quiet(interface);

	/* What has come is compared with what it was before. */
	if (near.bytes)
		EXPECT(!munmap(near.bytes, LEN));
	near.bytes = source;
	n = came();
	near.bytes = NULL;
	printf("%s after %u trains: %s, %zu KiB came\n", harm->name, trains,
	       ibv_wc_status_str(how), n >> 10);
	EXPECT(how == IBV_WC_SUCCESS ? n == LEN :
	       harm->may_fail && how == op->error);

	take_memory(&near);
	take_memory(&far);
}

int main(int argc, char **argv)
{
	static const unsigned int moments[] = { 1, 2, 12 };
	const struct operation *op = operations;
	const struct harm *harm = harms;
	size_t i;

	if (argc != 8)
		return 2;
	while (op->name && strcmp(op->name, argv[6]))
		op++;
	while (harm->name && strcmp(harm->name, argv[7]))
		harm++;
	if (!op->name || !harm->name)
		return 2;

	/* The answer is late by what the interface keeps the message. */
	qp_timeout = 19;
	open_end(&near, argv[1], argv[2]);
	open_end(&far, argv[3], argv[4]);
	statistic_open(argv[1]);
	for (i = 0; i < sizeof(moments) / sizeof(moments[0]); i++)
		round_of(op, harm, moments[i], argv[5]);
	return 0;
}
