/*
 * Memory that is unmapped or replaced while it is registered. A card has the old pages pinned. Here the region loses its memory first:
 * its keys become invalid, so that no peer accesses what is mapped at the same addresses later. The handle of the program remains
 * valid until it deregisters the region.
 *
 * The C library unmaps memory in free without a call of munmap that could be interposed: see memory_access.c for what happens then.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bridge.h"
#include "library.h"

struct range {
	uintptr_t start;
	uintptr_t end;
	uintptr_t furthest;	/* the highest end of this and all ranges before it */
	uint32_t handle;
};

/* Sorted by start, as ranges may overlap. A program without registered memory takes no lock. */
static struct range *ranges;
static size_t count;
static size_t capacity;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* An allocator may map and unmap memory, and a signal handler may run, while this thread has the lock. */
static __thread int has_lock __attribute__((tls_model("initial-exec")));

static struct {
	void *(*mmap)(void *, size_t, int, int, int, off_t);
	int (*munmap)(void *, size_t);
	void *(*mremap)(void *, size_t, size_t, int, ...);
} next;

__attribute__((constructor(101))) static void find_next(void)
{
	*(void **)&next.mmap = dlsym(RTLD_NEXT, "mmap");
	*(void **)&next.munmap = dlsym(RTLD_NEXT, "munmap");
	*(void **)&next.mremap = dlsym(RTLD_NEXT, "mremap");
}

static void take_lock(void)
{
	pthread_mutex_lock(&lock);
	has_lock = 1;
}

static void release_lock(void)
{
	has_lock = 0;
	pthread_mutex_unlock(&lock);
}

static void set_count(size_t value)
{
	__atomic_store_n(&count, value, __ATOMIC_RELAXED);
}

/* The number of ranges that start before an address. */
static size_t count_before(uintptr_t address)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ranges[middle].start < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void set_furthest(size_t from)
{
	for (size_t i = from; i < count; i++) {
		uintptr_t before = i ? ranges[i - 1].furthest : 0;

		ranges[i].furthest = ranges[i].end > before ? ranges[i].end : before;
	}
}

static int grow(void)
{
	size_t larger = capacity ? 2 * capacity : 64;
	struct range *moved = realloc(ranges, larger * sizeof(*moved));

	if (!moved)
		return ENOMEM;
	ranges = moved;
	capacity = larger;
	return 0;
}

int regions_add(const void *address, size_t length, uint32_t handle)
{
	struct range added = { .start = (uintptr_t)address, .end = (uintptr_t)address + length, .handle = handle };
	int error = 0;
	size_t at;

	if (!length)
		return 0;
	take_lock();
	if (count == capacity)
		error = grow();
	if (!error) {
		at = count_before(added.start);
		memmove(&ranges[at + 1], &ranges[at], (count - at) * sizeof(*ranges));
		ranges[at] = added;
		set_count(count + 1);
		set_furthest(at);
	}
	release_lock();
	return error;
}

static void remove_at(size_t at)
{
	memmove(&ranges[at], &ranges[at + 1], (count - at - 1) * sizeof(*ranges));
	set_count(count - 1);
	set_furthest(at);
}

void regions_remove(const void *address, uint32_t handle)
{
	take_lock();
	for (size_t at = count_before((uintptr_t)address); at < count && ranges[at].start == (uintptr_t)address; at++) {
		if (ranges[at].handle == handle) {
			remove_at(at);
			break;
		}
	}
	release_lock();
}

/* A thread that forks in a handler of a signal may have the lock already. */
static __thread int has_lock_for_fork __attribute__((tls_model("initial-exec")));

void regions_before_fork(void)
{
	has_lock_for_fork = !has_lock;
	if (has_lock_for_fork)
		take_lock();
}

void regions_after_fork(void)
{
	if (has_lock_for_fork)
		release_lock();
}

void regions_forget(void)
{
	set_count(0);
}

/* Finds a range that has a byte from start on and before end. Returns its place plus one, or 0. */
static size_t find_overlap(uintptr_t start, uintptr_t end)
{
	size_t at = count_before(end);

	while (at && ranges[at - 1].furthest > start) {
		if (ranges[at - 1].end > start)
			return at;
		at--;
	}
	return 0;
}

/* Takes memory from the regions that have a part of it. */
static void end_access(void *address, size_t length)
{
	uintptr_t page = sysconf(_SC_PAGESIZE);
	uintptr_t start = (uintptr_t)address;
	uintptr_t end = start + ((length + page - 1) & ~(page - 1));
	int error = errno;
	size_t at;

	if (!__atomic_load_n(&count, __ATOMIC_RELAXED) || has_lock || is_called_by_java() || start % page)
		return;
	take_lock();
	while ((at = find_overlap(start, end)) > 0) {
		uint64_t arguments[] = { ranges[at - 1].handle };

		remove_at(at - 1);
		/* An error leaves nothing that could be done: the access itself will fail then. */
		bridge_call(BRIDGE_REVOKE, arguments);
	}
	release_lock();
	errno = error;
}

PUBLIC int munmap(void *address, size_t length)
{
	end_access(address, length);
	return next.munmap ? next.munmap(address, length) : (int)syscall(SYS_munmap, address, length);
}

PUBLIC void *mmap(void *address, size_t length, int protection, int flags, int descriptor, off_t offset)
{
	if (flags & MAP_FIXED)
		end_access(address, length);
	return next.mmap ? next.mmap(address, length, protection, flags, descriptor, offset)
			 : (void *)syscall(SYS_mmap, address, length, protection, flags, descriptor, offset);
}

PUBLIC void *mmap64(void *, size_t, int, int, int, off64_t) __attribute__((alias("mmap"), nothrow, leaf));

PUBLIC void *mremap(void *address, size_t length, size_t new_length, int flags, ...)
{
	void *target = NULL;
	void *result;
	va_list rest;

	if (flags & MREMAP_FIXED) {
		va_start(rest, flags);
		target = va_arg(rest, void *);
		va_end(rest);
		end_access(target, new_length);
	}
	result = next.mremap ? next.mremap(address, length, new_length, flags, target)
			     : (void *)syscall(SYS_mremap, address, length, new_length, flags, target);
	if (result != MAP_FAILED && result != address)
		end_access(address, length);
	else if (result == address && new_length < length)
		end_access((char *)address + new_length, length - new_length);
	return result;
}
