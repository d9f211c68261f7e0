/* SPDX-License-Identifier: GPL-2.0 */
/* Makes calls as calls.h describes them, and remembers what they made. */
#ifndef FRDMA_TEST_CALL_H
#define FRDMA_TEST_CALL_H

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "chance.h"
#include "stats.h"

#define ANSWERS		(4 * PAGE)
#define ANSWER_ROOM	256		/* of one attribute */

/**
 * struct sent - a call that was made
 * @body: of a command, without its header
 * @attrs: of a method, nr_attrs of them
 * @driver: our part of the answer
 */
struct sent {
	const struct call *call;
	const void *body;
	const struct ib_uverbs_attr *attrs;
	int nr_attrs;
	const unsigned char *answer, *driver;
};

/* The file of a dma-buf. */
static int dmabuf = -1;

/* What this life has. */
static bool has_groups;

/*
 * In one life queue pairs join groups, in the next those that are there are
 * opened again: ib_uverbs_open_qp() (Linux 6.12; the core's) does not initialise
 * the lock of the new object's groups, and two threads that meet there may end
 * the kernel.
 */
static bool is_of_another_life(uint32_t command)
{
	switch (command) {
	case IB_USER_VERBS_CMD_OPEN_QP:
		return has_groups;
	case IB_USER_VERBS_CMD_ATTACH_MCAST:
	case IB_USER_VERBS_CMD_DETACH_MCAST:
		return !has_groups;
	default:
		return false;
	}
}

/*
 * Objects
 */

/*
 * Some object of a kind becomes the one in use; its handle, or rubbish. Of
 * domains it is mostly the first, so that much belongs together.
 */
static uint32_t pick(struct thread *me, enum kind kind)
{
	bool domain = kind == PD || kind == XRCD;
	int slot;

	pthread_mutex_lock(&tables[kind].lock);
	slot = table_find(kind, domain && !once_in(me, 4) ? 0 :
				below(me, SLOTS));
	me->slot[kind] = slot;
	if (slot >= 0)
		me->picked[kind] = tables[kind].objects[slot];
	pthread_mutex_unlock(&tables[kind].lock);
	return slot < 0 ? below(me, 8) : me->picked[kind].handle;
}

static void map_rings(enum kind kind, int slot, const void *driver)
{
	const struct frdma_dm_desc *dm = driver;
	const struct frdma_ring_desc *desc = driver;
	struct frdma_ring_desc of_dm;

	if (!driver)
		return;
	if (kind == DM) {
		of_dm = (struct frdma_ring_desc) {
			.mmap_offset = dm->mmap_offset,
			.mmap_size = dm->mmap_size,
		};
		desc = &of_dm;
	}
	ring_map(kind, slot, 0, ctx->cmd_fd, desc);
	if (kind == QP)
		ring_map(kind, slot, 1, ctx->cmd_fd, desc + 1);
}

static void drop_rings(enum kind kind, int slot)
{
	if (kind > DM)
		return;
	ring_unmap(kind, slot, 0);
	ring_unmap(kind, slot, 1);
}

/* If there is no room it is left to its fate, which is the end of this life. */
static void remember(struct thread *me, enum kind kind, struct object object,
		     const void *driver)
{
	int slot;

	pthread_mutex_lock(&tables[kind].lock);
	slot = table_free_slot(kind);
	me->slot[kind] = slot;
	if (slot >= 0) {
		object.used = true;
		tables[kind].objects[slot] = object;
		if (kind <= DM)
			map_rings(kind, slot, driver);
		me->picked[kind] = tables[kind].objects[slot];
	}
	pthread_mutex_unlock(&tables[kind].lock);
}

/* Changes what is known of the object in use; it may be another by now. */
static struct object *lock_picked(struct thread *me, enum kind kind)
{
	int slot = me->slot[kind];
	struct object *object;

	pthread_mutex_lock(&tables[kind].lock);
	if (slot < 0)
		return NULL;
	object = &tables[kind].objects[slot];
	if (!object->used || object->handle != me->picked[kind].handle)
		return NULL;
	return object;
}

static void unlock(enum kind kind)
{
	pthread_mutex_unlock(&tables[kind].lock);
}

/* Now and then one that is gone is kept in mind. */
static void forget(struct thread *me, enum kind kind)
{
	struct object *object = lock_picked(me, kind);

	if (object && !once_in(me, 16)) {
		drop_rings(kind, object - tables[kind].objects);
		object->used = false;
	}
	unlock(kind);
}

/*
 * Arguments
 */

static uint64_t value(struct thread *me, const struct field *field)
{
	switch (field->how) {
	case IS:
		return field->arg;
	case BELOW:
		return below(me, field->arg);
	case BITS:
		return any(me) & field->arg;
	case COUNT:
		return 1 + below(me, field->arg);
	case HANDLE:
		return pick(me, field->arg);
	case DMABUF:
		return dmabuf;
	case FILE_OF:
		return once_in(me, 2) ? -1LL : (int64_t)pick(me, field->arg);
	case ADDRESS:
		return address(me);
	default:
		return 0;
	}
}

static void put(void *body, const struct field *field, uint64_t value)
{
	memcpy((char *)body + field->at, &value, field->size);
}

static uint32_t told(const struct sent *sent, uint16_t at)
{
	uint32_t number = 0;
	int i;

	if (!at)
		return 0;
	if (sent->body) {
		memcpy(&number, sent->answer + at, sizeof(number));
		return number;
	}
	for (i = 0; i < sent->nr_attrs; i++)
		if (sent->attrs[i].attr_id == at)
			memcpy(&number, sent->answer + i * ANSWER_ROOM,
			       sizeof(number));
	return number;
}

static uint64_t attribute(const struct sent *sent, uint16_t id)
{
	int i;

	for (i = 0; i < sent->nr_attrs; i++)
		if (sent->attrs[i].attr_id == id)
			return sent->attrs[i].data;
	return 0;
}

static void has_made(struct thread *me, const struct sent *sent,
		     uint32_t handle)
{
	const struct call *call = sent->call;
	struct object object = {
		.handle = handle,
		.number = told(sent, call->number_at),
		.rkey = told(sent, call->rkey_at),
	};

	if (call->makes == CHANNEL || call->makes == EVENTS)
		fcntl(handle, F_SETFL, O_NONBLOCK);
	remember(me, call->makes, object, sent->driver);
}

static void was_taken(struct thread *me, const struct sent *sent,
		      uint32_t handle)
{
	const struct call *call = sent->call;

	if (call->makes)
		has_made(me, sent, handle);
	if (call->ends)
		forget(me, call->ends);
	if (call->taken)
		call->taken(me, sent);
}

/* What was kept in mind is seen to be gone. */
static void was_refused(struct thread *me, const struct call *call, int err)
{
	if (call->ends && (err == ENOENT || err == EINVAL))
		forget(me, call->ends);
}

/* A table that is full takes no more: something goes instead. */
static bool has_room_for(const struct call *call)
{
	return !call->makes || !table_is_full(call->makes);
}

/*
 * Commands
 */

#define IN_ROOM	512

struct command {
	struct ib_uverbs_cmd_hdr hdr;
	union {
		unsigned char body[IN_ROOM];
		struct {
			struct ib_uverbs_ex_cmd_hdr ex;
			unsigned char ex_body[IN_ROOM - 16];
		};
	};
};

static void *body_of(struct command *command, const struct call *call)
{
	return call->number & IB_USER_VERBS_CMD_FLAG_EXTENDED ?
	       command->ex_body : command->body;
}

static ssize_t write_command(struct thread *me, struct command *command,
			     const struct call *call, uint64_t answer,
			     unsigned int mood)
{
	uint32_t in = call->in + call->driver_in;
	uint32_t out = call->out + call->driver_out;
	size_t len = sizeof(command->hdr);

	command->hdr.command = call->number;
	if (call->number & IB_USER_VERBS_CMD_FLAG_EXTENDED) {
		command->hdr.in_words = call->in / 8;
		command->hdr.out_words = call->out / 8;
		command->ex.response = answer;
		command->ex.provider_in_words = call->driver_in / 8;
		command->ex.provider_out_words = call->driver_out / 8;
		len += sizeof(command->ex);
	} else {
		command->hdr.in_words = (len + in) / 4;
		command->hdr.out_words = out / 4;
		if (call->out)
			memcpy(command->body, &answer, sizeof(answer));
	}
	if (mood && once_in(me, 8))
		spoil(me, command, len);
	return write(ctx->cmd_fd, command, len + in);
}

/* The same by the method that takes commands. */
static ssize_t invoke_command(struct command *command, const struct call *call,
			      uint64_t answer)
{
	struct {
		struct ib_uverbs_ioctl_hdr hdr;
		struct ib_uverbs_attr attrs[5];
	} request = {
		.hdr = {
			.length = sizeof(request),
			.object_id = UVERBS_OBJECT_DEVICE,
			.method_id = UVERBS_METHOD_INVOKE_WRITE,
			.num_attrs = 5, .driver_id = FRDMA_DRIVER_ID,
		},
		.attrs = {
			{ .attr_id = UVERBS_ATTR_CORE_IN, .len = call->in,
			  .flags = UVERBS_ATTR_F_MANDATORY,
			  .data = (uintptr_t)body_of(command, call) },
			{ .attr_id = UVERBS_ATTR_CORE_OUT, .len = call->out,
			  .flags = UVERBS_ATTR_F_MANDATORY, .data = answer },
			{ .attr_id = UVERBS_ATTR_WRITE_CMD, .len = 8,
			  .flags = UVERBS_ATTR_F_MANDATORY,
			  .data = call->number },
			{ .attr_id = UVERBS_ATTR_UHW_IN,
			  .len = call->driver_in, .flags = 1,
			  .data = (uintptr_t)body_of(command, call) +
				  call->in },
			{ .attr_id = UVERBS_ATTR_UHW_OUT,
			  .len = call->driver_out, .flags = 1,
			  .data = answer + call->out },
		},
	};

	if (call->in <= 8)
		memcpy(&request.attrs[0].data, body_of(command, call),
		       call->in);
	return ioctl(ctx->cmd_fd, RDMA_VERBS_IOCTL, &request) ? -1 : 0;
}

/* Mood: 0 all is well, 1 a word is not, 2 nor is where the answer goes. */
static unsigned int mood_of(struct thread *me)
{
	return once_in(me, 3) ? 1 + once_in(me, 8) : 0;
}

static void do_command(struct thread *me, unsigned int number)
{
	const struct call *call = &commands[number];
	unsigned int mood = mood_of(me);
	struct command command = { };
	void *body = body_of(&command, call);
	struct sent sent = {
		.call = call, .body = body, .answer = me->answers,
		.driver = call->driver_out ? me->answers + call->out : NULL,
	};
	const struct field *field;
	uint64_t answer;
	ssize_t len;

	if (!has_room_for(call) || is_of_another_life(call->number))
		return;
	for (field = call->fields; field->how; field++)
		put(body, field, value(me, field));
	if (call->fill)
		call->fill(me, body);
	if (mood)
		spoil(me, body, call->in + call->driver_in);
	answer = mood == 2 ? bad_pointer(me) : (uintptr_t)me->answers;

	memset(me->answers, 0, ANSWERS);
	if (once_in(me, 6))
		len = invoke_command(&command, call, answer);
	else
		len = write_command(me, &command, call, answer, mood);
	count(number, len >= 0 && !(mood && call->never), errno);
	if (len >= 0 && mood != 2)
		was_taken(me, &sent, *(uint32_t *)me->answers);
	else if (len < 0 && !mood)
		was_refused(me, call, errno);
}

/* A command that says of itself what it is. */
static void do_rubbish_command(struct thread *me)
{
	struct command command;
	uint64_t words[IN_ROOM / 8];
	unsigned int i, used = below(me, IN_ROOM / 8);
	ssize_t len;

	for (i = 0; i < IN_ROOM / 8; i++)
		words[i] = i >= used ? 0 : once_in(me, 2) ? rubbish(me) :
			   rubbish(me) << 32 | (uint32_t)rubbish(me);
	memcpy(command.body, words, IN_ROOM);
	do
		command.hdr.command = below(me, IB_USER_VERBS_CMD_OPEN_QP + 20);
	while (is_of_another_life(command.hdr.command));
	if (once_in(me, 4))
		command.hdr.command |= IB_USER_VERBS_CMD_FLAG_EXTENDED;
	command.hdr.in_words = 2 + below(me, 40);
	command.hdr.out_words = below(me, 40);
	len = 4 * command.hdr.in_words;
	/* Where an answer goes is one place or the other. */
	words[0] = once_in(me, 8) ? bad_pointer(me) :
				    (uintptr_t)me->answers;
	memcpy(command.body, words, 8);
	if (command.hdr.command & IB_USER_VERBS_CMD_FLAG_EXTENDED) {
		command.hdr.in_words = below(me, 16);
		command.ex.provider_in_words = below(me, 3);
		command.ex.cmd_hdr_reserved = 0;
		len = sizeof(command.hdr) + sizeof(command.ex) +
		      8 * (command.hdr.in_words +
			   command.ex.provider_in_words);
	}
	len = write(ctx->cmd_fd, &command, len);
	count_deed(RUBBISH_COMMAND, len >= 0);
}

/*
 * Methods
 */

static void fill_caps(struct thread *me, struct ib_uverbs_qp_cap *caps)
{
	*caps = (struct ib_uverbs_qp_cap) {
		.max_send_wr = 1 + below(me, 32),
		.max_recv_wr = 1 + below(me, 32),
		.max_send_sge = 1 + below(me, 4),
		.max_recv_sge = 1 + below(me, 4),
		.max_inline_data = below(me, 129),
	};
}

/* Of regions on demand, if there are some. */
static void fill_sges(struct thread *me, struct ib_uverbs_sge *sges,
		      unsigned int n)
{
	unsigned int i, tries;

	for (i = 0; i < n; i++) {
		for (tries = 0; tries < SLOTS; tries++) {
			pick(me, MR);
			if (me->picked[MR].type & IBV_ACCESS_ON_DEMAND)
				break;
		}
		sges[i] = (struct ib_uverbs_sge) {
			.addr = me->picked[MR].addr,
			.length = 1 + below(me, PAGE),
			.lkey = me->picked[MR].number,
		};
	}
}

/* What is large comes after the answers. */
static void fill_attr(struct thread *me, struct ib_uverbs_attr *attr,
		      const struct field *field, int index)
{
	unsigned char *room = me->answers + index * ANSWER_ROOM;

	*attr = (struct ib_uverbs_attr) {
		.attr_id = field->at,
		.flags = UVERBS_ATTR_F_MANDATORY,
		.len = field->size,
	};
	switch (field->how) {
	case CAPS:
		fill_caps(me, (void *)room);
		attr->len = sizeof(struct ib_uverbs_qp_cap);
		attr->data = (uintptr_t)room;
		break;
	case SGES:
		attr->len = (1 + below(me, 3)) * sizeof(struct ib_uverbs_sge);
		fill_sges(me, (void *)room,
			  attr->len / sizeof(struct ib_uverbs_sge));
		attr->data = (uintptr_t)room;
		break;
	case ANSWER:
		attr->data = (uintptr_t)room;
		break;
	case FILE_OF:
		/* Where one may be left out, "none" is no file. */
		attr->data_s64 = field->maybe ? pick(me, field->arg) :
						value(me, field);
		attr->len = 0;
		break;
	case NEW:
		break;
	default:
		attr->data = value(me, field);
		break;
	}
}

static void spoil_attr(struct thread *me, struct ib_uverbs_attr *attr)
{
	switch (below(me, 6)) {
	case 0:
		attr->attr_id = once_in(me, 2) ? below(me, 20) :
						 0x1000 + below(me, 4);
		break;
	case 1:
		attr->len = once_in(me, 4) ? any(me) : below(me, 64);
		break;
	case 2:
		attr->flags = below(me, 4);
		break;
	case 3:
		attr->attr_data.reserved = below(me, 3);
		break;
	case 4:
		attr->data = bad_pointer(me);
		break;
	default:
		/* No pointer of ours, so the kernel writes nowhere else. */
		attr->data = rubbish(me);
		break;
	}
}

struct request {
	struct ib_uverbs_ioctl_hdr hdr;
	struct ib_uverbs_attr attrs[16];
};

static void spoil_request(struct thread *me, struct request *request)
{
	struct ib_uverbs_ioctl_hdr *hdr = &request->hdr;

	if (!once_in(me, 6) && hdr->num_attrs) {
		spoil_attr(me, &request->attrs[below(me, hdr->num_attrs)]);
		return;
	}
	switch (below(me, 5)) {
	case 0:
		hdr->num_attrs = below(me, 17);
		hdr->length = sizeof(*hdr) +
			      hdr->num_attrs * sizeof(request->attrs[0]);
		break;
	case 1:
		hdr->length = rubbish(me);
		break;
	case 2:
		hdr->object_id = below(me, 24);
		break;
	case 3:
		hdr->method_id = once_in(me, 2) ? below(me, 8) :
						  0x1000 + below(me, 2);
		break;
	default:
		hdr->driver_id = rubbish(me);
		break;
	}
}

/* Only what there is has attributes to lack. */
static void ask_for_methods(void)
{
	struct ib_uverbs_ioctl_hdr hdr = {
		.length = sizeof(hdr), .driver_id = FRDMA_DRIVER_ID,
	};
	unsigned int i;
	int err;

	for (i = 0; i < NR_METHODS; i++) {
		if (!methods[i].young)
			continue;
		hdr.object_id = methods[i].object;
		hdr.method_id = methods[i].number;
		err = ioctl(ctx->cmd_fd, RDMA_VERBS_IOCTL, &hdr);
		EXPECT(err && (errno == EINVAL || errno == EPROTONOSUPPORT));
		stats->unknown[i] = errno == EPROTONOSUPPORT;
	}
}

static uint32_t handle_made(const struct request *request)
{
	/* The handle is the first attribute of whatever makes something. */
	return request->attrs[0].data;
}

static const unsigned char *driver_part(const struct sent *sent)
{
	int i;

	for (i = 0; i < sent->nr_attrs; i++)
		if (sent->attrs[i].attr_id == UVERBS_ATTR_UHW_OUT ||
		    (sent->call->makes == DM && sent->attrs[i].attr_id ==
						FRDMA_ATTR_DM_ALLOC_DESC))
			return sent->answer + i * ANSWER_ROOM;
	return NULL;
}

/*
 * Where a context is there already, or may not be made, the GET_CONTEXT method
 * (Linux 6.12; the core's) loses a reference to the task: it stays for ever, and
 * is found by who looks for lost memory. Nothing is lost by the command.
 */
static bool loses_a_task(const struct request *request)
{
	return request->hdr.object_id == UVERBS_OBJECT_DEVICE &&
	       request->hdr.method_id == UVERBS_METHOD_GET_CONTEXT;
}

static void do_method(struct thread *me, unsigned int number)
{
	static const uint64_t types[] = {
		IB_UVERBS_QPT_RC, IB_UVERBS_QPT_UC, IB_UVERBS_QPT_UD,
		IB_UVERBS_QPT_RC, IB_UVERBS_QPT_RAW_PACKET,
	};
	const struct call *call = &methods[number];
	unsigned int mood = mood_of(me);
	struct request request = {
		.hdr = { .object_id = call->object, .method_id = call->number,
			 .driver_id = FRDMA_DRIVER_ID },
	};
	const struct field *field;
	struct sent sent;
	int err, n = 0;

	if (!has_room_for(call))
		return;
	memset(me->answers, 0, ANSWERS);
	for (field = call->fields; field->how; field++) {
		if (field->maybe && !once_in(me, 4))
			continue;
		fill_attr(me, &request.attrs[n], field, n);
		if (field->how == BELOW &&
		    field->at == UVERBS_ATTR_CREATE_QP_TYPE)
			request.attrs[n].data = types[below(me, 5)];
		n++;
	}
	request.hdr.num_attrs = n;
	request.hdr.length = sizeof(request.hdr) + n * sizeof(*request.attrs);
	if (mood)
		spoil_request(me, &request);
	if (loses_a_task(&request))
		return;

	err = ioctl(ctx->cmd_fd, RDMA_VERBS_IOCTL, &request);
	/* What was spoilt may have become another call. */
	count(NR_COMMANDS + number, !err && !(mood && call->never), errno);
	if (err && !mood)
		was_refused(me, call, errno);
	if (err || mood)
		return;
	sent = (struct sent) {
		.call = call, .attrs = request.attrs, .nr_attrs = n,
		.answer = me->answers,
	};
	sent.driver = driver_part(&sent);
	was_taken(me, &sent, handle_made(&request));
}

static void do_rubbish_method(struct thread *me)
{
	struct request request = {
		.hdr = {
			.object_id = below(me, 20),
			.method_id = once_in(me, 8) ? 0x1000 : below(me, 10),
			.num_attrs = below(me, 12),
			.driver_id = FRDMA_DRIVER_ID,
		},
	};
	int i, err;

	request.hdr.length = sizeof(request.hdr) +
			     request.hdr.num_attrs * sizeof(*request.attrs);
	for (i = 0; i < request.hdr.num_attrs; i++)
		request.attrs[i] = (struct ib_uverbs_attr) {
			.attr_id = once_in(me, 8) ? 0x1000 + below(me, 2) :
						    below(me, 16),
			.len = once_in(me, 2) ? 8 * below(me, 12) :
						4 * below(me, 3),
			.flags = below(me, 2),
			.data = rubbish(me),
		};
	if (loses_a_task(&request))
		return;
	err = ioctl(ctx->cmd_fd, RDMA_VERBS_IOCTL, &request);
	count_deed(RUBBISH_METHOD, !err);
}

#endif /* FRDMA_TEST_CALL_H */
