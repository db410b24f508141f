/*
 * Threads wait for the events of a completion channel, and signals interrupt them at any time. When
 * all events have been taken, the descriptor must not be readable, whatever the threads were doing.
 * Exits with 0, or after printing the first failure.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "connection.h"

#define ROUNDS 12
#define HANDLER_MILLIS 30
#define CHECK(condition) check((condition), #condition, __LINE__)

static struct ibv_context *context;
static struct ibv_comp_channel *channel;
static struct ibv_cq *queue;
static struct ibv_qp *qp;
static struct ibv_mr *region;
static char memory[64];
static pthread_t threads[2];
static int completed;

static void check(int is_right, const char *condition, int line)
{
	if (is_right)
		return;
	fprintf(stderr, "events.c:%d: %s (errno %d, %s)\n", line, condition, errno, strerror(errno));
	_exit(1);
}

static void pause_thread(long millis)
{
	struct timespec time = { 0, millis * 1000000 };

	nanosleep(&time, NULL);
}

static void delay(int signal)
{
	(void)signal;
	pause_thread(HANDLER_MILLIS);
}

/* Connects the queue pair to itself. */
static void connect_queue_pair(struct ibv_pd *domain)
{
	struct ibv_qp_init_attr initial = {
		.send_cq = queue, .recv_cq = queue, .qp_type = IBV_QPT_RC, .cap = { .max_send_wr = 64, .max_send_sge = 1 },
	};
	struct ibv_gid_entry entries[64];
	struct ibv_qp_attr attributes;
	ssize_t count = _ibv_query_gid_table(context, entries, 64, 0, sizeof(*entries));

	CHECK(count > 0);
	qp = ibv_create_qp(domain, &initial);
	CHECK(qp != NULL);
	attributes = connection_attributes(qp->qp_num, entries[count - 1].gid, (int)entries[count - 1].gid_index);
	CHECK(!ibv_modify_qp(qp, &attributes, IBV_QP_STATE | PKEY_INDEX | PORT | ACCESS));
	attributes.qp_state = IBV_QPS_RTR;
	CHECK(!ibv_modify_qp(qp, &attributes, IBV_QP_STATE | PATH | MTU | PEER | RECEIVE_PSN | TARGET_READS | RNR_TIMER));
	attributes.qp_state = IBV_QPS_RTS;
	CHECK(!ibv_modify_qp(qp, &attributes, IBV_QP_STATE | TIMEOUT | RETRIES | RNR_RETRIES | SEND_PSN | READS));
}

static void open_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_pd *domain;

	CHECK(list && list[0]);
	context = ibv_open_device(list[0]);
	ibv_free_device_list(list);
	CHECK(context != NULL);
	domain = ibv_alloc_pd(context);
	channel = ibv_create_comp_channel(context);
	CHECK(domain && channel);
	queue = ibv_create_cq(context, 256, NULL, channel, 0);
	region = ibv_reg_mr(domain, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	CHECK(queue && region);
	connect_queue_pair(domain);
}

static void *wait_for_events(void *unused)
{
	struct ibv_wc completions[8];
	struct ibv_cq *of;
	void *user;
	int count;

	for (;;) {
		CHECK(!ibv_get_cq_event(channel, &of, &user));
		ibv_ack_cq_events(of, 1);
		CHECK(!context->ops.req_notify_cq(of, 0));
		while ((count = context->ops.poll_cq(of, 8, completions)) > 0)
			__atomic_fetch_add(&completed, count, __ATOMIC_SEQ_CST);
	}
	return unused;
}

static void write_to_itself(void)
{
	struct ibv_sge element = { (uintptr_t)memory, 8, region->lkey };
	struct ibv_send_wr request = {
		.opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED, .sg_list = &element, .num_sge = 1,
		.wr.rdma = { .remote_addr = (uintptr_t)memory + 32, .rkey = region->rkey },
	}, *bad;

	CHECK(!context->ops.post_send(qp, &request, &bad));
}

static int is_readable(void)
{
	struct pollfd wait = { .fd = channel->fd, .events = POLLIN };

	return poll(&wait, 1, 0) > 0;
}

/* An event that a thread is about to take makes the descriptor readable, but only briefly. */
static int becomes_unreadable(void)
{
	for (int i = 0; i < 1000; i++) {
		if (!is_readable())
			return 1;
		pause_thread(5);
	}
	return 0;
}

int main(void)
{
	struct sigaction action = { .sa_handler = delay, .sa_flags = SA_RESTART };
	unsigned int seed = 1;
	int posted = 0;

	CHECK(!sigaction(SIGUSR1, &action, NULL));
	open_device();
	CHECK(!context->ops.req_notify_cq(queue, 0));
	for (int i = 0; i < 2; i++)
		CHECK(!pthread_create(&threads[i], NULL, wait_for_events, NULL));
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0, count = 1 + rand_r(&seed) % 6; i < count; i++, posted++) {
			write_to_itself();
			usleep(rand_r(&seed) % 60);
		}
		CHECK(!pthread_kill(threads[round % 2], SIGUSR1));
		while (__atomic_load_n(&completed, __ATOMIC_SEQ_CST) < posted)
			pause_thread(5);
		/* The handler may have stopped a thread where an event was noted or taken. */
		pause_thread(2 * HANDLER_MILLIS);
		CHECK(becomes_unreadable());
		CHECK(!is_readable());
	}
	_exit(0);
}
