/*
 * Calls from stacks on which Java cannot run, and stacks that must stay intact. stacks.c NAME runs
 * one case; test/process runs all of them.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>

#include "device.h"

#define PATTERN 0x5a
#define GUARDED_BYTES (1 << 20)	/* other data of the program below a coroutine's stack */
#define ROUNDS 200

static ucontext_t outside, inside;
static char *guarded;
static volatile int sink;

/* All kinds of calls, including one that fails. */
static void use_device(void)
{
	static char memory[4096];
	struct ibv_device_attr attributes;

	for (int i = 0; i < ROUNDS; i++) {
		struct ibv_mr *region = ibv_reg_mr(domain, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE);

		check(region && !ibv_dereg_mr(region), "a region");
		for (int j = 0; j < 10; j++)
			check(poll_once() == 0, "poll");
		check(!context->ops.req_notify_cq(queue, 0), "a request for an event");
	}
	check(!ibv_query_device(context, &attributes) && attributes.max_qp > 0, "attributes");
	check(ibv_query_pkey(context, 1, 9999, &(uint16_t){ 0 }) && errno == EINVAL, "errno of a call that fails");
}

static void open_and_use(void)
{
	if (!context)
		open_device();
	use_device();
}

/* Runs the calls in a coroutine with a stack of that many bytes, and checks the memory below it. */
static void run_coroutine(size_t bytes)
{
	guarded = mmap(NULL, GUARDED_BYTES + bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	check(guarded != MAP_FAILED, "memory");
	memset(guarded, PATTERN, GUARDED_BYTES);
	getcontext(&inside);
	inside.uc_stack.ss_sp = guarded + GUARDED_BYTES;
	inside.uc_stack.ss_size = bytes;
	inside.uc_link = &outside;
	makecontext(&inside, open_and_use, 0);
	swapcontext(&outside, &inside);
	for (size_t i = 0; i < GUARDED_BYTES; i++)
		check(guarded[i] == PATTERN, "memory below the stack of a coroutine");
}

static int coroutine(void)
{
	for (size_t bytes = 16384; bytes <= 1 << 20; bytes *= 4)
		run_coroutine(bytes);
	use_device();
	return 0;
}

/* The coroutine starts the virtual machine. */
static int coroutine_first(void)
{
	run_coroutine(16384);
	use_device();
	return 0;
}

static void *run_coroutines(void *unused)
{
	run_coroutine(65536);
	use_device();
	return unused;
}

/* The coroutine's stack is above its thread's, so all of the thread's pages seem to be free. */
static int coroutine_of_thread(void)
{
	const size_t bytes = 16 << 20;
	char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t attributes;
	pthread_t thread;

	munmap(memory + bytes / 2, bytes / 2);
	pthread_attr_init(&attributes);
	check(!pthread_attr_setstack(&attributes, memory, bytes / 2), "stack");
	check(!pthread_create(&thread, &attributes, run_coroutines, NULL), "thread");
	pthread_join(thread, NULL);
	return 0;
}

/* Threads */

static void *use_in_thread(void *unused)
{
	use_device();
	return unused;
}

static int small_threads(void)
{
	for (size_t bytes = 16384; bytes <= 1 << 20; bytes *= 2) {
		pthread_attr_t attributes;
		pthread_t threads[4];

		pthread_attr_init(&attributes);
		check(!pthread_attr_setstacksize(&attributes, bytes), "size");
		for (int i = 0; i < 4; i++)
			check(!pthread_create(&threads[i], &attributes, use_in_thread, NULL), "thread");
		for (int i = 0; i < 4; i++)
			pthread_join(threads[i], NULL);
	}
	return 0;
}

static void *poll_forever(void *is_asynchronous)
{
	if (is_asynchronous)
		pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (;;) {
		poll_once();
		pthread_testcancel();
	}
	return NULL;
}

static int cancel_small_threads(void)
{
	pthread_attr_t attributes;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 16384);
	for (intptr_t i = 0; i < 40; i++) {
		pthread_t thread;
		void *result;

		check(!pthread_create(&thread, &attributes, poll_forever, (void *)(i % 2)), "thread");
		usleep(1000);
		check(!pthread_cancel(thread) && !pthread_join(thread, &result) && result == PTHREAD_CANCELED, "cancel");
	}
	use_device();
	return 0;
}

/* The stack of the first thread */

__attribute__((noinline)) static int call_deep(size_t bytes, int (*function)(void))
{
	volatile char page[4096];
	int result;

	page[0] = 1;
	if (bytes <= sizeof(page))
		return function();
	result = call_deep(bytes - sizeof(page), function);
	sink = page[0];
	return result;
}

static int return_seven(void)
{
	return 7;
}

/* The usual limit of the first thread's stack is 8 MiB. */
static int deep_stack(void)
{
	check(poll_once() == 0, "poll");
	return call_deep(7 << 20, return_seven);
}

static int use_and_return_seven(void)
{
	use_device();
	return 7;
}

static int calls_from_deep_stack(void)
{
	for (size_t bytes = 1 << 18; bytes <= 7 << 20; bytes *= 2)
		check(call_deep(bytes, use_and_return_seven) == 7, "calls");
	return call_deep((7 << 20) + (3 << 18), use_and_return_seven);
}

static int start_from_deep_stack(void)
{
	open_device();
	return use_and_return_seven();
}

static int start_at_the_end_of_the_stack(void)
{
	return call_deep((7 << 20) + (3 << 18), start_from_deep_stack);
}

/* Signals */

static volatile int in_handler, polls_in_handler;

static void poll_in_handler(int unused)
{
	(void)unused;
	in_handler++;
	check(poll_once() == 0, "poll in a handler");
	polls_in_handler++;
}

/* A handler on its own stack calls the library, whatever it interrupts. */
static int handler_on_its_own_stack(void)
{
	struct sigaction action = { .sa_handler = poll_in_handler, .sa_flags = SA_ONSTACK | SA_RESTART };
	stack_t stack = { .ss_sp = malloc(65536), .ss_size = 65536 };
	struct itimerval often = { .it_interval = { .tv_usec = 500 }, .it_value = { .tv_usec = 500 } };

	check(!sigaltstack(&stack, NULL) && !sigaction(SIGALRM, &action, NULL), "handler");
	setitimer(ITIMER_REAL, &often, NULL);
	while (polls_in_handler < 200)
		check(poll_once() == 0, "poll");
	run_coroutine(65536);
	check(in_handler == polls_in_handler, "handlers that returned");
	return 0;
}

static const struct test_case cases[] = {
	{ "coroutine", coroutine, 0 },
	{ "coroutine_first", coroutine_first, 1 },
	{ "coroutine_of_thread", coroutine_of_thread, 0 },
	{ "small_threads", small_threads, 0 },
	{ "cancel_small_threads", cancel_small_threads, 0 },
	{ "deep_stack", deep_stack, 0 },
	{ "calls_from_deep_stack", calls_from_deep_stack, 0 },
	{ "start_at_the_end_of_the_stack", start_at_the_end_of_the_stack, 1 },
	{ "handler_on_its_own_stack", handler_on_its_own_stack, 0 },
};

int main(int count, char **arguments)
{
	return count > 1 ? run_case(cases, sizeof(cases) / sizeof(*cases), arguments[1]) : 97;
}
