// SPDX-License-Identifier: GPL-2.0
/*
 * Drives any RDMA device by verbs of the kernel and tells how long that takes:
 * what a device costs where programs are left out.
 *
 * Who writes a line to /sys/kernel/debug/frdma_drive/run is the client,
 *
 *	OPERATION BYTES DEPTH MESSAGES ADDRESS SERVER
 *
 * OPERATION is write, send or read; DEPTH work requests are under way at once;
 * ADDRESS is the server's, IPv4; SERVER is a process whose network namespace
 * the server is in. The same file then has the nanoseconds that MESSAGES took.
 *
 * The connection is made by rdma_cm, so that what is no RoCE can be driven too.
 * Completions are delivered by softirqs, as to most consumers in the kernel.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/gfp.h>
#include <linux/inet.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/nsproxy.h>
#include <net/net_namespace.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#define PORT		4791
#define RNR_TIMER	1		/* code of the specification: 10 us */
#define MAX_DEPTH	1024
#define MAX_BYTES	(1U << 20)
#define TIMEOUT_MS	2000
#define TIMEOUT_RUN	(10 * HZ)

/*
 * Receives beyond the depth of the queue: where both ends share a processor, the
 * sender's handlers may run so many times before the receiver's do.
 */
#define RECEIVES_MORE	512

/* What is asked for. */
struct order {
	enum ib_wr_opcode opcode;
	unsigned int bytes;
	unsigned int depth;
	unsigned long messages;
	struct sockaddr_in address;
	struct net *server;
};

/* One end of the connection. */
struct end {
	struct run *run;
	struct rdma_cm_id *id;
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_mr *mr;
	void *memory;
	u64 dma;			/* 0: not mapped */
	struct ib_cqe sent, received, registered;
};

struct run {
	const struct order *order;
	struct rdma_cm_id *listener;
	struct end client, server;
	struct completion event;	/* once for all that is awaited */
	int err;
	/* Completion handlers of one CQ do not run at the same time. */
	unsigned long to_post, to_complete;
	ktime_t end;
};

static struct dentry *dir;
static DEFINE_MUTEX(running);	/* protects the next two */
static char answer[32];
static size_t answer_len;

static void tell(struct run *run, int err)
{
	if (err && !READ_ONCE(run->err))
		WRITE_ONCE(run->err, err);
	complete(&run->event);
}

static int post_recv(struct end *end)
{
	struct ib_sge sge = {
		.addr = end->dma, .length = end->run->order->bytes,
		.lkey = end->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = {
		.wr_cqe = &end->received, .sg_list = &sge, .num_sge = 1,
	};

	return ib_post_recv(end->id->qp, &wr, NULL);
}

static void received(struct ib_cq *cq, struct ib_wc *wc)
{
	struct end *end = container_of(wc->wr_cqe, struct end, received);

	if (wc->status == IB_WC_SUCCESS && post_recv(end))
		tell(end->run, -EIO);
}

static int post_send(struct run *run)
{
	struct end *from = &run->client, *to = &run->server;
	struct ib_sge sge = {
		.addr = from->dma, .length = run->order->bytes,
		.lkey = from->pd->local_dma_lkey,
	};
	struct ib_rdma_wr wr = {
		.wr.wr_cqe = &from->sent, .wr.opcode = run->order->opcode,
		.wr.sg_list = &sge, .wr.num_sge = 1,
		.wr.send_flags = IB_SEND_SIGNALED,
		.remote_addr = to->mr->iova, .rkey = to->mr->rkey,
	};

	return ib_post_send(from->id->qp, &wr.wr, NULL);
}

static void sent(struct ib_cq *cq, struct ib_wc *wc)
{
	struct end *end = container_of(wc->wr_cqe, struct end, sent);
	struct run *run = end->run;

	if (wc->status != IB_WC_SUCCESS) {
		pr_err_ratelimited("%s\n", ib_wc_status_msg(wc->status));
		tell(run, -EIO);
		return;
	}
	if (!--run->to_complete) {
		run->end = ktime_get();
		tell(run, 0);
	} else if (run->to_post) {
		run->to_post--;
		if (post_send(run))
			tell(run, -EIO);
	}
}

static void registered(struct ib_cq *cq, struct ib_wc *wc)
{
	struct end *end = container_of(wc->wr_cqe, struct end, registered);

	tell(end->run, wc->status == IB_WC_SUCCESS ? 0 : -EIO);
}

/* Queue pair and memory of an end whose device is known; end_down() undoes. */
static int end_up(struct end *end, struct rdma_cm_id *id)
{
	const struct order *order = end->run->order;
	struct ib_qp_init_attr attr = {
		.cap = {
			.max_send_wr = order->depth + 1,
			.max_recv_wr = order->depth + RECEIVES_MORE + 1,
			.max_send_sge = 1, .max_recv_sge = 1,
		},
		.qp_type = IB_QPT_RC, .sq_sig_type = IB_SIGNAL_REQ_WR,
	};
	struct ib_device *dev = id->device;
	struct ib_pd *pd;
	struct ib_cq *cq;
	unsigned int i;
	int err;

	end->id = id;
	end->sent.done = sent;
	end->received.done = received;
	end->registered.done = registered;
	pd = ib_alloc_pd(dev, 0);
	if (IS_ERR(pd))
		return PTR_ERR(pd);
	end->pd = pd;
	cq = ib_alloc_cq(dev, end, 2 * order->depth + RECEIVES_MORE + 4, 0,
			 IB_POLL_SOFTIRQ);
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	end->cq = cq;
	attr.send_cq = cq;
	attr.recv_cq = cq;
	err = rdma_create_qp(id, pd, &attr);
	if (err)
		return err;
	end->memory = alloc_pages_exact(order->bytes, GFP_KERNEL | __GFP_ZERO);
	if (!end->memory)
		return -ENOMEM;
	end->dma = ib_dma_map_single(dev, end->memory, order->bytes,
				     DMA_BIDIRECTIONAL);
	if (ib_dma_mapping_error(dev, end->dma)) {
		end->dma = 0;
		return -ENOMEM;
	}
	for (i = 0; !err && i < order->depth + RECEIVES_MORE; i++)
		err = post_recv(end);
	return err;
}

static void end_down(struct end *end)
{
	unsigned int bytes = end->run->order->bytes;

	if (!end->id)
		return;
	if (end->id->qp) {
		ib_drain_qp(end->id->qp);
		rdma_destroy_qp(end->id);
	}
	if (end->mr)
		ib_dereg_mr(end->mr);
	if (end->dma)
		ib_dma_unmap_single(end->id->device, end->dma, bytes,
				    DMA_BIDIRECTIONAL);
	if (end->memory)
		free_pages_exact(end->memory, bytes);
	if (end->cq)
		ib_free_cq(end->cq);
	if (end->pd)
		ib_dealloc_pd(end->pd);
	rdma_destroy_id(end->id);
}

/* Either end does as many READs at a time as its device can, up to 16. */
static void fill_param(struct rdma_conn_param *param,
		       const struct ib_device *dev)
{
	int reads = min3(dev->attrs.max_qp_rd_atom,
			 dev->attrs.max_qp_init_rd_atom, 16);

	*param = (struct rdma_conn_param){
		.responder_resources = reads, .initiator_depth = reads,
		.retry_count = 7, .rnr_retry_count = 7,
	};
}

/* An error makes the CM destroy @id, which therefore is nobody's then. */
static int accept(struct run *run, struct rdma_cm_id *id)
{
	struct rdma_conn_param param;
	int err;

	if (run->server.id)
		return -EBUSY;
	id->context = run;
	err = end_up(&run->server, id);
	if (!err) {
		fill_param(&param, id->device);
		err = rdma_set_min_rnr_timer(id, RNR_TIMER) ?:
		      rdma_accept(id, &param);
	}
	if (err)
		tell(run, err);	/* end_down() destroys it */
	return 0;
}

static int on_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct run *run = id->context;

	switch (event->event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		return accept(run, id);
	case RDMA_CM_EVENT_ADDR_RESOLVED:
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
	case RDMA_CM_EVENT_ESTABLISHED:
		tell(run, event->status);
		return 0;
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		return 0;
	default:
		tell(run, event->status < 0 ? event->status : -ECONNREFUSED);
		return 0;
	}
}

static int await(struct run *run)
{
	long left = wait_for_completion_killable_timeout(&run->event,
							 TIMEOUT_RUN);

	if (left <= 0)
		return left ?: -ETIMEDOUT;
	return READ_ONCE(run->err);
}

static int listen(struct run *run)
{
	struct sockaddr *address = (struct sockaddr *)&run->order->address;
	struct rdma_cm_id *id;

	id = rdma_create_id(run->order->server, on_event, run, RDMA_PS_TCP,
			    IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);
	run->listener = id;
	return rdma_bind_addr(id, address) ?: rdma_listen(id, 1);
}

static int connect(struct run *run)
{
	struct sockaddr *address = (struct sockaddr *)&run->order->address;
	struct rdma_conn_param param;
	struct rdma_cm_id *id;
	int err;

	id = rdma_create_id(current->nsproxy->net_ns, on_event, run,
			    RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);
	run->client.id = id;
	err = rdma_resolve_addr(id, NULL, address, TIMEOUT_MS) ?: await(run);
	if (!err)
		err = rdma_resolve_route(id, TIMEOUT_MS) ?: await(run);
	if (!err)
		err = end_up(&run->client, id);
	if (err)
		return err;
	fill_param(&param, id->device);
	/* Both ends tell that they are connected. */
	return rdma_connect(id, &param) ?: await(run) ?: await(run);
}

/* The server's memory is registered as a consumer in the kernel would do it. */
static int register_memory(struct run *run)
{
	unsigned int bytes = run->order->bytes;
	struct end *end = &run->server;
	struct ib_reg_wr wr = {
		.wr.wr_cqe = &end->registered, .wr.opcode = IB_WR_REG_MR,
		.wr.send_flags = IB_SEND_SIGNALED,
		.access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |
			  IB_ACCESS_REMOTE_READ,
	};
	struct scatterlist sg;
	struct ib_mr *mr;
	int err;

	mr = ib_alloc_mr(end->pd, IB_MR_TYPE_MEM_REG,
			 DIV_ROUND_UP(bytes, PAGE_SIZE));
	if (IS_ERR(mr))
		return PTR_ERR(mr);
	end->mr = mr;
	sg_init_one(&sg, end->memory, bytes);
	sg_dma_address(&sg) = end->dma;
	sg_dma_len(&sg) = bytes;
	if (ib_map_mr_sg(mr, &sg, 1, NULL, PAGE_SIZE) != 1)
		return -EIO;
	wr.mr = mr;
	wr.key = mr->rkey;
	err = ib_post_send(end->id->qp, &wr.wr, NULL);
	return err ?: await(run);
}

/* Sets @took to what @messages took. */
static int stream(struct run *run, unsigned long messages, s64 *took)
{
	unsigned long first = min_t(unsigned long, messages, run->order->depth);
	ktime_t begin = ktime_get();
	int err = 0;

	run->to_complete = messages;
	/* Handlers look at it only for what is posted here. */
	run->to_post = messages - first;
	while (!err && first--)
		err = post_send(run);
	err = err ?: await(run);
	*took = ktime_to_ns(ktime_sub(run->end, begin));
	return err;
}

static int run(const struct order *order, s64 *took)
{
	struct run *run = kzalloc(sizeof(*run), GFP_KERNEL);
	int err;

	if (!run)
		return -ENOMEM;
	run->order = order;
	run->client.run = run;
	run->server.run = run;
	init_completion(&run->event);
	err = listen(run) ?: connect(run) ?: register_memory(run);
	/* The first messages find caches cold and windows closed. */
	err = err ?: stream(run, order->messages / 8 + 1, took);
	err = err ?: stream(run, order->messages, took);
	if (run->client.id)
		rdma_disconnect(run->client.id);
	if (run->listener)
		rdma_destroy_id(run->listener);
	end_down(&run->client);
	end_down(&run->server);
	kfree(run);
	return err;
}

static int parse(char *line, struct order *order)
{
	char operation[8], address[16];
	pid_t server;

	if (sscanf(line, "%7s %u %u %lu %15s %d", operation, &order->bytes,
		   &order->depth, &order->messages, address, &server) != 6)
		return -EINVAL;
	if (!strcmp(operation, "write"))
		order->opcode = IB_WR_RDMA_WRITE;
	else if (!strcmp(operation, "send"))
		order->opcode = IB_WR_SEND;
	else if (!strcmp(operation, "read"))
		order->opcode = IB_WR_RDMA_READ;
	else
		return -EINVAL;
	if (!order->bytes || order->bytes > MAX_BYTES || !order->depth ||
	    order->depth > MAX_DEPTH || !order->messages)
		return -EINVAL;
	order->address.sin_family = AF_INET;
	order->address.sin_port = htons(PORT);
	if (!in4_pton(address, -1, (u8 *)&order->address.sin_addr, -1, NULL))
		return -EINVAL;
	order->server = get_net_ns_by_pid(server);
	return PTR_ERR_OR_ZERO(order->server);
}

static ssize_t run_write(struct file *file, const char __user *from,
			 size_t len, loff_t *pos)
{
	struct order order = {};
	char line[80] = {};
	s64 took;
	int err;

	if (len >= sizeof(line))
		return -EINVAL;
	if (copy_from_user(line, from, len))
		return -EFAULT;
	err = parse(line, &order);
	if (err)
		return err;
	mutex_lock(&running);
	answer_len = 0;
	err = run(&order, &took);
	if (!err)
		answer_len = scnprintf(answer, sizeof(answer), "%lld\n", took);
	mutex_unlock(&running);
	put_net(order.server);
	return err ?: len;
}

static ssize_t run_read(struct file *file, char __user *to, size_t len,
			loff_t *pos)
{
	ssize_t read;

	mutex_lock(&running);
	read = simple_read_from_buffer(to, len, pos, answer, answer_len);
	mutex_unlock(&running);
	return read;
}

static const struct file_operations run_ops = {
	.owner = THIS_MODULE,
	.open = nonseekable_open,
	.read = run_read,
	.write = run_write,
};

static int __init drive_init(void)
{
	dir = debugfs_create_dir(KBUILD_MODNAME, NULL);
	debugfs_create_file("run", 0600, dir, NULL, &run_ops);
	return PTR_ERR_OR_ZERO(dir);
}
module_init(drive_init);

static void __exit drive_exit(void)
{
	debugfs_remove(dir);
}
module_exit(drive_exit);

MODULE_DESCRIPTION("Drives RDMA devices from the kernel, and times it");
MODULE_LICENSE("GPL");
