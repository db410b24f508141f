/* Declarations that all files of the library share. */
#ifndef RDMA4J_LIBRARY_H
#define RDMA4J_LIBRARY_H

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>

/* The library is compiled with -fvisibility=hidden: marks what the dynamic linker can find. */
#define PUBLIC __attribute__((visibility("default")))

/*
 * The state of a thread. Signal handlers need it: a fault or a broken pipe of Java is Java's, any other one is the program's.
 */
struct java_thread {
	void *environment;	/* the JNIEnv; NULL until the thread is attached */
	int depth;		/* calls of Java that have not returned; threads of the virtual machine never have 0 */
	int cancel_state;	/* that of the thread outside of Java */
};

extern __thread struct java_thread java_thread __attribute__((tls_model("initial-exec")));

/* Attaches the calling thread to the Java virtual machine; it is detached when it ends. Returns 0 or an errno. */
int java_attach(void);

/* Tells whether Java itself calls: the rooms for the machine's own devices use libibverbs and /dev/infiniband/rdma_cm, too. */
static inline int is_called_by_java(void)
{
	return java_thread.depth > 0;
}

/*
 * Surround each call of Java. java_enter returns 0 or an errno, after which java_leave must not be called.
 *
 * System calls of Java are no points where a thread can be canceled: the frames of Java cannot be unwound.
 */
static inline void java_leave(void)
{
	if (!--java_thread.depth)
		pthread_setcancelstate(java_thread.cancel_state, NULL);
}

static inline int java_enter(void)
{
	int error;

	if (!java_thread.depth++)
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &java_thread.cancel_state);
	if (__builtin_expect(java_thread.environment != NULL, 1))
		return 0;
	error = java_attach();
	if (error)
		java_leave();
	return error;
}

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

/* signals.c: called by the thread that starts the virtual machine, before and after it. */
void signals_before_start(void);
void signals_after_start(void);

#endif
