/* Declarations that all files of the library share. */
#ifndef RDMA4J_LIBRARY_H
#define RDMA4J_LIBRARY_H

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>

/* The library is compiled with -fvisibility=hidden: marks what the dynamic linker can find. */
#define PUBLIC __attribute__((visibility("default")))

/* Why a thread has more to do when it calls Java and when it returns. */
enum slow_path_reason {
	SLOW_PATH_CANCELED = 1,
	SLOW_PATH_ALWAYS = 2,	/* it may have been canceled, or others cannot see where it is */
	SLOW_PATH_SIGNAL = 4,	/* a signal of the program waits for the return from Java */
	SLOW_PATH_RESTORE = 8,	/* the present call has disabled cancellation */
};

struct helper;

/*
 * The state of a thread. Signal handlers need it: a fault or a broken pipe of Java is Java's, any other one is the program's.
 */
struct java_thread {
	void *environment;	/* the JNIEnv; NULL until the thread is attached */
	uintptr_t stack_start;	/* the part of its stack from which it may call Java; empty until the thread is attached */
	size_t stack_bytes;
	int depth;		/* calls of Java that have not returned; threads of the virtual machine never have 0 */
	int slow_path;		/* enum slow_path_reason; other threads change it, too */
	int cancel_state;	/* the one before SLOW_PATH_RESTORE */
	struct helper *helper;	/* the thread that calls Java in its name from other stacks; NULL before the first such call */
	pthread_t self;
	struct java_thread *next;
};

extern __thread struct java_thread java_thread __attribute__((tls_model("initial-exec")));

/* Tells whether Java itself calls: the modules for the machine's own devices use libibverbs and /dev/infiniband/rdma_cm, too. */
static inline int is_called_by_java(void)
{
	return java_thread.depth > 0;
}

/* threads.c: what java_enter and java_leave do if the thread has any enum slow_path_reason, or cannot call Java from this stack. */
int java_enter_slow_path(void);
void java_leave_slow_path(void);

/*
 * Surround each call of Java. java_enter returns 0 if this thread can call Java from this stack; otherwise java_leave must not be called,
 * and call_by_helper makes the call. In between, the thread is not canceled, and handlers of the program do not run. The order of the two
 * accesses matters to pthread_cancel of threads.c and to the handler of signals.c.
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

/* What a helper calls: BRIDGE_CALL or a function of struct bridge_data. */
enum java_function { CALL_CONTROL, CALL_POLL, CALL_POLL_TIMED, CALL_REQUEST_NOTIFICATION, CALL_POST_SEND, CALL_POST_RECEIVE, CALL_POST_SRQ_RECEIVE };

/*
 * helpers.c: lets another thread call Java, and waits for its return. The arguments are those of the function, whose result it returns; or it
 * returns an error as the function does.
 */
int call_by_helper(enum java_function function, uint64_t first, uint64_t second, uint64_t third);
void helpers_release(struct helper *helper);	/* when the thread that used it ends */
void helpers_before_fork(void);
void helpers_after_fork(void);
void helpers_forget(void);	/* in the child */

/*
 * threads.c: called once before the virtual machine starts, and around fork. threads_prepare returns 0 or an errno, and
 * threads_have_barrier tells whether the process can make the kernel execute a memory barrier in each of its threads.
 */
int threads_prepare(void);
int threads_have_barrier(void);
void threads_before_fork(void);
void threads_after_fork(void);
void threads_forget(void);	/* in the child, which has one thread and no devices */

/* Calls a function when the calling thread ends, as one that uses Java. */
void threads_watch_end(void);

/* The stack of the first thread that Java may use, in KiB; the option of the virtual machine for it. */
#define MAIN_STACK_KIB 8192

/* jvm.c: writes a sentence with a detail at its end, which may be empty, to standard error. */
void log_error(const char *sentence, const char *detail);

/* start.c: calls a function, which starts the virtual machine, in a new thread. Returns its result, or an errno. */
int start_by_thread(int (*begin)(void));

/* jvm.c: attaches the calling thread to the virtual machine, and detaches it. vm_attach and vm_check return 0 or an errno. */
int vm_has_code(const void *address);	/* whether an address is in the code of the virtual machine */
int vm_check(void);	/* whether the virtual machine runs in this process */
int vm_attach(void **environment);
void vm_detach(void);

/*
 * events.c: wait_readable blocks until the eventfd of a source of events is readable, unless it is one that does not block. Returns 0 or an
 * errno. Java's thread that has made an eventfd readable calls note_raised.
 */
int wait_readable(int descriptor);
/*
 * For a thread that waits for a descriptor which another thread has closed. A kernel keeps the file for it, but no event wakes it any more: it
 * waits until a signal ends the call, or the process ends. Programs rely on it, as rping, which closes its channel at the end. Returns EBADF.
 */
int wait_for_closed(void);
void note_raised(void);

/* regions.c: the addresses of registered memory. */
struct range {
	uintptr_t start;
	uintptr_t end;
	uintptr_t furthest;	/* the highest end of this range and of those below it */
	uint32_t handle;	/* of Java */
	uint32_t priority;
	struct range *left;
	struct range *right;
	struct range *next;	/* of those that a call takes memory from */
};

/*
 * regions.c: regions_remove does nothing if the range is not there, because its memory has gone. regions_close also closes the region of
 * Java, and returns 0 or an errno, after which the range is as before. A child of fork, which has no devices, calls regions_forget.
 * regions_before_fork takes the lock, so that the child gets it free. is_mapped tells, without a change of any page.
 */
void regions_add(struct range *range, const void *address, size_t length, uint32_t handle);
void regions_remove(struct range *range);
int regions_close(struct range *range);
void regions_before_fork(void);
void regions_after_fork(void);
void regions_forget(void);
int is_mapped(const void *address, size_t length);

/* xrc_domain.c: take and release its lock, so that the child gets it free. */
void xrc_domains_before_fork(void);
void xrc_domains_after_fork(void);

/* memory_access.c: for the handler of a fault. Returns unless access_memory caused it, which goes on. */
void leave_access(const siginfo_t *info, void *context);

/* exit.c: from now on, the peers are disconnected when the process ends by exit. */
void prepare_exit(void);

/*
 * signals.c: called by the thread that starts the virtual machine, before it does. From then on, handlers of the program do not run while
 * their thread executes Java.
 */
void signals_start(void);
void signals_before_fork(void);
void signals_after_fork(void);
void signals_run_deferred(void);	/* after the return from Java */

/* The signal by which the virtual machine suspends threads, as rdma4j exec tells it by the variable _JAVA_SR_SIGNUM. */
#define SUSPEND_SIGNAL 62

/* signals.c: creates a thread that is treated as one of Java: it gets no signals of the program. Returns 0 or an errno. */
int create_java_thread(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *), void *argument);

/*
 * guard.c: starts a process that disconnects the peers of this one when it ends, however it ends. The table is the file from which it
 * learns them. Returns 0 or an errno.
 */
int guardian_start(const char *table);

#endif
