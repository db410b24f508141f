/*
 * Signal handlers that are set while Java starts, and signals that arrive while a thread executes
 * Java. handlers.c NAME runs one case; test/process runs all of them.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "connection.h"
#include "device.h"

static volatile sig_atomic_t caught;
static volatile int is_open;

static void first_handler(int number)
{
	caught = number;
}

static void second_handler(int number)
{
	caught = -number;
}

static void interrupt_often(void)
{
	struct itimerval often = { .it_interval = { .tv_usec = 300 }, .it_value = { .tv_usec = 300 } };

	setitimer(ITIMER_REAL, &often, NULL);
}

static void *open_in_thread(void *unused)
{
	open_device();
	is_open = 1;
	return unused;
}

/* Every handler that is set can be read back, and gets the signal. */
static int handlers_during_the_start(void)
{
	const int numbers[] = { SIGTERM, SIGUSR1, SIGUSR2, SIGCHLD, SIGPIPE, SIGSEGV, SIGRTMIN };
	struct sigaction actions[] = { { .sa_handler = first_handler }, { .sa_handler = second_handler } };
	struct sigaction found;
	pthread_t thread;
	int round = 0;

	check(!pthread_create(&thread, NULL, open_in_thread, NULL), "thread");
	do {
		round++;
		for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
			check(!sigaction(numbers[i], &actions[round % 2], NULL), "set");
			check(!sigaction(numbers[i], NULL, &found), "find");
			check(found.sa_handler == actions[round % 2].sa_handler, "the handler that was set");
		}
		raise(SIGTERM);
		check(caught == (round % 2 ? -SIGTERM : SIGTERM), "the handler that ran");
	} while (!is_open);
	pthread_join(thread, NULL);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		sigaction(numbers[i], NULL, &found);
		check(found.sa_handler == actions[round % 2].sa_handler, "the handler after the start");
		raise(numbers[i]);
		check(caught == (round % 2 ? -numbers[i] : numbers[i]), "the handler that ran after the start");
	}
	check(round > 10, "rounds while Java started");
	return 0;
}

/* Calls in a handler are the program's, even if its signal arrives during a call to the library. */

static volatile int handled;

static void on_fault(int number)
{
	_exit(number == SIGSEGV ? 42 : 98);
}

static void set_handlers(int unused)
{
	struct sigaction fault = { .sa_handler = on_fault };
	struct sigaction pipe = { .sa_handler = handled % 2 ? first_handler : second_handler };

	(void)unused;
	check(!sigaction(SIGSEGV, &fault, NULL) && !sigaction(SIGPIPE, &pipe, NULL), "sigaction in a handler");
	handled++;
}

static void expect_handlers(void)
{
	struct sigaction fault, pipe;
	int before;

	do {
		before = handled;
		check(!sigaction(SIGSEGV, NULL, &fault) && !sigaction(SIGPIPE, NULL, &pipe), "sigaction");
	} while (before != handled);
	check(!before || fault.sa_handler == on_fault, "the first handler that a handler has set");
	check(!before || pipe.sa_handler == (before % 2 ? second_handler : first_handler), "the second one");
}

static int handler_sets_another_handler(void)
{
	struct sigaction action = { .sa_handler = set_handlers };

	sigaction(SIGALRM, &action, NULL);
	interrupt_often();
	while (handled < 500) {
		check(poll_once() == 0, "poll");
		expect_handlers();
	}
	setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
	for (int i = 0; i < 20000; i++)
		check(poll_once() == 0, "poll");
	*(volatile int *)8 = 1;
	return 98;
}

static void crash_in_handler(int unused)
{
	(void)unused;
	if (++handled == 300)
		*(volatile int *)8 = 1;
}

/* A fault in a handler is the program's. */
static int handler_crashes(void)
{
	struct sigaction action = { .sa_handler = crash_in_handler }, fault = { .sa_handler = on_fault };

	sigaction(SIGSEGV, &fault, NULL);
	sigaction(SIGALRM, &action, NULL);
	interrupt_often();
	while (handled < 1000000)
		check(poll_once() == 0, "poll");
	return 98;
}

static sigjmp_buf start;

static void jump(int unused)
{
	(void)unused;
	handled++;
	siglongjmp(start, 1);
}

/* A program may leave its loop from a handler. */
static int handler_jumps(void)
{
	struct sigaction action = { .sa_handler = jump };

	sigaction(SIGALRM, &action, NULL);
	sigsetjmp(start, 1);
	if (handled < 300)
		interrupt_often();
	else
		setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
	while (handled < 300)
		check(poll_once() == 0, "poll");
	for (int i = 0; i < 1000; i++) {
		struct ibv_pd *other = ibv_alloc_pd(context);

		check(other && !ibv_dealloc_pd(other), "a domain after jumps");
	}
	return 0;
}

static void end(int unused)
{
	(void)unused;
	_exit(7);
}

/*
 * Destroying a queue waits until the program has acknowledged its events. A handler can end the
 * process meanwhile.
 */
static int handler_ends_a_wait(void)
{
	struct ibv_qp_init_attr creation = { .send_cq = queue, .recv_cq = queue, .qp_type = IBV_QPT_RC, .cap = { 4, 4, 1, 1, 0 } };
	struct ibv_qp *pair = ibv_create_qp(domain, &creation);
	struct ibv_qp_attr attributes = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct ibv_recv_wr request = { 0 }, *bad;
	struct ibv_cq *ready;
	void *unused;

	check(pair && !ibv_modify_qp(pair, &attributes, 1 | ACCESS | PKEY_INDEX | PORT), "a queue pair");
	check(!context->ops.req_notify_cq(queue, 0) && !context->ops.post_recv(pair, &request, &bad), "a request for an event");
	attributes.qp_state = IBV_QPS_ERR;
	check(!ibv_modify_qp(pair, &attributes, 1) && !ibv_get_cq_event(channel, &ready, &unused), "an event");
	check(!ibv_destroy_qp(pair), "the end of a queue pair");
	signal(SIGALRM, end);
	alarm(1);
	ibv_destroy_cq(queue);
	return 98;
}

/* Queued signals arrive in order, each exactly once. */

static pthread_t receiver;
static volatile int next_value;

static void take_value(int number, siginfo_t *info, void *unused)
{
	(void)unused;
	check(number == SIGRTMIN && info->si_value.sival_int == next_value, "the value of a signal");
	next_value++;
}

static void *send_values(void *unused)
{
	for (int i = 0; i < 5000; i++) {
		while (pthread_sigqueue(receiver, SIGRTMIN, (union sigval){ .sival_int = i }))
			usleep(100);
	}
	return unused;
}

static int queued_signals(void)
{
	struct sigaction action = { .sa_sigaction = take_value, .sa_flags = SA_SIGINFO };
	pthread_t thread;

	receiver = pthread_self();
	sigaction(SIGRTMIN, &action, NULL);
	check(!pthread_create(&thread, NULL, send_values, NULL), "thread");
	while (next_value < 5000)
		check(poll_once() == 0, "poll");
	pthread_join(thread, NULL);
	return 0;
}

/* Flags of handlers */

static int flags_of(int number)
{
	struct sigaction found;

	check(!sigaction(number, NULL, &found), "find");
	return found.sa_flags & (int)(SA_RESTART | SA_RESETHAND | SA_NODEFER);
}

static int flags(void)
{
	check(signal(SIGUSR1, first_handler) == SIG_DFL && flags_of(SIGUSR1) == SA_RESTART, "signal");
	check(!siginterrupt(SIGUSR1, 1) && flags_of(SIGUSR1) == 0, "siginterrupt");
	check(signal(SIGUSR1, second_handler) == first_handler && flags_of(SIGUSR1) == 0, "signal after siginterrupt");
	raise(SIGUSR1);
	check(caught == -SIGUSR1, "a handler");
	check(sysv_signal(SIGUSR1, first_handler) == second_handler, "sysv_signal");
	check(flags_of(SIGUSR1) == (int)(SA_RESETHAND | SA_NODEFER), "flags of sysv_signal");
	raise(SIGUSR1);
	check(caught == SIGUSR1 && signal(SIGUSR1, SIG_IGN) == SIG_DFL, "a handler that runs once");
	raise(SIGUSR1);
	check(signal(SIGKILL, first_handler) == SIG_ERR && errno == EINVAL, "SIGKILL");
	return 0;
}

/* A child of vfork shares the memory of its parent, but has its own actions. */
static int vfork_child(void)
{
	struct sigaction original = { .sa_handler = SIG_DFL }, found;
	int status;
	pid_t child;

	signal(SIGUSR1, first_handler);
	child = vfork();
	if (!child) {
		if (sigaction(SIGUSR1, &original, &found) || found.sa_handler != first_handler)
			_exit(1);
		_exit(sigaction(SIGUSR1, NULL, &found) || found.sa_handler != SIG_DFL);
	}
	check(waitpid(child, &status, 0) == child && !status, "actions of the child");
	raise(SIGUSR1);
	return caught == SIGUSR1 && signal(SIGUSR1, SIG_DFL) == first_handler ? 0 : 98;
}

/* A child of fork inherits the actions of its parent. */
static int fork_child(void)
{
	int status;
	pid_t child;

	signal(SIGUSR1, first_handler);
	child = fork();
	if (!child) {
		raise(SIGUSR1);
		if (caught != SIGUSR1 || signal(SIGUSR1, second_handler) != first_handler)
			_exit(1);
		raise(SIGUSR1);
		_exit(caught != -SIGUSR1);
	}
	check(waitpid(child, &status, 0) == child && !status, "handlers of the child");
	raise(SIGUSR1);
	return caught == SIGUSR1 ? 0 : 98;
}

static const struct test_case cases[] = {
	{ "handlers_during_the_start", handlers_during_the_start, 1 },
	{ "handler_sets_another_handler", handler_sets_another_handler, 0 },
	{ "handler_crashes", handler_crashes, 0 },
	{ "handler_jumps", handler_jumps, 0 },
	{ "handler_ends_a_wait", handler_ends_a_wait, 0 },
	{ "queued_signals", queued_signals, 0 },
	{ "flags", flags, 0 },
	{ "vfork_child", vfork_child, 0 },
	{ "fork_child", fork_child, 0 },
};

int main(int count, char **arguments)
{
	return count > 1 ? run_case(cases, sizeof(cases) / sizeof(*cases), arguments[1]) : 97;
}
