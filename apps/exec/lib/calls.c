/*
 * Times data path calls and memory registration in one process, on the first device: prints a line
 * "NAME NANOSECONDS" for each, and "memory-before MEBIBYTES" and "memory-after MEBIBYTES". Each
 * call is repeated for WARM_UP_SECONDS before it is timed.
 */
#define _GNU_SOURCE
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WARM_UP_SECONDS 2.0
#define CALLS 200000
#define REGISTRATIONS 2000
#define REGION_BYTES (1 << 20)
#define DEPTH 256
#define IPV4_GID_INDEX 1

struct end {
	struct ibv_context *context;
	struct ibv_pd *domain;
	struct ibv_cq *queue;
	struct ibv_qp *pair;
	struct ibv_mr *region;
	union ibv_gid gid;
	void *memory;
};

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

static void expect(int is_right, const char *call)
{
	if (is_right)
		return;
	fprintf(stderr, "%s failed\n", call);
	exit(1);
}

static void create(struct end *end)
{
	struct ibv_qp_init_attr attributes = { .qp_type = IBV_QPT_RC };
	int count;
	struct ibv_device **devices = ibv_get_device_list(&count);

	expect(devices && count, "ibv_get_device_list");
	end->context = ibv_open_device(devices[0]);
	expect(end->context != NULL, "ibv_open_device");
	ibv_free_device_list(devices);
	end->domain = ibv_alloc_pd(end->context);
	end->queue = ibv_create_cq(end->context, 2 * DEPTH, NULL, NULL, 0);
	end->memory = calloc(1, REGION_BYTES);
	end->region = ibv_reg_mr(end->domain, end->memory, REGION_BYTES, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	attributes.send_cq = attributes.recv_cq = end->queue;
	attributes.cap = (struct ibv_qp_cap){ .max_send_wr = DEPTH, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 };
	end->pair = ibv_create_qp(end->domain, &attributes);
	expect(end->queue && end->region && end->pair, "ibv_create_qp");
	expect(!ibv_query_gid(end->context, 1, IPV4_GID_INDEX, &end->gid), "ibv_query_gid");
}

/* Connects the queue pair to itself. */
static void connect_to_itself(struct end *end)
{
	struct ibv_qp_attr attributes = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE };

	expect(!ibv_modify_qp(end->pair, &attributes, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS), "INIT");
	attributes = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = end->pair->qp_num,
		.min_rnr_timer = 12, .ah_attr = { .is_global = 1, .port_num = 1,
			.grh = { .dgid = end->gid, .sgid_index = IPV4_GID_INDEX, .hop_limit = 64 } } };
	expect(!ibv_modify_qp(end->pair, &attributes, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			      IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER), "RTR");
	attributes = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7 };
	expect(!ibv_modify_qp(end->pair, &attributes, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			      IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC), "RTS");
}

static double poll_empty(struct end *end, int calls)
{
	struct ibv_wc completion;
	double start = now();

	for (int i = 0; i < calls; i++)
		expect(ibv_poll_cq(end->queue, 1, &completion) == 0, "ibv_poll_cq");
	return now() - start;
}

static void take(struct end *end, int count)
{
	struct ibv_wc completions[16];

	while (count > 0) {
		int taken = ibv_poll_cq(end->queue, 16, completions);

		expect(taken >= 0, "ibv_poll_cq");
		for (int i = 0; i < taken; i++)
			expect(completions[i].status == IBV_WC_SUCCESS, "IBV_WR_RDMA_WRITE");
		count -= taken;
	}
}

/*
 * Posts in groups that fit into the queue. The time for polling their completions is not counted.
 */
static double post(struct end *end, int calls)
{
	struct ibv_sge element = { .addr = (uintptr_t)end->memory, .length = 8, .lkey = end->region->lkey };
	struct ibv_send_wr request = { .sg_list = &element, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = (uintptr_t)end->memory + 64, .rkey = end->region->rkey } };
	struct ibv_send_wr *bad;
	double seconds = 0;

	for (int posted = 0; posted < calls; posted += DEPTH) {
		double start = now();

		for (int i = 0; i < DEPTH; i++)
			expect(!ibv_post_send(end->pair, &request, &bad), "ibv_post_send");
		seconds += now() - start;
		take(end, DEPTH);
	}
	return seconds;
}

static double register_memory(struct end *end, int calls)
{
	double start = now();

	for (int i = 0; i < calls; i++) {
		struct ibv_mr *region = ibv_reg_mr(end->domain, end->memory, REGION_BYTES, IBV_ACCESS_LOCAL_WRITE);

		expect(region && !ibv_dereg_mr(region), "ibv_reg_mr");
	}
	return now() - start;
}

static void measure(struct end *end, const char *name, double (*function)(struct end *, int), int calls)
{
	double end_of_warm_up = now() + WARM_UP_SECONDS;

	while (now() < end_of_warm_up)
		function(end, calls / 10);
	printf("%s %.0f\n", name, function(end, calls) / calls * 1e9);
}

static void print_memory(const char *name)
{
	char line[256];
	long kibibytes;
	FILE *file = fopen("/proc/self/status", "r");

	expect(file != NULL, "fopen");
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "VmRSS: %ld", &kibibytes) == 1)
			printf("%s %ld\n", name, kibibytes / 1024);
	fclose(file);
}

int main(void)
{
	struct end end = { 0 };

	create(&end);
	connect_to_itself(&end);
	print_memory("memory-before");
	measure(&end, "poll", poll_empty, CALLS);
	measure(&end, "post", post, CALLS);
	measure(&end, "register", register_memory, REGISTRATIONS);
	print_memory("memory-after");
	return 0;
}
