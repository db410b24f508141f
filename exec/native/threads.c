/*
 * The threads of the program that call Java, and their cancellation.
 *
 * A thread must not be canceled while it executes Java: the frames of Java cannot be unwound, and many of its system calls are
 * points where a thread is canceled. To disable cancellation at each call would take a third of the time of the call. So pthread_cancel
 * of this file does it: a thread that executes Java is canceled when it returns, and a thread that has been canceled disables
 * cancellation whenever it calls Java again.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "library.h"

#define MIN_STACK_BYTES (192 * 1024)

__thread struct java_thread java_thread __attribute__((tls_model("initial-exec"))) = { .care = CARE_NOT_ATTACHED };

static pthread_key_t attached_key;	/* its destructor detaches a thread that ends */
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct java_thread *attached;	/* under list_lock, as the next */
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
	/* It may be this thread that was canceled. */
	if (unknown_thread_canceled || !has_barrier)
		__atomic_fetch_or(&thread->care, CARE_ALWAYS, __ATOMIC_SEQ_CST);
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

/* When a thread ends. */
static void detach(void *unused)
{
	(void)unused;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	remove_from_list(&java_thread);
	java_thread.depth++;
	vm_detach();
	java_thread.depth--;
	java_thread.environment = NULL;
	java_thread.care = CARE_NOT_ATTACHED;
}

int threads_prepare(void)
{
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
	java_thread.care = CARE_NOT_ATTACHED;
	pthread_setspecific(attached_key, NULL);
}

/*
 * Java protects some pages at the end of the stack, and ends the process if a thread starts with less. The main thread has enough,
 * and its stack takes longer to find.
 */
static int has_stack_for_java(void)
{
	pthread_attr_t attributes;
	void *end;
	size_t bytes;
	int is_enough = 1;

	if (gettid() == getpid() || pthread_getattr_np(pthread_self(), &attributes))
		return 1;
	if (!pthread_attr_getstack(&attributes, &end, &bytes))
		is_enough = (size_t)((char *)__builtin_frame_address(0) - (char *)end) >= MIN_STACK_BYTES;
	pthread_attr_destroy(&attributes);
	return is_enough;
}

/* Attaches the calling thread to the Java virtual machine; it is detached when it ends. Returns 0 or an errno. */
static int attach(void)
{
	int error;

	if (!has_stack_for_java()) {
		complain("a thread of the program cannot use RDMA, as less than 192 KiB of its stack are free", "");
		return ENOMEM;
	}
	error = vm_attach(&java_thread.environment);
	if (error)
		return error;
	java_thread.self = pthread_self();
	add_to_list(&java_thread);
	pthread_setspecific(attached_key, &java_thread);
	return 0;
}

int java_enter_with_care(void)
{
	int error;

	if (java_thread.depth == 1) {
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &java_thread.cancel_state);
		java_thread.cancel_disabled = 1;
	}
	error = java_thread.environment ? 0 : attach();
	if (error)
		java_leave();
	return error;
}

void java_leave_with_care(void)
{
	int done = java_thread.environment ? CARE_NOT_ATTACHED : 0;
	int care;

	if (java_thread.depth)
		return;
	care = __atomic_and_fetch(&java_thread.care, ~done, __ATOMIC_SEQ_CST);
	if (java_thread.cancel_disabled) {
		java_thread.cancel_disabled = 0;
		pthread_setcancelstate(java_thread.cancel_state, NULL);
	}
	if (care & CARE_CANCELED)
		libc_pthread_cancel(pthread_self());
}

/*
 * Marks a thread as canceled, and returns whether it executes Java: it cancels itself then when it returns. A thread that does not sees
 * the mark before it executes Java again. java_enter and java_leave have no barrier between the depth and the care; that of all
 * threads is here.
 */
static int mark_canceled(struct java_thread *thread)
{
	__atomic_fetch_or(&thread->care, CARE_CANCELED, __ATOMIC_SEQ_CST);
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
