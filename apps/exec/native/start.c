/*
 * The thread that starts the virtual machine. It is a separate thread, because the stack of the
 * caller may be too small, and because the caller may hold the lock of the dynamic linker, in a
 * constructor that dlopen runs. Java's threads need that lock to find native methods and to load
 * libraries, and the caller waits for them. Handlers of the program's signals wait until the start
 * is over.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bridge.h"
#include "library.h"

/* The maximum time that the thread waits for the lock of the dynamic linker. */
#define LOADER_SECONDS 5

/* The stack for the start of the virtual machine; it was seen to use 110 KiB. */
#define START_STACK_BYTES (1024 * 1024)

/* A start. Its thread may get to run only after the caller has given up. */
struct start {
	int refers;		/* number of threads that use this structure */
	/* Set by the new thread, which then starts, or by the caller, which then gives up. */
	int is_taken;
	sem_t has_begun;
	int (*begin)(void);
	int error;
};

static void release_start(struct start *start)
{
	if (__atomic_sub_fetch(&start->refers, 1, __ATOMIC_ACQ_REL))
		return;
	sem_destroy(&start->has_begun);
	free(start);
}

/* dlopen without a name only takes the lock of the dynamic linker, and so waits for it. */
static void *run_start(void *argument)
{
	struct start *start = argument;
	void *program = dlopen(NULL, RTLD_NOW);

	if (program)
		dlclose(program);
	if (!__atomic_exchange_n(&start->is_taken, 1, __ATOMIC_ACQ_REL)) {
		sem_post(&start->has_begun);
		start->error = start->begin();
	}
	release_start(start);
	return NULL;
}

static int wait_for_start(struct start *start, pthread_t thread)
{
	struct timespec limit;

	clock_gettime(CLOCK_MONOTONIC, &limit);
	limit.tv_sec += LOADER_SECONDS;
	while (sem_clockwait(&start->has_begun, CLOCK_MONOTONIC, &limit) && errno == EINTR)
		;
	if (__atomic_exchange_n(&start->is_taken, 1, __ATOMIC_ACQ_REL))
		return pthread_join(thread, NULL);
	pthread_detach(thread);
	log_error("Java cannot start in the constructor of a library loaded by dlopen: "
		  "use the devices before dlopen or after it has returned", "");
	return EDEADLK;
}

static int create_start(int (*begin)(void))
{
	struct start *start = calloc(1, sizeof(*start));
	pthread_attr_t attributes;
	pthread_t thread;
	int error = start ? pthread_attr_init(&attributes) : ENOMEM;

	if (!error) {
		start->refers = 2;
		start->begin = begin;
		sem_init(&start->has_begun, 0, 0);
		pthread_attr_setstacksize(&attributes, START_STACK_BYTES);
		error = create_java_thread(&thread, &attributes, run_start, start);
		pthread_attr_destroy(&attributes);
	}
	if (error) {
		free(start);
		log_error("cannot create the thread that starts the Java virtual machine: ",
			  strerror(error));
		return error;
	}
	error = wait_for_start(start, thread);
	if (!error)
		error = start->error;
	release_start(start);
	return error;
}

int start_in_thread(int (*begin)(void))
{
	sigset_t all, blocked;
	int error, state;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &blocked);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	error = create_start(begin);
	pthread_setcancelstate(state, NULL);
	pthread_sigmask(SIG_SETMASK, &blocked, NULL);
	return error;
}
