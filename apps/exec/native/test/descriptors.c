/*
 * File descriptors of the program and of Java. descriptors.c NAME runs one case; test/process runs
 * all of them.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "connection.h"
#include "device.h"

#define LIMIT 1024

static struct ibv_qp *pair;
static struct ibv_mr *region;
static char memory[4096];

static void change(const struct ibv_qp_attr *all, enum ibv_qp_state state, int mask)
{
	struct ibv_qp_attr attributes = *all;

	attributes.qp_state = state;
	check(!ibv_modify_qp(pair, &attributes, 1 | mask), "a state");
}

/* Connects a queue pair to itself, and writes through it. */
static void write_something(void)
{
	struct ibv_qp_init_attr creation = { .send_cq = queue, .recv_cq = queue, .qp_type = IBV_QPT_RC, .cap = { 4, 4, 1, 1, 0 } };
	struct ibv_sge element = { .addr = (uintptr_t)memory, .length = 8 };
	struct ibv_send_wr request = { .sg_list = &element, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE, .send_flags = 2 }, *bad;
	struct ibv_qp_attr all;
	struct ibv_wc completion;
	union ibv_gid gid;
	int taken;

	if (!pair) {
		region = ibv_reg_mr(domain, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
		pair = ibv_create_qp(domain, &creation);
		check(region && pair && !ibv_query_gid(context, 1, 1, &gid), "a queue pair");
		all = connection_attributes(pair->qp_num, gid, 1);
		change(&all, IBV_QPS_INIT, ACCESS | PKEY_INDEX | PORT);
		change(&all, IBV_QPS_RTR, PATH | MTU | PEER | RECEIVE_PSN | TARGET_READS | RNR_TIMER);
		change(&all, IBV_QPS_RTS, TIMEOUT | RETRIES | RNR_RETRIES | SEND_PSN | READS);
	}
	element.lkey = region->lkey;
	request.wr.rdma.remote_addr = (uintptr_t)memory + 64;
	request.wr.rdma.rkey = region->rkey;
	check(!context->ops.post_send(pair, &request, &bad), "post");
	while (!(taken = context->ops.poll_cq(queue, 1, &completion)))
		;
	check(taken == 1 && completion.status == IBV_WC_SUCCESS, "a WRITE");
}

static void open_another(void)
{
	pair = NULL;
	open_device();
	write_something();
}

static int close_each(void)
{
	write_something();
	for (int i = 3; i < LIMIT; i++)
		close(i);
	write_something();
	open_another();
	return 0;
}

static int close_all_at_once(void)
{
	write_something();
	closefrom(3);
	write_something();
	open_another();
	check(!close_range(3, ~0U, 0), "close_range");
	write_something();
	open_another();
	return 0;
}

/* Returns the number of descriptors that the program cannot replace with dup2. */
static int java_descriptors(void)
{
	int count = 0;

	for (int i = 3; i < LIMIT; i++) {
		if (fcntl(i, F_GETFD) < 0 || close(i) == 0)
			continue;
		check(errno == EBADF, "the errno of close");
		check(dup2(1, i) == -1 && errno == EBUSY, "the errno of dup2");
		check(fcntl(i, F_GETFD) >= 0, "a descriptor of Java");
		count++;
	}
	return count;
}

static int replace(void)
{
	write_something();
	check(java_descriptors() > 3, "descriptors of Java");
	write_something();
	return 0;
}

/* A file that reuses the number of a closed channel keeps the contents that the program wrote. */
static int reuse_the_number_of_a_channel(void)
{
	struct stat status;
	int file;

	write_something();
	check(!context->ops.req_notify_cq(queue, 0), "a request for an event");
	file = memfd_create("file", 0);
	check(dup2(file, channel->fd) == channel->fd && !close(file), "dup2");
	for (int i = 0; i < 100; i++) {
		check(!context->ops.req_notify_cq(queue, 0), "a request for an event");
		write_something();
	}
	check(!fstat(channel->fd, &status) && status.st_size == 0, "the file");
	return 0;
}

/* Java's sockets do not take low numbers, which programs have uses for. */
static int low_numbers_are_free(void)
{
	struct stat status;
	int low = dup(1);

	write_something();
	check(close(low) == 0 && dup(1) == low, "a number that the program had used");
	for (int i = 3; i < 512; i++)
		check(fstat(i, &status) || !S_ISSOCK(status.st_mode), "a socket of Java");
	return 0;
}

static int has_roce_port(void)
{
	for (int i = 3; i < LIMIT; i++) {
		struct sockaddr_in address;
		socklen_t bytes = sizeof(address);

		if (!getsockname(i, (struct sockaddr *)&address, &bytes) && address.sin_port == htons(4791))
			return 1;
	}
	return 0;
}

/* A child that outlives its parent must not keep UDP port 4791. */
static int child_has_no_port(void)
{
	int status;
	pid_t child;

	write_something();
	check(has_roce_port(), "the port in the parent");
	child = fork();
	if (!child)
		_exit(has_roce_port());
	check(waitpid(child, &status, 0) == child && !status, "no port in the child");
	write_something();
	return 0;
}

/* A child of fork closes all descriptors, also Java's; closing in a child of vfork harms no one. */
static int close_in_child(void)
{
	int status;
	pid_t child;

	write_something();
	child = fork();
	if (!child) {
		closefrom(3);
		for (int i = 3; i < LIMIT; i++)
			check(fcntl(i, F_GETFD) < 0, "a descriptor that is closed");
		_exit(0);
	}
	check(waitpid(child, &status, 0) == child && !status, "the child");
	write_something();
	child = vfork();
	if (!child) {
		for (int i = 3; i < LIMIT; i++)
			close(i);
		_exit(fcntl(3, F_GETFD) >= 0);
	}
	check(waitpid(child, &status, 0) == child && !status, "the child of vfork");
	write_something();
	return 0;
}

/* The standard descriptors are closed, as daemons do. */
static int standard_descriptors(void)
{
	for (int i = 0; i < 3; i++)
		close(i);
	open_device();
	write_something();
	for (int i = 0, file = open("/dev/null", O_RDWR); i < 3; i++) {
		if (dup2(file, i) != i)
			return 98;
	}
	write_something();
	return 0;
}

static int waits_for;
static volatile int has_returned;

/* Sends the command with which librdmacm gets an event. */
static void *take_event(void *unused)
{
	static struct {
		uint32_t number;
		uint16_t structure_bytes, response_bytes;
		void *response;
	} command = { 12, 8, sizeof(memory), memory };
	ssize_t written = write(waits_for, &command, sizeof(command));

	(void)written;
	has_returned = 1;
	return unused;
}

/*
 * A thread that waits for an event keeps waiting after close, as in a kernel, even when something
 * else happens on the device.
 */
static int close_while_waiting(void)
{
	pthread_t thread;

	waits_for = open("/dev/infiniband/rdma_cm", O_RDWR | O_CLOEXEC);
	check(waits_for >= 0 && !pthread_create(&thread, NULL, take_event, NULL), "a file");
	usleep(200000);
	check(!has_returned && !close(waits_for), "close");
	for (int i = 0; i < 5; i++) {
		check(!context->ops.req_notify_cq(queue, 0), "a request for an event");
		write_something();
		usleep(50000);
	}
	check(!has_returned, "still waiting");
	return pthread_cancel(thread) || pthread_join(thread, NULL) ? 98 : 0;
}

static const struct test_case cases[] = {
	{ "close_while_waiting", close_while_waiting, 0 },
	{ "close_each", close_each, 0 },
	{ "close_all_at_once", close_all_at_once, 0 },
	{ "replace", replace, 0 },
	{ "reuse_the_number_of_a_channel", reuse_the_number_of_a_channel, 0 },
	{ "low_numbers_are_free", low_numbers_are_free, 0 },
	{ "child_has_no_port", child_has_no_port, 0 },
	{ "close_in_child", close_in_child, 0 },
	{ "standard_descriptors", standard_descriptors, 1 },
};

int main(int count, char **arguments)
{
	return count > 1 ? run_case(cases, sizeof(cases) / sizeof(*cases), arguments[1]) : 97;
}
