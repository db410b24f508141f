/*
 * The threads of the program that call Java, their stacks, and their cancellation.
 *
 * Java checks the bounds of a thread's stack, and reserves some pages at the end. Therefore a
 * thread calls Java only on its own stack, and only while enough of it is free. Elsewhere, for
 * example in a coroutine, a helper calls Java (helpers.c).
 *
 * A thread must not be canceled while it executes Java: Java frames cannot be unwound, and many of
 * Java's system calls are cancellation points. Disabling cancellation in each call would take a
 * third of the time of the call. Instead, pthread_cancel in this file takes care of it: a thread
 * that executes Java is canceled when it returns, and a thread that has been canceled disables
 * cancellation whenever it calls Java again.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/membarrier.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "library.h"

/*
 * The stack that a call into Java may need, including the pages at the end. 160 KiB were seen when
 * the virtual machine compiled all code before its first use.
 */
#define JAVA_STACK_BYTES (256 * 1024)

struct stack {
	uintptr_t start;
	uintptr_t end;		/* 0 if the stack is unknown */
};

__thread struct java_thread java_thread __attribute__((tls_model("initial-exec")));

static __thread struct stack own_stack __attribute__((tls_model("initial-exec")));
/* The stack of the first thread of the process, as far as Java may use it. */
static struct stack main_stack;

static pthread_key_t attached_key;	/* its destructor detaches a thread that ends */
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct java_thread *attached;	/* under list_lock, like the next */
static int unknown_thread_canceled;
static int has_barrier;
static int (*libc_pthread_cancel)(pthread_t);

/* Another library may call pthread_cancel before the constructor runs. */
__attribute__((constructor)) static void find_libc(void)
{
	libc_pthread_cancel = (int (*)(pthread_t))dlsym(RTLD_NEXT, "pthread_cancel");
}

static void add_to_list(struct java_thread *thread)
{
	pthread_mutex_lock(&list_lock);
	thread->next = attached;
	attached = thread;
	/* This may be the thread that was canceled. */
	if (unknown_thread_canceled || !has_barrier)
		__atomic_fetch_or(&thread->slow_path, SLOW_PATH_ALWAYS, __ATOMIC_SEQ_CST);
	pthread_mutex_unlock(&list_lock);
}

static void remove_from_list(struct java_thread *thread)
{
	struct java_thread **link = &attached;

	pthread_mutex_lock(&list_lock);
	while (*link && *link != thread)
		link = &(*link)->next;
	if (*link)
		*link = thread->next;
	pthread_mutex_unlock(&list_lock);
}

/* Runs when a thread ends. */
static void detach(void *unused)
{
	(void)unused;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	remove_from_list(&java_thread);
	if (java_thread.environment) {
		java_thread.depth++;
		vm_detach();
		java_thread.depth--;
	}
	java_thread.environment = NULL;
	java_thread.stack_bytes = 0;
	java_thread.slow_path = 0;
	helpers_release(java_thread.helper);
	java_thread.helper = NULL;
}

void threads_watch_end(void)
{
	pthread_setspecific(attached_key, &java_thread);
}

/*
 * Finds the same bounds as the virtual machine. The kernel puts the name of the program at the end
 * of the stack.
 */
static void find_main_stack(void)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t bytes = MAIN_STACK_KIB * 1024UL;
	uintptr_t name = getauxval(AT_EXECFN);
	struct rlimit limit;

	if (!name || getrlimit(RLIMIT_STACK, &limit))
		return;
	if (limit.rlim_cur < bytes)
		bytes = limit.rlim_cur;
	main_stack.end = (name + page) & ~(page - 1);
	main_stack.start = main_stack.end - bytes + 2 * page;
}

int threads_prepare(void)
{
	if (main_stack.end)
		return 0;
	find_main_stack();
	has_barrier = !syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
	return pthread_key_create(&attached_key, detach);
}

int threads_have_barrier(void)
{
	return has_barrier;
}

void threads_before_fork(void)
{
	pthread_mutex_lock(&list_lock);
}

void threads_after_fork(void)
{
	pthread_mutex_unlock(&list_lock);
}

void threads_forget(void)
{
	attached = NULL;
	java_thread.environment = NULL;
	java_thread.stack_bytes = 0;
	java_thread.slow_path = 0;
	java_thread.helper = NULL;
	pthread_setspecific(attached_key, NULL);
}

static int is_within(const struct stack *stack, uintptr_t address)
{
	return address >= stack->start && address < stack->end;
}

/* Finds the bounds of the thread's own stack, even while it runs on another one. */
static void find_own_stack(uintptr_t here)
{
	pthread_attr_t attributes;
	void *start;
	size_t bytes;

	if (is_within(&main_stack, here)) {
		own_stack = main_stack;
		return;
	}
	if (pthread_getattr_np(pthread_self(), &attributes))
		return;
	if (!pthread_attr_getstack(&attributes, &start, &bytes)) {
		own_stack = (struct stack){ .start = (uintptr_t)start, .end = (uintptr_t)start + bytes };
		/* The first thread: Java may not use all of its stack. */
		if (is_within(&own_stack, main_stack.end - 1))
			own_stack = main_stack;
	}
	pthread_attr_destroy(&attributes);
}

/* Returns whether that many bytes are free below the caller's frame on the thread's own stack. */
static int has_stack(size_t bytes)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	if (!own_stack.end)
		find_own_stack(here);
	return is_within(&own_stack, here) && here - own_stack.start > bytes;
}

/*
 * Attaches the calling thread to the Java virtual machine until the thread ends. Returns whether it
 * can call Java.
 */
static int attach(void)
{
	if (vm_attach(&java_thread.environment))
		return 0;
	java_thread.self = pthread_self();
	java_thread.stack_start = own_stack.start + JAVA_STACK_BYTES;
	java_thread.stack_bytes = own_stack.end - java_thread.stack_start;
	add_to_list(&java_thread);
	threads_watch_end();
	return 1;
}

int java_enter_slow_path(void)
{
	if (!has_stack(JAVA_STACK_BYTES)) {
		java_leave();
		return 1;
	}
	if (java_thread.depth == 1) {
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &java_thread.cancel_state);
		__atomic_fetch_or(&java_thread.slow_path, SLOW_PATH_RESTORE, __ATOMIC_SEQ_CST);
	}
	if (java_thread.environment || attach())
		return 0;
	java_leave();
	return 1;
}

void java_leave_slow_path(void)
{
	int reasons;

	if (java_thread.depth)
		return;
	reasons = __atomic_fetch_and(&java_thread.slow_path,
				     ~(SLOW_PATH_RESTORE | SLOW_PATH_SIGNAL), __ATOMIC_SEQ_CST);
	if (reasons & SLOW_PATH_RESTORE)
		pthread_setcancelstate(java_thread.cancel_state, NULL);
	if (reasons & SLOW_PATH_SIGNAL)
		signals_run_deferred();
	if (reasons & SLOW_PATH_CANCELED)
		libc_pthread_cancel(pthread_self());
}

/*
 * Marks a thread as canceled, and returns whether it executes Java; if so, it cancels itself when
 * it returns. Otherwise it sees the mark before it executes Java again. java_enter and java_leave
 * have no barrier between depth and slow_path, so this function executes one in all threads.
 */
static int mark_canceled(struct java_thread *thread)
{
	__atomic_fetch_or(&thread->slow_path, SLOW_PATH_CANCELED, __ATOMIC_SEQ_CST);
	if (has_barrier)
		syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
	return __atomic_load_n(&thread->depth, __ATOMIC_SEQ_CST) > 0;
}

PUBLIC int pthread_cancel(pthread_t thread)
{
	struct java_thread *target;
	int is_left_to_target = 0;
	int state;

	if (!libc_pthread_cancel)
		find_libc();
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_mutex_lock(&list_lock);
	for (target = attached; target && !pthread_equal(target->self, thread); target = target->next)
		;
	if (target)
		is_left_to_target = mark_canceled(target);
	else
		unknown_thread_canceled = 1;
	pthread_mutex_unlock(&list_lock);
	pthread_setcancelstate(state, NULL);
	return is_left_to_target ? 0 : libc_pthread_cancel(thread);
}
