/*
 * Does what most programs do first: opens a device, connects two queue pairs to each other, and
 * sends messages and WRITEs. The virtual machine in its process records which classes it loads, for
 * the ahead-of-time cache of rdma4j exec. It writes the record when it is destroyed, so this
 * program destroys it, which other programs do not do.
 *
 * If a step fails, it is missing in the record, and so are the later steps that need it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../native/verbs_abi.h"

enum {
	STATE = 1,
	ACCESS_FLAGS = 1 << 3,
	PKEY_INDEX = 1 << 4,
	PORT = 1 << 5,
	ADDRESS = 1 << 7,
	PATH_MTU = 1 << 8,
	TIMEOUT = 1 << 9,
	RETRY_COUNT = 1 << 10,
	RNR_RETRY = 1 << 11,
	RECEIVE_PSN = 1 << 12,
	READS = 1 << 13,
	RNR_TIMER = 1 << 15,
	SEND_PSN = 1 << 16,
	READS_OF_PEER = 1 << 17,
	PEER = 1 << 20,
};

#define MESSAGES 20
#define SECONDS_TO_WAIT 5

struct end {
	struct ibv_context *context;
	struct ibv_pd *domain;
	struct ibv_mr *region;
	struct ibv_comp_channel *channel;
	struct ibv_cq *queue;
	struct ibv_qp *pair[2];
	union ibv_gid gid;
	int gid_index;
	char memory[4096];
};

static int open_first_device(struct end *end)
{
	int count = 0;
	struct ibv_device **list = ibv_get_device_list(&count);

	if (list && count)
		end->context = ibv_open_device(list[0]);
	if (list)
		ibv_free_device_list(list);
	return end->context ? 0 : -1;
}

/* Chooses the GID of an IPv4 address, such as ::ffff:192.0.2.1, if there is one. */
static void choose_gid(struct end *end)
{
	static const uint8_t ipv4[12] = { [10] = 0xff, [11] = 0xff };
	union ibv_gid gid;

	ibv_query_gid(end->context, 1, 0, &end->gid);
	for (int index = 0; index < 8; index++) {
		if (!ibv_query_gid(end->context, 1, index, &gid) && !memcmp(gid.raw, ipv4, sizeof(ipv4))) {
			end->gid = gid;
			end->gid_index = index;
			return;
		}
	}
}

static void query(struct end *end)
{
	struct ibv_device_attr device;
	struct ibv_port_attr port;
	uint16_t key;

	ibv_query_device(end->context, &device);
	ibv_query_port(end->context, 1, &port);
	ibv_query_pkey(end->context, 1, 0, &key);
}

static int make_objects(struct end *end)
{
	struct ibv_qp_init_attr attributes = {
		.cap = { .max_send_wr = MESSAGES, .max_recv_wr = MESSAGES, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};

	end->domain = ibv_alloc_pd(end->context);
	if (!end->domain)
		return -1;
	end->region = ibv_reg_mr(end->domain, end->memory, sizeof(end->memory), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	end->channel = ibv_create_comp_channel(end->context);
	end->queue = ibv_create_cq(end->context, 4 * MESSAGES, NULL, end->channel, 0);
	if (!end->region || !end->queue)
		return -1;
	attributes.send_cq = attributes.recv_cq = end->queue;
	for (int i = 0; i < 2; i++) {
		end->pair[i] = ibv_create_qp(end->domain, &attributes);
		if (!end->pair[i])
			return -1;
	}
	return 0;
}

static int connect_pair(struct end *end, struct ibv_qp *pair, const struct ibv_qp *peer)
{
	struct ibv_qp_attr attributes = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = peer->qp_num,
		.max_dest_rd_atomic = 1,
		.max_rd_atomic = 1,
		.min_rnr_timer = 12,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.ah_attr = {
			.is_global = 1,
			.port_num = 1,
			.grh = { .dgid = end->gid, .sgid_index = end->gid_index, .hop_limit = 1 },
		},
	};
	int failed = ibv_modify_qp(pair, &attributes, STATE | PKEY_INDEX | PORT | ACCESS_FLAGS);

	attributes.qp_state = IBV_QPS_RTR;
	if (!failed)
		failed = ibv_modify_qp(pair, &attributes,
				       STATE | ADDRESS | PATH_MTU | PEER | RECEIVE_PSN | READS_OF_PEER | RNR_TIMER);
	attributes.qp_state = IBV_QPS_RTS;
	if (!failed)
		failed = ibv_modify_qp(pair, &attributes, STATE | TIMEOUT | RETRY_COUNT | RNR_RETRY | SEND_PSN | READS);
	return failed;
}

/* Polls until count completions have arrived. */
static int complete(struct end *end, int count)
{
	struct ibv_wc completions[4];
	time_t last = time(NULL) + SECONDS_TO_WAIT;

	while (count > 0) {
		int taken = end->context->ops.poll_cq(end->queue, 4, completions);

		if (taken < 0 || time(NULL) > last)
			return -1;
		count -= taken;
	}
	return 0;
}

static int send_messages(struct end *end)
{
	struct ibv_sge piece = { .addr = (uintptr_t)end->memory, .length = 64, .lkey = end->region->lkey };
	struct ibv_recv_wr receive = { .sg_list = &piece, .num_sge = 1 }, *bad_receive;
	struct ibv_send_wr send = { .sg_list = &piece, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED };
	struct ibv_send_wr write = send, *bad_send;

	write.opcode = IBV_WR_RDMA_WRITE;
	write.wr.rdma.remote_addr = (uintptr_t)end->memory + 1024;
	write.wr.rdma.rkey = end->region->rkey;
	for (int i = 0; i < MESSAGES; i++) {
		end->context->ops.req_notify_cq(end->queue, 0);
		if (end->context->ops.post_recv(end->pair[1], &receive, &bad_receive) ||
		    end->context->ops.post_send(end->pair[0], &send, &bad_send) ||
		    end->context->ops.post_send(end->pair[0], &write, &bad_send) || complete(end, 3))
			return -1;
	}
	return 0;
}

static void destroy(struct end *end)
{
	for (int i = 0; i < 2; i++)
		if (end->pair[i])
			ibv_destroy_qp(end->pair[i]);
	if (end->queue)
		ibv_destroy_cq(end->queue);
	if (end->channel)
		ibv_destroy_comp_channel(end->channel);
	if (end->region)
		ibv_dereg_mr(end->region);
	if (end->domain)
		ibv_dealloc_pd(end->domain);
	ibv_close_device(end->context);
}

/* Opens and closes the device file of the connection manager, as librdmacm does first. */
static void use_connection_manager(void)
{
	int file = open("/dev/infiniband/rdma_cm", O_RDWR | O_CLOEXEC);

	if (file >= 0)
		close(file);
}

/* Destroys the virtual machine through the invocation interface of JNI. */
static int destroy_vm(void)
{
	void *library = dlopen(getenv("RDMA4J_EXEC_JVM"), RTLD_NOW | RTLD_NOLOAD);
	int (*created)(void ****, int, int *);
	void ***vm = NULL;
	int count = 0;

	if (!library)
		return 1;
	created = (int (*)(void ****, int, int *))dlsym(library, "JNI_GetCreatedJavaVMs");
	if (created(&vm, 1, &count) || !count)
		return 1;
	return ((int (*)(void ***))(*vm)[3])(vm);
}

int main(void)
{
	static struct end end;
	const char *failed = NULL;

	if (open_first_device(&end)) {
		fprintf(stderr, "cannot open a device\n");
		return 1;
	}
	query(&end);
	choose_gid(&end);
	if (make_objects(&end))
		failed = "make_objects";
	else if (connect_pair(&end, end.pair[0], end.pair[1]) || connect_pair(&end, end.pair[1], end.pair[0]))
		failed = "connect_pair";
	else if (send_messages(&end))
		failed = "send_messages";
	destroy(&end);
	use_connection_manager();
	if (failed)
		fprintf(stderr, "%s failed\n", failed);
	return destroy_vm();
}
