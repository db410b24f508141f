/* A device with a completion queue, and helpers that the cases of a test program share. */
#ifndef RDMA4J_TEST_DEVICE_H
#define RDMA4J_TEST_DEVICE_H

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "verbs_abi.h"

static struct ibv_context *context;
static struct ibv_pd *domain;
static struct ibv_comp_channel *channel;
static struct ibv_cq *queue;

static inline void check(int is_right, const char *what)
{
	if (is_right)
		return;
	fprintf(stderr, "failed: %s (errno %d)\n", what, errno);
	_exit(99);
}

static inline void open_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	check(list && list[0], "a device");
	context = ibv_open_device(list[0]);
	check(context != NULL, "open");
	ibv_free_device_list(list);
	domain = ibv_alloc_pd(context);
	channel = ibv_create_comp_channel(context);
	queue = ibv_create_cq(context, 16, NULL, channel, 0);
	check(domain && channel && queue, "objects");
}

static inline int poll_once(void)
{
	struct ibv_wc completion;

	return context->ops.poll_cq(queue, 1, &completion);
}

struct test_case {
	const char *name;
	int (*run)(void);
	int opens_later;
};

/* Runs the case with a name. Its result is the exit status. */
static inline int run_case(const struct test_case *cases, size_t count, const char *name)
{
	for (size_t i = 0; name && i < count; i++) {
		if (strcmp(cases[i].name, name))
			continue;
		if (!cases[i].opens_later)
			open_device();
		return cases[i].run();
	}
	return 97;
}

#endif
