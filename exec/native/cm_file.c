/*
 * The device file of the connection manager, /dev/infiniband/rdma_cm. The librdmacm of the system opens it, asks fstat for its
 * kind, writes commands to it, and closes it. Here its descriptor is an eventfd, and Java executes the commands. Java keeps the
 * eventfd readable while an event waits, so that poll and fcntl work by themselves.
 *
 * A function below acts on descriptors of this file only, and passes all others to the C library.
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
#include "libc_calls.h"
#include "library.h"

/* The largest fs.nr_open of a usual system. The pages of numbers that are never used take no memory. */
#define DESCRIPTORS (1 << 20)

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

/* Java's handle of the file of each descriptor; 0 if it is another file. */
static int handles[DESCRIPTORS];

/* The highest descriptor that ever was one of this file; -1 before the first. */
static int highest = -1;

static pthread_once_t first_open = PTHREAD_ONCE_INIT;
static pid_t owner;		/* the process that has opened files */
static int is_child;		/* of fork, which has a table of its own, but no Java */
static dev_t device_number;	/* of the kernel's own device, if there is one: librdmacm may compare it */

static inline int handle_of(int descriptor)
{
	return (unsigned int)descriptor < DESCRIPTORS ? __atomic_load_n(&handles[descriptor], __ATOMIC_ACQUIRE) : 0;
}

/* Whether this is the process that has opened the files, and not a child of fork or vfork. The latter shares its memory. */
static int is_owner(void)
{
	return !is_child && getpid() == owner;
}

static void note_child(void)
{
	is_child = 1;
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

static void prepare(void)
{
	owner = getpid();
	pthread_atfork(NULL, NULL, note_child);
	read_device_number();
}

static void raise_highest(int descriptor)
{
	int known = __atomic_load_n(&highest, __ATOMIC_RELAXED);

	while (known < descriptor &&
	       !__atomic_compare_exchange_n(&highest, &known, descriptor, 1, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
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
	pthread_once(&first_open, prepare);
	descriptor = eventfd(0, (flags & O_CLOEXEC ? EFD_CLOEXEC : 0) | (flags & O_NONBLOCK ? EFD_NONBLOCK : 0));
	if (descriptor < 0)
		return -1;
	arguments[0] = descriptor;
	error = descriptor < DESCRIPTORS ? bridge_call(BRIDGE_CM_OPEN, arguments) : EMFILE;
	if (error) {
		libc_close(descriptor);
		errno = error;
		return -1;
	}
	prepare_exit();
	raise_highest(descriptor);
	__atomic_store_n(&handles[descriptor], (int)arguments[0], __ATOMIC_RELEASE);
	return descriptor;
}

/* Ends a file of Java before its descriptor is closed or replaced, which Java would otherwise still use. */
static void release(int descriptor)
{
	uint64_t arguments[1];

	if (is_owner()) {
		arguments[0] = __atomic_exchange_n(&handles[descriptor], 0, __ATOMIC_ACQ_REL);
		if (arguments[0])
			bridge_call(BRIDGE_CM_CLOSE, arguments);
	} else if (is_child) {
		handles[descriptor] = 0;
	}
}

static void release_all(unsigned int first, unsigned int last)
{
	int end = __atomic_load_n(&highest, __ATOMIC_ACQUIRE);

	for (unsigned int descriptor = first; descriptor <= last && (int)descriptor <= end && descriptor < DESCRIPTORS; descriptor++) {
		if (handle_of(descriptor))
			release(descriptor);
	}
}

PUBLIC int close(int descriptor)
{
	if (__builtin_expect(handle_of(descriptor), 0)) {
		int before = errno;

		release(descriptor);
		errno = before;
	}
	return libc_close(descriptor);
}

PUBLIC int close_range(unsigned int first, unsigned int last, int flags)
{
	if (!(flags & 4 /* CLOSE_RANGE_CLOEXEC */))
		release_all(first, last);
	return libc_close_range(first, last, flags);
}

PUBLIC void closefrom(int first)
{
	unsigned int from = first < 0 ? 0 : first;

	release_all(from, ~0U);
	if (!libc_close_range(from, ~0U, 0))
		return;
	for (int descriptor = from, end = (int)sysconf(_SC_OPEN_MAX); descriptor < end; descriptor++)
		libc_close(descriptor);
}

/* Ends a file of Java that a descriptor is about to replace. */
static void release_replaced(int descriptor, int wanted)
{
	if (__builtin_expect(handle_of(wanted), 0) && descriptor != wanted && fcntl(descriptor, F_GETFD) >= 0)
		release(wanted);
}

PUBLIC int dup3(int descriptor, int wanted, int flags)
{
	release_replaced(descriptor, wanted);
	return libc_dup3(descriptor, wanted, flags);
}

PUBLIC int dup2(int descriptor, int wanted)
{
	if (descriptor == wanted)
		return fcntl(descriptor, F_GETFD) < 0 ? -1 : wanted;
	release_replaced(descriptor, wanted);
	return libc_dup2(descriptor, wanted);
}

/* Java's handle of the file from which a command takes an identifier; 0 if the command names none. */
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
	int error;

	do {
		uint64_t arguments[] = { handle, (uintptr_t)buffer, bytes, other_handle(buffer, bytes) };

		error = bridge_call(BRIDGE_CM_WRITE, arguments);
		if (error != EAGAIN || command->number != GET_EVENT)
			break;
		error = wait_readable(descriptor);
	} while (!error);
	errno = error ? error : before;
	return error ? -1 : (ssize_t)bytes;
}

PUBLIC ssize_t write(int descriptor, const void *buffer, size_t bytes)
{
	int handle = handle_of(descriptor);

	/* Java writes to the eventfd itself. After vfork, a descriptor of the child may be another file. */
	if (__builtin_expect(!handle, 1) || is_called_by_java() || (!is_child && getpid() != owner))
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

/* What programs call that were compiled with glibc before 2.33. The version is always that of the only structure. */
PUBLIC int __fxstat(int version, int descriptor, struct stat *result)
{
	(void)version;
	return fstat(descriptor, result);
}

PUBLIC int __fxstat64(int version, int descriptor, struct stat64 *result) __attribute__((alias("__fxstat"), nothrow));
