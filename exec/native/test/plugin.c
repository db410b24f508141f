/*
 * A library that uses the device in its constructor, where its thread has the lock of the dynamic linker, and with -DHOST the program that
 * loads it: plugin FILE [small]. With "small", the thread that loads it has a small stack.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#ifdef HOST

static char *file;

static void *load(void *unused)
{
	void *library = dlopen(file, RTLD_NOW);

	(void)unused;
	if (!library)
		fprintf(stderr, "%s\n", dlerror());
	return library;
}

int main(int count, char **arguments)
{
	pthread_attr_t attributes;
	pthread_t thread;
	void *result = NULL;

	if (count < 2)
		return 97;
	file = arguments[1];
	if (count < 3)
		return load(NULL) ? 0 : 98;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 128 * 1024);
	return pthread_create(&thread, &attributes, load, NULL) || pthread_join(thread, &result) || !result ? 98 : 0;
}

#else

#include "device.h"

__attribute__((constructor)) static void use_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_mr *region;
	static char memory[4096];

	if (!list) {
		check(errno == EDEADLK, "the error of a start that is not possible");
		return;
	}
	ibv_free_device_list(list);
	open_device();
	region = ibv_reg_mr(domain, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE);
	check(region && poll_once() == 0 && !context->ops.req_notify_cq(queue, 0), "calls");
}

#endif
