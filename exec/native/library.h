/* What all files of the library share. */
#ifndef RDMA4J_LIBRARY_H
#define RDMA4J_LIBRARY_H

/* The library is compiled with -fvisibility=hidden: marks what the dynamic linker can find. */
#define PUBLIC __attribute__((visibility("default")))

/*
 * What the library knows about a thread. Signal handlers need it: a fault or a broken pipe of Java is Java's, any other one is the
 * program's.
 */
struct java_thread {
	void *environment;	/* the JNIEnv; NULL until the thread is attached */
	int depth;		/* calls of Java that have not returned; threads of the virtual machine never have 0 */
};

extern __thread struct java_thread java_thread __attribute__((tls_model("initial-exec")));

/* Attaches the calling thread to the Java virtual machine; it is detached when it ends. Returns 0 or an errno. */
int java_attach(void);

/* Whether Java itself calls: the rooms for the machine's own devices use libibverbs and /dev/infiniband/rdma_cm, too. */
static inline int is_called_by_java(void)
{
	return java_thread.depth > 0;
}

/* Surround each call of Java. java_enter returns 0 or an errno, after which java_leave must not be called. */
static inline int java_enter(void)
{
	java_thread.depth++;
	if (__builtin_expect(!java_thread.environment, 0)) {
		int error = java_attach();

		if (error) {
			java_thread.depth--;
			return error;
		}
	}
	return 0;
}

static inline void java_leave(void)
{
	java_thread.depth--;
}

/* signals.c: called by the thread that starts the virtual machine, before and after it. */
void signals_before_start(void);
void signals_after_start(void);

#endif
