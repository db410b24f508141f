/*
 * Memory that is unmapped or replaced while it is registered. A card has the old pages pinned. Here
 * the region loses its memory first: peers can no longer access it with the keys of the region or
 * of windows bound to it, so nobody reaches what is mapped at the same addresses later. If the call
 * fails, the region gets its memory back (decision 059). The program's handle stays valid until it
 * deregisters the region.
 *
 * In free, the C library unmaps memory without a call to munmap that could be interposed: see
 * memory_access.c for what happens then.
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

/*
 * A binary tree ordered by is_before. The priorities determine its shape: no child has a higher one
 * than its parent. Ranges may overlap. A program without registered memory takes no lock.
 */
static struct range *root;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* While a thread has it, an allocator may map and unmap memory, and a signal handler may run. */
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

static void set_root(struct range *value)
{
	__atomic_store_n(&root, value, __ATOMIC_RELAXED);
}

static int is_before(const struct range *one, const struct range *other)
{
	return one->start != other->start ? one->start < other->start : one < other;
}

static uintptr_t furthest_of(const struct range *range)
{
	return range ? range->furthest : 0;
}

static void update(struct range *range)
{
	uintptr_t left = furthest_of(range->left);
	uintptr_t right = furthest_of(range->right);
	uintptr_t below = left > right ? left : right;

	range->furthest = range->end > below ? range->end : below;
}

/* Joins two trees. All ranges of the first are before those of the second. */
static struct range *join(struct range *first, struct range *second)
{
	if (!first || !second)
		return first ? first : second;
	if (first->priority > second->priority) {
		first->right = join(first->right, second);
		update(first);
		return first;
	}
	second->left = join(first, second->left);
	update(second);
	return second;
}

/* Splits a tree into the ranges before one and all others. */
static void split(struct range *tree, const struct range *at, struct range **before,
		  struct range **others)
{
	if (!tree) {
		*before = NULL;
		*others = NULL;
		return;
	}
	if (is_before(tree, at)) {
		split(tree->right, at, &tree->right, others);
		*before = tree;
	} else {
		split(tree->left, at, before, &tree->left);
		*others = tree;
	}
	update(tree);
}

static void insert(struct range *added)
{
	struct range *before, *others;

	added->left = NULL;
	added->right = NULL;
	update(added);
	split(root, added, &before, &others);
	set_root(join(join(before, added), others));
}

/* Removes a range from a tree, and returns the tree. */
static struct range *remove_from(struct range *tree, const struct range *removed)
{
	if (!tree)
		return NULL;
	if (tree == removed)
		return join(tree->left, tree->right);
	if (is_before(removed, tree))
		tree->left = remove_from(tree->left, removed);
	else
		tree->right = remove_from(tree->right, removed);
	update(tree);
	return tree;
}

/* Returns a range that overlaps the addresses from start to end (exclusive), or NULL. */
static struct range *find_overlap(uintptr_t start, uintptr_t end)
{
	struct range *range = root;

	/*
	 * If a range on the left ends after start but none there overlaps, it starts at end or
	 * later, and so do all ranges on the right.
	 */
	while (range && (range->start >= end || range->end <= start))
		range = furthest_of(range->left) > start ? range->left : range->right;
	return range;
}

void regions_add(struct range *range, const void *address, size_t length, uint32_t handle)
{
	*range = (struct range){
		.start = (uintptr_t)address,
		.end = (uintptr_t)address + length,
		.handle = handle,
		/* Object addresses are regular; the product is not. */
		.priority = (uint32_t)((uint64_t)(uintptr_t)range * 0x9e3779b97f4a7c15 >> 32),
	};
	if (!length)
		return;
	take_lock();
	insert(range);
	release_lock();
}

void regions_remove(struct range *range)
{
	take_lock();
	set_root(remove_from(root, range));
	release_lock();
}

int regions_close(struct range *range)
{
	uint64_t arguments[] = { range->handle };
	int error;

	/* Under the lock, because Java may give the handle to another object. */
	take_lock();
	error = bridge_call(BRIDGE_CLOSE, arguments);
	if (!error)
		set_root(remove_from(root, range));
	release_lock();
	return error;
}

/* A thread that forks in a signal handler may already hold the lock. */
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
	set_root(NULL);
}

static size_t whole_pages(size_t bytes)
{
	size_t page = sysconf(_SC_PAGESIZE);

	return (bytes + page - 1) & ~(page - 1);
}

int is_mapped(const void *address, size_t length)
{
	uintptr_t page = sysconf(_SC_PAGESIZE);
	uintptr_t start = (uintptr_t)address & ~(page - 1);

	return !length || !msync((void *)start, (uintptr_t)address - start + length, MS_ASYNC) || errno != ENOMEM;
}

static void set_accessible(const struct range *range, int is_accessible)
{
	uint64_t arguments[] = { range->handle, is_accessible };

	/* On an error there is nothing left to do: the access itself will fail then. */
	bridge_call(BRIDGE_SET_ACCESSIBLE, arguments);
}

/*
 * Takes the memory from all regions that overlap a range, and moves them to a list. The thread
 * holds the lock while the list has any, so that the program cannot deregister them meanwhile. Does
 * nothing for arguments that the kernel refuses.
 */
static void withhold(struct range **withheld, void *address, size_t length)
{
	uintptr_t start = (uintptr_t)address;
	uintptr_t end = start + whole_pages(length);
	int error = errno;
	struct range *range;

	if (!__atomic_load_n(&root, __ATOMIC_RELAXED) || is_called_by_java() || start != whole_pages(start) || end <= start)
		return;
	if (!*withheld) {
		if (has_lock)
			return;
		take_lock();
	}
	while ((range = find_overlap(start, end)) != NULL) {
		set_root(remove_from(root, range));
		range->next = *withheld;
		*withheld = range;
		set_accessible(range, 0);
	}
	if (!*withheld)
		release_lock();
	errno = error;
}

/* If the call has failed, gives the regions on a list their memory back. Releases the lock. */
static void finish(struct range *withheld, int has_failed)
{
	int error = errno;
	struct range *next;

	if (!withheld)
		return;
	for (struct range *range = withheld; range; range = next) {
		next = range->next;
		/* Some failures of mmap leave a gap. */
		if (has_failed && is_mapped((void *)range->start, range->end - range->start)) {
			insert(range);
			set_accessible(range, 1);
		}
	}
	release_lock();
	errno = error;
}

PUBLIC int munmap(void *address, size_t length)
{
	struct range *withheld = NULL;
	int result;

	withhold(&withheld, address, length);
	result = next.munmap ? next.munmap(address, length) : (int)syscall(SYS_munmap, address, length);
	finish(withheld, result);
	return result;
}

PUBLIC void *mmap(void *address, size_t length, int protection, int flags, int descriptor, off_t offset)
{
	struct range *withheld = NULL;
	void *result;

	if (flags & MAP_FIXED)
		withhold(&withheld, address, length);
	result = next.mmap ? next.mmap(address, length, protection, flags, descriptor, offset)
			   : (void *)syscall(SYS_mmap, address, length, protection, flags, descriptor, offset);
	finish(withheld, result == MAP_FAILED);
	return result;
}

PUBLIC void *mmap64(void *, size_t, int, int, int, off64_t) __attribute__((alias("mmap"), nothrow, leaf));

static void *call_mremap(void *address, size_t length, size_t new_length, int flags, void *target)
{
	return next.mremap ? next.mremap(address, length, new_length, flags, target)
			   : (void *)syscall(SYS_mremap, address, length, new_length, flags, target);
}

PUBLIC void *mremap(void *address, size_t length, size_t new_length, int flags, ...)
{
	struct range *withheld = NULL;
	void *target = NULL;
	void *result;
	va_list rest;

	if (flags & MREMAP_FIXED) {
		va_start(rest, flags);
		target = va_arg(rest, void *);
		va_end(rest);
		withhold(&withheld, target, new_length);
	}
	/* Memory that can grow in place stays with its regions. */
	if (flags == MREMAP_MAYMOVE && length && new_length > length && __atomic_load_n(&root, __ATOMIC_RELAXED)) {
		int error = errno;

		result = call_mremap(address, length, new_length, 0, NULL);
		if (result != MAP_FAILED || errno != ENOMEM)
			return result;
		errno = error;
	}
	if (flags & ~MREMAP_MAYMOVE || (flags && new_length > length))
		withhold(&withheld, address, length);
	else if (new_length < length)
		withhold(&withheld, (char *)address + whole_pages(new_length), whole_pages(length) - whole_pages(new_length));
	result = call_mremap(address, length, new_length, flags, target);
	finish(withheld, result == MAP_FAILED);
	return result;
}
