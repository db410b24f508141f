/*
 * The end of the process by exit or _exit. A kernel closes the files of a process that ends, which
 * disconnects its peers. Here Java does that before the process ends.
 *
 * A thread that was created early calls Java. Therefore exit neither allocates memory nor attaches
 * a thread, and it ends even if a signal has interrupted the calling thread while that held a lock.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "bridge.h"
#include "library.h"

/* The maximum time by which the end of the process is delayed. */
#define EXIT_MILLIS 200

#define STACK_BYTES (1 << 20)

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pid_t owner;		/* the process that has the thread; 0 before there is one */
static sem_t exit_has_begun;
static sem_t java_has_finished;

static void *finish_at_exit(void *unused)
{
	uint64_t arguments[1] = { 0 };

	while (sem_wait(&exit_has_begun))
		;
	bridge_call(BRIDGE_FINISH, arguments);
	sem_post(&java_has_finished);
	return unused;
}

static void create_thread(void)
{
	pthread_attr_t attributes;
	pthread_t thread;

	if (sem_init(&exit_has_begun, 0, 0) || sem_init(&java_has_finished, 0, 0) || pthread_attr_init(&attributes))
		return;
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	if (!create_java_thread(&thread, &attributes, finish_at_exit, NULL))
		__atomic_store_n(&owner, getpid(), __ATOMIC_RELEASE);
	pthread_attr_destroy(&attributes);
}

void prepare_exit(void)
{
	pthread_once(&once, create_thread);
}

static struct timespec after_millis(long millis)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	time.tv_nsec += millis * 1000000;
	time.tv_sec += time.tv_nsec / 1000000000;
	time.tv_nsec %= 1000000000;
	return time;
}

/*
 * Runs after the exit handlers of the program and its libraries, which may use the devices. Does
 * nothing in a child of fork, which does not have the thread, or of vfork, which shares the memory
 * of its parent. Uses only functions that are safe in signal handlers.
 */
__attribute__((destructor)) static void finish(void)
{
	struct timespec limit = after_millis(EXIT_MILLIS);
	pid_t self = getpid();

	/* Only once: in some C libraries, exit calls _exit. */
	if (!__atomic_compare_exchange_n(&owner, &self, 0, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return;
	sem_post(&exit_has_begun);
	while (sem_clockwait(&java_has_finished, CLOCK_MONOTONIC, &limit) && errno == EINTR)
		;
}

/* A process without exit handlers, like a job of fio, also owes its peers acknowledgements. */
PUBLIC __attribute__((noreturn)) void _exit(int status)
{
	finish();
	for (;;)
		syscall(SYS_exit_group, status);
}

PUBLIC __attribute__((noreturn)) void _Exit(int status)
{
	_exit(status);
}
