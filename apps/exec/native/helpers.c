/*
 * Calls into Java from stacks on which Java cannot run: those of coroutines, of signal handlers,
 * and of threads with small stacks. A helper, a thread of this library, makes the call while the
 * caller waits (decision 058). A thread keeps its helper until it ends; then others can take the
 * helper.
 *
 * Caller and helper spin for some microseconds before they sleep, because a program that polls in a
 * coroutine calls again immediately. On a busy machine they sleep sooner.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "library.h"
#include "objects.h"

#define STACK_BYTES (2 << 20)
#define MAX_SPIN_NANOS 30000
#define MIN_SPIN_NANOS 500

enum turn { CALLER, HELPER };

struct helper {
	uint32_t turn;		/* enum turn: which side acts next; a futex */
	uint32_t sleepers;	/* threads that sleep until turn changes */
	/* how long to spin for each turn before sleeping; shorter after spinning in vain */
	int64_t spin_nanos[2];
	enum java_function function;
	uint64_t arguments[3];
	int result;
	int is_attached;	/* to the virtual machine; set before its first turn ends */
	struct helper *next;	/* in the list of unused ones */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct helper *unused;	/* under the lock */
static int has_processors;	/* whether another thread can run while this one spins */

static void pause_briefly(void)
{
#ifdef __x86_64__
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("isb");
#endif
}

static int64_t now_nanos(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static int is_turn_of(struct helper *helper, enum turn turn)
{
	return __atomic_load_n(&helper->turn, __ATOMIC_SEQ_CST) == turn;
}

static int spin(struct helper *helper, enum turn turn, int64_t nanos)
{
	int64_t end = now_nanos() + nanos;

	do {
		for (int i = 0; i < 64; i++) {
			if (is_turn_of(helper, turn))
				return 1;
			pause_briefly();
		}
	} while (now_nanos() < end);
	return 0;
}

static void await(struct helper *helper, enum turn turn)
{
	int64_t *nanos = &helper->spin_nanos[turn];

	if (has_processors && spin(helper, turn, *nanos)) {
		*nanos = *nanos < MAX_SPIN_NANOS / 2 ? *nanos * 2 : MAX_SPIN_NANOS;
		return;
	}
	*nanos = *nanos > MIN_SPIN_NANOS * 2 ? *nanos / 2 : MIN_SPIN_NANOS;
	__atomic_fetch_add(&helper->sleepers, 1, __ATOMIC_SEQ_CST);
	while (!is_turn_of(helper, turn))
		syscall(SYS_futex, &helper->turn, FUTEX_WAIT_PRIVATE, !turn, NULL, NULL, 0);
	__atomic_fetch_sub(&helper->sleepers, 1, __ATOMIC_SEQ_CST);
}

static void pass_turn(struct helper *helper, enum turn turn)
{
	__atomic_store_n(&helper->turn, turn, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&helper->sleepers, __ATOMIC_SEQ_CST))
		syscall(SYS_futex, &helper->turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static int execute(const struct helper *helper)
{
	const uint64_t *values = helper->arguments;
	int handle = (int)values[0];
	void *second = (void *)(uintptr_t)values[1];
	void *third = (void *)(uintptr_t)values[2];

	switch (helper->function) {
	case CALL_POLL: return bridge_data.poll(handle, (int)values[1], third);
	case CALL_POLL_TIMED: return bridge_data.poll_timed(handle, second, third);
	case CALL_REQUEST_NOTIFICATION: return bridge_data.request_notification(handle, (int)values[1]);
	case CALL_POST_SEND: return bridge_data.post_send(handle, second, third);
	case CALL_POST_RECEIVE: return bridge_data.post_receive(handle, second, third);
	case CALL_POST_SRQ_RECEIVE: return bridge_data.post_srq_receive(handle, second, third);
	default: return bridge_call((enum bridge_operation)values[0], second);
	}
}

/* Ends only if the virtual machine refuses the thread. */
static void *serve(void *argument)
{
	struct helper *helper = argument;

	helper->is_attached = !java_enter();
	if (!helper->is_attached) {
		pass_turn(helper, CALLER);
		return NULL;
	}
	for (;;) {
		pass_turn(helper, CALLER);
		await(helper, HELPER);
		helper->result = execute(helper);
	}
}

static int start(struct helper *helper)
{
	pthread_attr_t attributes;
	pthread_t thread;
	int error = pthread_attr_init(&attributes);

	if (error)
		return error;
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	error = create_java_thread(&thread, &attributes, serve, helper);
	pthread_attr_destroy(&attributes);
	if (error)
		return error;
	await(helper, CALLER);
	if (helper->is_attached)
		return pthread_detach(thread);
	pthread_join(thread, NULL);
	return ENOMEM;
}

/* Returns NULL and sets the error if there is no memory or no thread. */
static struct helper *create(int *error)
{
	struct helper *helper = calloc(1, sizeof(*helper));
	cpu_set_t processors;

	*error = ENOMEM;
	if (!helper)
		return NULL;
	has_processors = sched_getaffinity(0, sizeof(processors), &processors) || CPU_COUNT(&processors) > 1;
	helper->turn = HELPER;
	helper->spin_nanos[CALLER] = helper->spin_nanos[HELPER] = MAX_SPIN_NANOS;
	*error = start(helper);
	if (!*error)
		return helper;
	free(helper);
	log_error("cannot create a thread that calls Java for a coroutine or a small stack: ",
		  strerror(*error));
	return NULL;
}

static struct helper *take_unused(void)
{
	struct helper *helper;

	pthread_mutex_lock(&lock);
	helper = unused;
	if (helper)
		unused = helper->next;
	pthread_mutex_unlock(&lock);
	return helper;
}

void helpers_release(struct helper *helper)
{
	if (!helper)
		return;
	pthread_mutex_lock(&lock);
	helper->next = unused;
	unused = helper;
	pthread_mutex_unlock(&lock);
}

/*
 * Blocks signals: a signal handler may call Java while the function that it interrupts holds the
 * lock or waits for its helper.
 */
static struct helper *find(int *error)
{
	struct helper *helper;
	sigset_t all, old;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	helper = take_unused();
	if (!helper)
		helper = create(error);
	threads_watch_end();
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return helper;
}

static struct helper *borrow(int *error)
{
	struct helper *helper = __atomic_exchange_n(&java_thread.helper, NULL, __ATOMIC_SEQ_CST);

	return helper ? helper : find(error);
}

static void give_back(struct helper *helper)
{
	struct helper *none = NULL;
	sigset_t all, old;

	if (__atomic_compare_exchange_n(&java_thread.helper, &none, helper, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		return;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	helpers_release(helper);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static int refuse(enum java_function function, uint64_t second, uint64_t third, int error)
{
	if (function == CALL_POLL || function == CALL_POLL_TIMED)
		return -error;
	/* Only the extended interface passes no place for the failed request. */
	if (third && (function == CALL_POST_SEND || function == CALL_POST_RECEIVE || function == CALL_POST_SRQ_RECEIVE))
		*(void **)(uintptr_t)third = (void *)(uintptr_t)second;
	return error;
}

int call_by_helper(enum java_function function, uint64_t first, uint64_t second, uint64_t third)
{
	struct helper *helper = NULL;
	int before = errno;
	int error = vm_check();
	int state, result;

	/* The helper writes to memory of the caller, which must not be canceled meanwhile. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	if (!error)
		helper = borrow(&error);
	if (helper) {
		helper->function = function;
		helper->arguments[0] = first;
		helper->arguments[1] = second;
		helper->arguments[2] = third;
		pass_turn(helper, HELPER);
		await(helper, CALLER);
		result = helper->result;
		give_back(helper);
	} else {
		result = refuse(function, second, third, error);
	}
	errno = before;
	pthread_setcancelstate(state, NULL);
	return result;
}

void helpers_before_fork(void)
{
	pthread_mutex_lock(&lock);
}

void helpers_after_fork(void)
{
	pthread_mutex_unlock(&lock);
}

/* The threads do not exist in the child. */
void helpers_forget(void)
{
	unused = NULL;
}
