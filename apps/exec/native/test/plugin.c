/*
 * A library that uses the device in its constructor, where its thread holds the lock of the dynamic
 * linker so that Java cannot start, and again afterwards. With -DHOST: the program that loads it,
 * plugin FILE.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

#ifdef HOST

int main(int count, char **arguments)
{
	void *library = count > 1 ? dlopen(arguments[1], RTLD_NOW) : NULL;
	void (*use_device)(void) = library ? (void (*)(void))dlsym(library, "use_device") : NULL;

	if (!use_device) {
		fprintf(stderr, "%s\n", dlerror());
		return 98;
	}
	use_device();
	return 0;
}

#else

#include "device.h"

__attribute__((constructor)) static void use_device_too_early(void)
{
	check(!ibv_get_device_list(NULL) && errno == EDEADLK, "the error of an impossible start");
}

void use_device(void)
{
	static char memory[4096];
	struct ibv_mr *region;

	open_device();
	region = ibv_reg_mr(domain, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE);
	check(region && poll_once() == 0 && !context->ops.req_notify_cq(queue, 0), "calls");
}

#endif
