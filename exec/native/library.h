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
enum care {
	CARE_NOT_ATTACHED = 1,
	CARE_CANCELED = 2,
	CARE_ALWAYS = 4,	/* it may have been canceled, or others cannot see where it is */
};

/*
 * The state of a thread. Signal handlers need it: a fault or a broken pipe of Java is Java's, any other one is the program's.
 */
struct java_thread {
	void *environment;	/* the JNIEnv; NULL until the thread is attached */
	int depth;		/* calls of Java that have not returned; threads of the virtual machine never have 0 */
	int care;		/* enum care; other threads change it, too */
	int cancel_disabled;	/* whether the present call has disabled cancellation, and the state before */
	int cancel_state;
	pthread_t self;
	struct java_thread *next;
};

extern __thread struct java_thread java_thread __attribute__((tls_model("initial-exec")));

/* Tells whether Java itself calls: the rooms for the machine's own devices use libibverbs and /dev/infiniband/rdma_cm, too. */
static inline int is_called_by_java(void)
{
	return java_thread.depth > 0;
}

/* threads.c: what java_enter and java_leave do if the thread has any enum care. */
int java_enter_with_care(void);
void java_leave_with_care(void);

/*
 * Surround each call of Java. java_enter returns 0 or an errno, after which java_leave must not be called. In between, the thread is not
 * canceled. The order of the two accesses matters to pthread_cancel of threads.c.
 */
static inline void java_leave(void)
{
	__atomic_store_n(&java_thread.depth, java_thread.depth - 1, __ATOMIC_RELEASE);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (__builtin_expect(__atomic_load_n(&java_thread.care, __ATOMIC_RELAXED), 0))
		java_leave_with_care();
}

static inline int java_enter(void)
{
	__atomic_store_n(&java_thread.depth, java_thread.depth + 1, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return __builtin_expect(__atomic_load_n(&java_thread.care, __ATOMIC_RELAXED), 0) ? java_enter_with_care() : 0;
}

/*
 * threads.c: called once before the virtual machine starts, and around fork. threads_prepare returns 0 or an errno, and
 * threads_have_barrier tells whether the process can make the kernel execute a memory barrier in each of its threads.
 */
int threads_prepare(void);
int threads_have_barrier(void);
void threads_before_fork(void);
void threads_after_fork(void);
void threads_forget(void);	/* in the child, which has one thread and no devices */

/* jvm.c: writes a sentence with a detail at its end, which may be empty, to standard error. */
void complain(const char *sentence, const char *detail);

/* jvm.c: attaches the calling thread to the virtual machine, and detaches it. vm_attach returns 0 or an errno. */
int vm_attach(void **environment);
void vm_detach(void);

/* events.c: blocks until the eventfd of a source of events is readable, unless it is one that does not block. Returns 0 or an errno. */
int wait_readable(int descriptor);

/*
 * regions.c: registered memory by its addresses and its handle. regions_add returns 0 or ENOMEM. A child of fork, which has no
 * devices, calls regions_forget.
 */
int regions_add(const void *address, size_t length, uint32_t handle);
void regions_remove(const void *address, uint32_t handle);
void regions_forget(void);

/* memory_access.c: for the handler of a fault. Returns unless access_memory caused it, which goes on. */
void leave_access(const siginfo_t *info, void *context);

/* exit.c: from now on, the peers are disconnected when the process ends by exit. */
void prepare_exit(void);

/*
 * guard.c: starts a process that disconnects the peers of this one when it ends, however it ends. The table is the file from which it
 * learns them. Returns 0 or an errno.
 */
int guardian_start(const char *table);

/* signals.c: called by the thread that starts the virtual machine, before and after it. */
void signals_before_start(void);
void signals_after_start(void);

#endif
