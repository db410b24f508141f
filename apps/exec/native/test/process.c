/*
 * Uses the library, and then does to its process what programs do. process.c NAME runs one case;
 * the exit status or signal shows whether the process behaves as it would without Java.
 * test/process runs all cases.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "device.h"

static volatile sig_atomic_t caught;

static void on_signal(int number)
{
	caught = number;
}

/* Faults and broken pipes of the program end it with their signal. */

static int crash(void)
{
	check(poll_once() == 0, "poll");
	*(volatile int *)8 = 1;
	return 98;
}

static int divide(void)
{
	volatile int zero = 0;

	check(poll_once() == 0, "poll");
#ifdef __x86_64__
	return 100 / zero;
#else
	raise(SIGFPE);
	return zero;
#endif
}

static int break_pipe(void)
{
	int ends[2];

	check(!pipe(ends), "pipe");
	close(ends[0]);
	write(ends[1], "x", 1);
	return 98;
}

static int ignore_pipe(void)
{
	int ends[2];

	signal(SIGPIPE, SIG_IGN);
	check(!pipe(ends), "pipe");
	close(ends[0]);
	return write(ends[1], "x", 1) == -1 && errno == EPIPE ? 0 : 98;
}

static int catch_pipe(void)
{
	struct sigaction action = { .sa_handler = on_signal }, old;
	int ends[2];

	check(!sigaction(SIGPIPE, &action, &old) && old.sa_handler == SIG_DFL, "the old action");
	check(!pipe(ends), "pipe");
	close(ends[0]);
	write(ends[1], "x", 1);
	return caught == SIGPIPE && signal(SIGPIPE, SIG_DFL) == on_signal ? 0 : 98;
}

static void on_fault(int number, siginfo_t *info, void *unused)
{
	(void)unused;
	_exit(number == SIGSEGV && info->si_addr == (void *)8 ? 42 : 98);
}

static int catch_crash(void)
{
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };

	sigaction(SIGSEGV, &action, NULL);
	for (int i = 0; i < 20000; i++)
		poll_once();
	return crash();
}

/* Other signals interrupt the program. */

static int interrupt(void)
{
	struct sigaction action = { .sa_handler = on_signal };
	struct ibv_cq *ready;
	void *user_context;

	sigaction(SIGALRM, &action, NULL);
	alarm(1);
	check(ibv_get_cq_event(channel, &ready, &user_context) == -1 && errno == EINTR, "interrupted wait");
	return caught == SIGALRM ? 0 : 98;
}

static void *wake_later(void *unused)
{
	(void)unused;
	/* On a busy machine, the first signals may arrive before the other thread waits. */
	for (;;) {
		usleep(300000);
		kill(getpid(), SIGUSR1);
	}
	return NULL;
}

/* A signal with SA_RESTART in its handler does not interrupt a wait. */
static int restart(void)
{
	struct sigaction restarting = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	struct sigaction interrupting = { .sa_handler = on_signal };
	struct itimerval period = { .it_interval = { .tv_usec = 10000 }, .it_value = { .tv_usec = 10000 } };
	struct timespec begin, end;
	struct ibv_async_event event;
	pthread_t thread;
	sigset_t user;

	sigaction(SIGALRM, &restarting, NULL);
	sigaction(SIGUSR1, &interrupting, NULL);
	sigemptyset(&user);
	sigaddset(&user, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &user, NULL);
	check(!pthread_create(&thread, NULL, wake_later, NULL), "thread");
	pthread_sigmask(SIG_UNBLOCK, &user, NULL);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	setitimer(ITIMER_REAL, &period, NULL);
	check(ibv_get_async_event(context, &event) == -1 && errno == EINTR, "the signal without SA_RESTART");
	clock_gettime(CLOCK_MONOTONIC, &end);
	return (end.tv_sec - begin.tv_sec) * 1000 + (end.tv_nsec - begin.tv_nsec) / 1000000 >= 200 ? 0 : 98;
}

static int terminate(void)
{
	struct pollfd nothing = { .fd = -1 };

	kill(getpid(), SIGINT);
	poll(&nothing, 1, 3000);
	return 98;
}

static int get_user_signal(void)
{
	signal(SIGUSR2, on_signal);
	raise(SIGUSR2);
	return caught == SIGUSR2 ? 0 : 98;
}

static int do_not_block(void)
{
	struct ibv_cq *ready;
	void *user_context;

	fcntl(channel->fd, F_SETFL, O_NONBLOCK);
	return ibv_get_cq_event(channel, &ready, &user_context) == -1 && errno == EAGAIN ? 0 : 98;
}

/* A child of fork gets errors, and its parent goes on. */

static int in_child(void)
{
	struct ibv_pd *other;

	check(poll_once() < 0, "poll in the child");
	other = ibv_alloc_pd(context);
	check(!other && errno == ENODEV, "domain in the child");
	check(!ibv_get_device_list(NULL), "list in the child");
	return 7;
}

static int fork_child(void)
{
	int status;
	pid_t child = fork();

	if (!child)
		exit(in_child());
	check(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7, "status of the child");
	check(poll_once() == 0, "poll in the parent");
	check(!system("true"), "system");
	domain = ibv_alloc_pd(context);
	return domain ? 0 : 98;
}

/*
 * Children of fork can clean up while other threads of the parent register and map memory: none of
 * them waits for a thread that does not exist in the child.
 */

static volatile int is_over;

static void *register_forever(void *unused)
{
	while (!is_over) {
		void *memory = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		struct ibv_mr *region = ibv_reg_mr(domain, memory, 65536, IBV_ACCESS_LOCAL_WRITE);

		check(region != NULL, "a region");
		if (!(random() & 1))
			check(!ibv_dereg_mr(region), "the end of a region");
		check(!munmap(memory, 65536), "munmap");
	}
	return unused;
}

static void clean_up(struct ibv_mr *region)
{
	void *memory = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	alarm(20);
	check(ibv_dereg_mr(region) == ENODEV && !munmap(memory, 65536), "a region in the child");
	check(ibv_destroy_cq(queue) == ENODEV && ibv_dealloc_pd(domain) == ENODEV, "objects in the child");
	exit(0);
}

static int fork_while_others_register(void)
{
	static char memory[64];
	struct ibv_mr *region = ibv_reg_mr(domain, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE);
	pthread_t threads[3];
	int status;

	for (int i = 0; i < 3; i++)
		check(!pthread_create(&threads[i], NULL, register_forever, NULL), "thread");
	for (int i = 0; i < 200; i++) {
		pid_t child = fork();

		if (!child)
			clean_up(region);
		check(waitpid(child, &status, 0) == child && !status, "status of a child");
	}
	is_over = 1;
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

/* A child that is forked before its parent uses the devices gets its own virtual machine. */
static int fork_first(void)
{
	int status;
	pid_t child = fork();

	open_device();
	if (!child)
		exit(poll_once());
	waitpid(child, &status, 0);
	return status;
}

/* Threads */

static void *poll_in_thread(void *argument)
{
	check(poll_once() == 0, "poll in a thread");
	check(ibv_query_device(context, &(struct ibv_device_attr){ 0 }) == 0, "query in a thread");
	return argument;
}

static int many_threads(void)
{
	for (int round = 0; round < 40; round++) {
		pthread_t threads[50];

		for (int i = 0; i < 50; i++)
			check(!pthread_create(&threads[i], NULL, poll_in_thread, NULL), "thread");
		for (int i = 0; i < 50; i++)
			pthread_join(threads[i], NULL);
	}
	return 0;
}

static void *poll_forever(void *unused)
{
	(void)unused;
	for (;;) {
		pthread_testcancel();
		poll_once();
		ibv_query_device(context, &(struct ibv_device_attr){ 0 });
	}
	return NULL;
}

static int cancel_threads(void)
{
	for (int round = 0; round < 50; round++) {
		pthread_t threads[4];
		void *result;

		for (int i = 0; i < 4; i++)
			check(!pthread_create(&threads[i], NULL, poll_forever, NULL), "thread");
		usleep(2000 + round * 100);
		for (int i = 0; i < 4; i++) {
			check(!pthread_cancel(threads[i]) && !pthread_join(threads[i], &result), "cancel");
			check(result == PTHREAD_CANCELED, "a thread that was canceled");
		}
		check(poll_once() == 0, "poll after cancel");
	}
	return 0;
}

static volatile int ready, canceled, polls;

/* Polling is not a cancellation point, even if the thread was canceled before its first poll. */
static void *poll_after_cancel(void *is_disabled)
{
	int state;

	if (is_disabled)
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	ready = 1;
	while (!canceled)
		;
	for (int i = 0; i < 1000; i++) {
		poll_once();
		polls++;
	}
	if (is_disabled) {
		pthread_testcancel();
		pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
		check(state == PTHREAD_CANCEL_DISABLE, "the state of cancellation");
	}
	pthread_testcancel();
	return NULL;
}

static void *poll_asynchronously(void *unused)
{
	(void)unused;
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (;;) {
		poll_once();
		polls++;
	}
	return NULL;
}

static void expect_canceled(pthread_t thread)
{
	void *result;

	check(!pthread_join(thread, &result) && result == PTHREAD_CANCELED, "a thread that was canceled");
}

static int cancel_before_the_first_call(void)
{
	for (int i = 0; i < 20; i++) {
		pthread_t thread;

		ready = canceled = polls = 0;
		check(!pthread_create(&thread, NULL, poll_after_cancel, (void *)(intptr_t)(i % 2)), "thread");
		while (!ready)
			;
		check(!pthread_cancel(thread), "cancel");
		canceled = 1;
		expect_canceled(thread);
		check(polls == 1000, "polls of a thread that was canceled");
	}
	check(poll_once() == 0, "poll after cancel");
	return 0;
}

static int cancel_asynchronously(void)
{
	for (int i = 0; i < 50; i++) {
		pthread_t thread;

		polls = 0;
		check(!pthread_create(&thread, NULL, poll_asynchronously, NULL), "thread");
		while (polls < 1000 + i)
			;
		check(!pthread_cancel(thread), "cancel");
		expect_canceled(thread);
	}
	check(poll_once() == 0, "poll after cancel");
	return 0;
}

/* Simulates a container whose runtime does not know the system call. */
static void forbid_membarrier(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = sizeof(filter) / sizeof(*filter), .filter = filter };

	check(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), "prctl");
	check(syscall(SYS_membarrier, 0, 0, 0) < 0, "membarrier");
}

static int cancel_without_barrier(void)
{
	forbid_membarrier();
	open_device();
	return cancel_threads() || cancel_before_the_first_call() || cancel_asynchronously();
}

static int exit_while_others_poll(void)
{
	pthread_t thread;

	for (int i = 0; i < 4; i++)
		check(!pthread_create(&thread, NULL, poll_forever, NULL), "thread");
	usleep(50000);
	exit(6);
}

static void *exit_in_thread(void *unused)
{
	(void)unused;
	poll_once();
	exit(5);
}

static int exit_by_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, exit_in_thread, NULL);
	pause();
	return 98;
}

static int end_main_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, exit_in_thread, NULL);
	pthread_exit(NULL);
}

static void exit_in_handler(int unused)
{
	(void)unused;
	exit(8);
}

/* The handler interrupts Java in the same thread, which may hold locks. */
static int exit_by_handler(void)
{
	struct itimerval soon = { .it_value = { .tv_usec = 50000 } };

	signal(SIGALRM, exit_in_handler);
	setitimer(ITIMER_REAL, &soon, NULL);
	while (!ibv_query_device(context, &(struct ibv_device_attr){ 0 }))
		;
	return 98;
}

static int just_exit(void)
{
	return 0;
}

static int close_all(void)
{
	check(ibv_destroy_comp_channel(channel) == EBUSY, "a channel that is in use");
	check(!ibv_destroy_cq(queue) && !ibv_destroy_comp_channel(channel), "queue and channel");
	check(!ibv_dealloc_pd(domain) && !ibv_close_device(context), "domain and device");
	return 0;
}

static const struct test_case cases[] = {
	{ "crash", crash, 0 },
	{ "divide", divide, 0 },
	{ "break_pipe", break_pipe, 0 },
	{ "ignore_pipe", ignore_pipe, 0 },
	{ "catch_pipe", catch_pipe, 0 },
	{ "catch_crash", catch_crash, 0 },
	{ "interrupt", interrupt, 0 },
	{ "restart", restart, 0 },
	{ "terminate", terminate, 0 },
	{ "get_user_signal", get_user_signal, 0 },
	{ "do_not_block", do_not_block, 0 },
	{ "fork_child", fork_child, 0 },
	{ "fork_first", fork_first, 1 },
	{ "fork_while_others_register", fork_while_others_register, 0 },
	{ "many_threads", many_threads, 0 },
	{ "cancel_threads", cancel_threads, 0 },
	{ "cancel_before_the_first_call", cancel_before_the_first_call, 0 },
	{ "cancel_asynchronously", cancel_asynchronously, 0 },
	{ "cancel_without_barrier", cancel_without_barrier, 1 },
	{ "exit_while_others_poll", exit_while_others_poll, 0 },
	{ "exit_by_thread", exit_by_thread, 0 },
	{ "end_main_thread", end_main_thread, 0 },
	{ "exit_by_handler", exit_by_handler, 0 },
	{ "just_exit", just_exit, 0 },
	{ "close_all", close_all, 0 },
};

int main(int count, char **arguments)
{
	return count > 1 ? run_case(cases, sizeof(cases) / sizeof(*cases), arguments[1]) : 97;
}
