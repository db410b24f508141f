/* Declarations that all files of the library share. */
#ifndef RDMA4J_LIBRARY_H
#define RDMA4J_LIBRARY_H

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>

/* Exports a symbol: the library is compiled with -fvisibility=hidden. */
#define PUBLIC __attribute__((visibility("default")))

/* Why a thread takes the slow path when it calls Java or returns from it. Flags. */
enum slow_path_reason {
	SLOW_PATH_CANCELED = 1,
	/* The thread may have been canceled, or others cannot see whether it runs Java. */
	SLOW_PATH_ALWAYS = 2,
	SLOW_PATH_SIGNAL = 4,	/* a signal of the program waits for the return from Java */
	SLOW_PATH_RESTORE = 8,	/* the current call has disabled cancellation */
};

struct helper;

/*
 * The state of a thread. Signal handlers need it: a fault or a broken pipe in Java belongs to Java,
 * any other one to the program.
 */
struct java_thread {
	void *environment;	/* the JNIEnv; NULL until the thread is attached */
	/* The part of its stack on which it may call Java; empty until it is attached. */
	uintptr_t stack_start;
	size_t stack_bytes;
	/* Calls into Java that have not returned; never 0 in threads of the virtual machine. */
	int depth;
	int slow_path;		/* flags of enum slow_path_reason; other threads change it too */
	int cancel_state;	/* the state that SLOW_PATH_RESTORE restores */
	/* Calls Java for it when it is on another stack; NULL before the first such call. */
	struct helper *helper;
	pthread_t self;
	struct java_thread *next;
};

extern __thread struct java_thread java_thread __attribute__((tls_model("initial-exec")));

/*
 * Returns whether Java itself is the caller: the modules for hardware devices also use libibverbs
 * and /dev/infiniband/rdma_cm.
 */
static inline int is_called_by_java(void)
{
	return java_thread.depth > 0;
}

/*
 * threads.c: the slow paths of java_enter and java_leave, for a thread that has a flag in slow_path
 * or cannot call Java on this stack.
 */
int java_enter_slow_path(void);
void java_leave_slow_path(void);

/*
 * Surround each call into Java. java_enter returns 0 if this thread can call Java on this stack;
 * otherwise java_leave must not be called, and call_by_helper makes the call. In between, the
 * thread cannot be canceled, and no handler of the program runs. The order of the two accesses
 * matters to pthread_cancel in threads.c and to the handler in signals.c.
 */
static inline void java_leave(void)
{
	__atomic_store_n(&java_thread.depth, java_thread.depth - 1, __ATOMIC_RELEASE);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (__builtin_expect(__atomic_load_n(&java_thread.slow_path, __ATOMIC_RELAXED), 0))
		java_leave_slow_path();
}

static inline int java_enter(void)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	__atomic_store_n(&java_thread.depth, java_thread.depth + 1, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (__builtin_expect(__atomic_load_n(&java_thread.slow_path, __ATOMIC_RELAXED) ||
				     here - java_thread.stack_start >= java_thread.stack_bytes, 0))
		return java_enter_slow_path();
	return 0;
}

/* The function that a helper calls: bridge_call (CALL_CONTROL) or one in struct bridge_data. */
enum java_function { CALL_CONTROL, CALL_POLL, CALL_POLL_TIMED, CALL_REQUEST_NOTIFICATION, CALL_POST_SEND, CALL_POST_RECEIVE, CALL_POST_SRQ_RECEIVE };

/*
 * helpers.c: has another thread call Java and waits for its return. Takes the arguments of the
 * function and returns its result, or returns an error in the way of the function.
 */
int call_by_helper(enum java_function function, uint64_t first, uint64_t second, uint64_t third);
void helpers_release(struct helper *helper);	/* when the thread that used it ends */
void helpers_before_fork(void);
void helpers_after_fork(void);
void helpers_forget(void);	/* in the child */

/*
 * threads.c: threads_prepare is called once before the virtual machine starts, and returns 0 or an
 * errno. threads_have_barrier returns whether the process can make the kernel execute a memory
 * barrier in each of its threads. The others are called around fork.
 */
int threads_prepare(void);
int threads_have_barrier(void);
void threads_before_fork(void);
void threads_after_fork(void);
void threads_forget(void);	/* in the child, which has one thread and no devices */

/* Releases the Java resources of the calling thread when it ends. */
void threads_watch_end(void);

/* The stack that Java may use in the first thread, in KiB; an option of the virtual machine. */
#define MAIN_STACK_KIB 8192

/* jvm.c: writes a sentence, followed by a detail that may be empty, to standard error. */
void log_error(const char *sentence, const char *detail);

/* start.c: starts the virtual machine in a new thread. Returns the result of begin, or an errno. */
int start_in_thread(int (*begin)(void));

/*
 * jvm.c: the virtual machine. vm_attach attaches the calling thread to it, vm_detach detaches the
 * thread. vm_attach and vm_check return 0 or an errno.
 */
int vm_has_code(const void *address);	/* whether an address is in its code */
int vm_check(void);	/* whether it runs in this process */
int vm_attach(void **environment);
void vm_detach(void);

/*
 * events.c: wait_readable blocks until the eventfd of an event source is readable; it returns
 * EAGAIN for one that is non-blocking, otherwise 0 or an errno. The Java thread that has made an
 * eventfd readable calls note_raised.
 */
int wait_readable(int descriptor);
/*
 * For a thread that waits on a descriptor that another thread has closed. A kernel keeps the file
 * open for it, but no event wakes it any more: it waits until a signal interrupts the call or the
 * process ends. Programs like rping rely on this when they close their channel at the end. Returns
 * EBADF.
 */
int wait_for_closed(void);
void note_raised(void);

/* regions.c: the addresses of registered memory. */
struct range {
	uintptr_t start;
	uintptr_t end;
	uintptr_t furthest;	/* the highest end in the subtree of this range */
	uint32_t handle;	/* Java's */
	uint32_t priority;
	struct range *left;
	struct range *right;
	struct range *next;	/* in the list of ranges that a call withholds */
};

/*
 * regions.c: regions_remove does nothing if the range is no longer in the tree because its memory
 * was unmapped. regions_close also closes the Java region, and returns 0 or an errno, after which
 * the range is unchanged. regions_before_fork takes the lock, so that it is free in the child; a
 * child of fork, which has no devices, then calls regions_forget. is_mapped touches no page.
 */
void regions_add(struct range *range, const void *address, size_t length, uint32_t handle);
void regions_remove(struct range *range);
int regions_close(struct range *range);
void regions_before_fork(void);
void regions_after_fork(void);
void regions_forget(void);
int is_mapped(const void *address, size_t length);

/* xrc_domain.c: take and release its lock, so that it is free in the child. */
void xrc_domains_before_fork(void);
void xrc_domains_after_fork(void);

/*
 * memory_access.c: called by the handler of a fault. Does not return if access_memory caused the
 * fault: access_memory goes on and fails.
 */
void leave_access(const siginfo_t *info, void *context);

/* exit.c: after this call, the peers are disconnected when the process ends by exit or _exit. */
void prepare_exit(void);

/*
 * signals.c: called before the virtual machine starts, by the thread that starts it. After that,
 * handlers of the program do not run while their thread executes Java.
 */
void signals_start(void);
void signals_before_fork(void);
void signals_after_fork(void);
void signals_run_deferred(void);	/* after the return from Java */

/*
 * The signal with which the virtual machine suspends threads. rdma4j exec sets it in the variable
 * _JAVA_SR_SIGNUM.
 */
#define SUSPEND_SIGNAL 62

/*
 * signals.c: creates a thread that is treated like one of Java: it receives no signals of the
 * program. Returns 0 or an errno.
 */
int create_java_thread(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *), void *argument);

/*
 * guard.c: starts a process that disconnects the peers of this one when it ends, however it ends,
 * and that reads them from the file table. Returns 0 or an errno.
 */
int guardian_start(const char *table);

#endif
