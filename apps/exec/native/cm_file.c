/*
 * The device file of the connection manager, /dev/infiniband/rdma_cm. The system's librdmacm opens
 * it, checks its kind with fstat, writes commands to it, and closes it. Here its descriptor is an
 * eventfd, and Java executes the commands. Java keeps the eventfd readable while an event is
 * pending, so that poll and fcntl work unchanged.
 *
 * The functions below handle descriptors of this file only, and pass all others to the C library.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "bridge.h"
#include "descriptors.h"
#include "libc_calls.h"
#include "library.h"

/* From rdma/rdma_user_cm.h. */
enum { GET_EVENT = 12, MIGRATE_ID = 18 };

struct command {
	uint32_t number;
	uint16_t structure_bytes;
	uint16_t response_bytes;
};

struct migrate_command {
	struct command header;
	uint64_t response;
	uint32_t identifier;
	uint32_t descriptor;
};

static pthread_once_t first_open = PTHREAD_ONCE_INIT;
/* The number of the kernel's device, if there is one: librdmacm may compare it. */
static dev_t device_number;

/* Java's handle of the file behind a descriptor; 0 if it is another file. */
static inline int handle_of(int descriptor)
{
	int mark = descriptor_mark(descriptor);

	return mark > 0 ? mark : 0;
}

static void read_device_number(void)
{
	char text[32] = "";
	unsigned int major = 0;
	unsigned int minor = 0;
	int file = libc_open("/sys/class/misc/rdma_cm/dev", O_RDONLY | O_CLOEXEC, 0);

	if (file < 0)
		return;
	if (read(file, text, sizeof(text) - 1) > 0 && sscanf(text, "%u:%u", &major, &minor) == 2)
		device_number = makedev(major, minor);
	libc_close(file);
}

int cm_open(int flags)
{
	uint64_t arguments[1];
	int descriptor;
	int error = bridge_start();

	if (error) {
		errno = error;
		return -1;
	}
	pthread_once(&first_open, read_device_number);
	descriptor = event_descriptor((flags & O_CLOEXEC ? EFD_CLOEXEC : 0) | (flags & O_NONBLOCK ? EFD_NONBLOCK : 0));
	if (descriptor < 0)
		return -1;
	arguments[0] = descriptor;
	error = bridge_call(BRIDGE_CM_OPEN, arguments);
	if (error) {
		close(descriptor);
		errno = error;
		return -1;
	}
	prepare_exit();
	descriptor_set_mark(descriptor, (int)arguments[0]);
	return descriptor;
}

void cm_close(int handle)
{
	uint64_t arguments[] = { handle };

	bridge_call(BRIDGE_CM_CLOSE, arguments);
}

/* Java's handle of the file that an identifier is migrated from; 0 for other commands. */
static int other_handle(const void *buffer, size_t bytes)
{
	const struct migrate_command *command = buffer;

	if (bytes < sizeof(*command) || command->header.number != MIGRATE_ID)
		return 0;
	return handle_of((int)command->descriptor);
}

static ssize_t execute(int descriptor, int handle, const void *buffer, size_t bytes)
{
	const struct command *command = buffer;
	int before = errno;
	int has_waited = 0;
	int error;

	do {
		uint64_t arguments[] = { handle, (uintptr_t)buffer, bytes, other_handle(buffer, bytes) };

		error = bridge_call(BRIDGE_CM_WRITE, arguments);
		if (error && has_waited && handle_of(descriptor) != handle)
			error = wait_for_closed();
		if (error != EAGAIN || command->number != GET_EVENT)
			break;
		error = wait_readable(descriptor);
		has_waited = 1;
	} while (!error);
	errno = error ? error : before;
	return error ? -1 : (ssize_t)bytes;
}

PUBLIC ssize_t write(int descriptor, const void *buffer, size_t bytes)
{
	int handle = handle_of(descriptor);

	/* Java writes to the eventfd directly. After vfork, a descriptor may be another file. */
	if (__builtin_expect(!handle, 1) || is_called_by_java() || descriptors_are_of_parent())
		return libc_write(descriptor, buffer, bytes);
	return execute(descriptor, handle, buffer, bytes);
}

void describe_device(struct stat *result, dev_t device)
{
	result->st_mode = S_IFCHR | 0666;
	result->st_rdev = device;
	result->st_size = 0;
}

PUBLIC int fstat(int descriptor, struct stat *result)
{
	int error = libc_fstat(descriptor, result);

	if (!error && __builtin_expect(handle_of(descriptor), 0))
		describe_device(result, device_number);
	return error;
}

/* The structures are the same on 64-bit systems. */
PUBLIC int fstat64(int descriptor, struct stat64 *result) __attribute__((alias("fstat"), nothrow));

/* Programs built against glibc before 2.33 call this. There is only one structure version. */
PUBLIC int __fxstat(int version, int descriptor, struct stat *result)
{
	(void)version;
	return fstat(descriptor, result);
}

PUBLIC int __fxstat64(int version, int descriptor, struct stat64 *result) __attribute__((alias("__fxstat"), nothrow));
