/*
 * Signals still belong to the program, although the Java virtual machine needs some of them
 * (decision 058).
 *
 * The virtual machine installs handlers for faults, which it causes on purpose, and for SIGPIPE and
 * SIGXFSZ, which it ignores. Its handlers get the signals that arrive while a thread executes Java;
 * for all others, the action of the program is taken. The kernel calls a handler in this file,
 * which knows both, for every signal that the program or the virtual machine handles.
 *
 * A handler of the program does not interrupt Java: it could neither leave Java by siglongjmp nor
 * call Java from there. A signal that arrives in Java waits for the return, which takes
 * microseconds. Threads that the virtual machine creates receive no signals of the program, so a
 * signal always interrupts a thread of the program.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "library.h"

#define SIGNALS 65

static int (*libc_sigaction)(int, const struct sigaction *, struct sigaction *);
static int (*libc_pthread_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

/* An action is complete before it becomes current, because handlers read it without the lock. */
struct program_action {
	struct sigaction versions[2];
	int current;
};

static struct program_action program[SIGNALS];	/* under the lock, like the next two */
/* The virtual machine's actions; SIG_DFL unless it has set a handler. */
static struct sigaction java[SIGNALS];
/* Set once on_signal calls the handlers of the program. */
static int is_started;
/* Signals that interrupt system calls if their handler is set by signal; see siginterrupt. */
static sigset_t interrupting;
static char lock;
static sigset_t mask_before_fork;
/* This process, as opposed to a child of vfork, which shares its memory but has its own actions. */
static pid_t owner;

/* The signal that waits for its thread to return from Java, and the signals blocked before. */
static __thread struct {
	siginfo_t info;
	sigset_t blocked;
} deferred __attribute__((tls_model("initial-exec")));

/* Another library may call a function below before the constructor runs. */
__attribute__((constructor)) static void find_libc(void)
{
	libc_sigaction = (int (*)(int, const struct sigaction *, struct sigaction *))dlsym(RTLD_NEXT, "sigaction");
	libc_pthread_create = (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(RTLD_NEXT,
													       "pthread_create");
	owner = getpid();
}

/* A handler may call sigaction too, so it must not interrupt a thread that holds the lock. */
static void take_lock(sigset_t *blocked)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, blocked);
	while (__atomic_test_and_set(&lock, __ATOMIC_ACQUIRE))
		sched_yield();
}

static void release_lock(const sigset_t *blocked)
{
	__atomic_clear(&lock, __ATOMIC_RELEASE);
	pthread_sigmask(SIG_SETMASK, blocked, NULL);
}

void signals_before_fork(void)
{
	take_lock(&mask_before_fork);
}

void signals_after_fork(void)
{
	owner = getpid();
	release_lock(&mask_before_fork);
}

static const struct sigaction *program_action(int number)
{
	return &program[number].versions[__atomic_load_n(&program[number].current, __ATOMIC_ACQUIRE)];
}

static void set_program_action(int number, const struct sigaction *action)
{
	int next = !program[number].current;

	program[number].versions[next] = *action;
	__atomic_store_n(&program[number].current, next, __ATOMIC_RELEASE);
}

static int is_function(const struct sigaction *action)
{
	return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
}

/*
 * Returns whether the instruction that caused the signal is executed again after the handler
 * returns.
 */
static int is_fault(int number, const siginfo_t *info)
{
	return info->si_code > 0 && (number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL);
}

/* Takes the default action: the signal arrives again after this handler returns. */
static void take_default(int number, const siginfo_t *info)
{
	struct sigaction action = { .sa_handler = SIG_DFL };

	libc_sigaction(number, &action, NULL);
	if (!is_fault(number, info))
		raise(number);
}

static void reset(int number)
{
	struct sigaction action = { .sa_handler = SIG_DFL };

	sigaction(number, &action, NULL);
}

static void run_program_action(int number, siginfo_t *info, void *context)
{
	struct sigaction action = *program_action(number);
	sigset_t mask = ((ucontext_t *)context)->uc_sigmask;

	if (action.sa_handler == SIG_DFL || (action.sa_handler == SIG_IGN && is_fault(number, info))) {
		take_default(number, info);
		return;
	}
	if (action.sa_handler == SIG_IGN)
		return;
	if (action.sa_flags & SA_RESETHAND)
		reset(number);
	/*
	 * The kernel has blocked other signals if the virtual machine also has an action, or if the
	 * handler had to wait.
	 */
	sigorset(&mask, &mask, &action.sa_mask);
	if (!(action.sa_flags & SA_NODEFER))
		sigaddset(&mask, number);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	if (action.sa_flags & SA_SIGINFO)
		action.sa_sigaction(number, info, context);
	else
		action.sa_handler(number);
}

/*
 * Removes the signals that Java needs while it runs: faults, and the signal with which the virtual
 * machine suspends threads.
 */
static void remove_signals_of_java(sigset_t *set)
{
	static const int needed[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP };

	for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++)
		sigdelset(set, needed[i]);
	sigdelset(set, SUSPEND_SIGNAL);
}

/* Blocks all other signals until the thread returns from Java: at most one waits here. */
static void defer(const siginfo_t *info, ucontext_t *context)
{
	deferred.info = *info;
	deferred.blocked = context->uc_sigmask;
	sigfillset(&context->uc_sigmask);
	remove_signals_of_java(&context->uc_sigmask);
	sigorset(&context->uc_sigmask, &context->uc_sigmask, &deferred.blocked);
	__atomic_fetch_or(&java_thread.slow_path, SLOW_PATH_SIGNAL, __ATOMIC_SEQ_CST);
}

/*
 * Runs the handler as if the signal had interrupted the return from Java. After that, the kernel
 * delivers the signals that were blocked.
 */
void signals_run_deferred(void)
{
	siginfo_t info = deferred.info;
	int error = errno;
	ucontext_t context;

	getcontext(&context);
	context.uc_sigmask = deferred.blocked;
	run_program_action(info.si_signo, &info, &context);
	pthread_sigmask(SIG_SETMASK, &context.uc_sigmask, NULL);
	errno = error;
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	int error = errno;

	if (number == SIGSEGV || number == SIGBUS)
		leave_access(info, context);
	if (java_thread.depth && is_function(&java[number]))
		java[number].sa_sigaction(number, info, context);
	else if (java_thread.depth && !is_fault(number, info))
		defer(info, context);
	else
		run_program_action(number, info, context);
	errno = error;
}

/*
 * Installs an action that serves both. The kernel must know that SIGPIPE is ignored, because exec
 * keeps that. Returns 0, or -1 with errno.
 */
static int install(int number)
{
	struct sigaction action = *program_action(number);

	if (is_function(&java[number]) && (number != SIGPIPE || action.sa_handler != SIG_IGN))
		action = java[number];
	if (is_function(&action)) {
		action.sa_sigaction = on_signal;
		action.sa_flags = (action.sa_flags | SA_SIGINFO) & ~SA_RESETHAND;
	}
	return libc_sigaction(number, &action, NULL);
}

void signals_start(void)
{
	sigset_t blocked;

	take_lock(&blocked);
	is_started = 1;
	for (int number = 1; number < SIGNALS; number++) {
		struct sigaction action;

		if (libc_sigaction(number, NULL, &action))
			continue;
		set_program_action(number, &action);
		if (is_function(&action))
			install(number);
	}
	release_lock(&blocked);
}

static int is_needed(int number)
{
	return number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL || number == SIGTRAP || number == SIGPIPE ||
	       number == SIGXFSZ;
}

/* Handlers that the virtual machine sets for the program's signals are not installed. */
static int set_java_action(int number, const struct sigaction *action, struct sigaction *old)
{
	struct sigaction previous = java[number];
	sigset_t blocked;

	if (action && is_needed(number)) {
		take_lock(&blocked);
		java[number] = *action;
		install(number);
		release_lock(&blocked);
	}
	if (old)
		*old = previous;
	return 0;
}

/* A child of vfork has its own actions, which only the kernel knows. */
static int set_action_of_child(int number, const struct sigaction *action, struct sigaction *old)
{
	int error = libc_sigaction(number, action, old);

	if (!error && old && is_function(old) && old->sa_sigaction == on_signal)
		*old = *program_action(number);
	return error;
}

static int set_action(int number, const struct sigaction *action, struct sigaction *old)
{
	struct sigaction previous = *program_action(number);

	if (!is_started)
		return libc_sigaction(number, action, old);
	if (action) {
		set_program_action(number, action);
		if (install(number)) {
			set_program_action(number, &previous);
			return -1;
		}
	}
	if (old)
		*old = previous;
	return 0;
}

PUBLIC int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
	sigset_t blocked;
	int error;

	if (!libc_sigaction)
		find_libc();
	if (number <= 0 || number >= SIGNALS)
		return libc_sigaction(number, action, old);
	if (java_thread.depth && number != SUSPEND_SIGNAL)
		return set_java_action(number, action, old);
	if (getpid() != owner)
		return set_action_of_child(number, action, old);
	take_lock(&blocked);
	error = set_action(number, action, old);
	release_lock(&blocked);
	return error;
}

/* The old functions differ in the flags only. */
static sighandler_t set_handler(int number, sighandler_t handler, int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };
	struct sigaction old;

	sigemptyset(&action.sa_mask);
	return sigaction(number, &action, &old) ? SIG_ERR : old.sa_handler;
}

PUBLIC int siginterrupt(int number, int interrupts)
{
	struct sigaction action;

	if (sigaction(number, NULL, &action))
		return -1;
	if (interrupts) {
		sigaddset(&interrupting, number);
		action.sa_flags &= ~SA_RESTART;
	} else {
		sigdelset(&interrupting, number);
		action.sa_flags |= SA_RESTART;
	}
	return sigaction(number, &action, NULL);
}

PUBLIC sighandler_t signal(int number, sighandler_t handler)
{
	if (handler == SIG_ERR) {
		errno = EINVAL;
		return SIG_ERR;
	}
	return set_handler(number, handler, sigismember(&interrupting, number) == 1 ? 0 : SA_RESTART);
}

PUBLIC sighandler_t bsd_signal(int number, sighandler_t handler) __attribute__((alias("signal"), nothrow, leaf));

PUBLIC sighandler_t sysv_signal(int number, sighandler_t handler)
{
	return set_handler(number, handler, SA_RESETHAND | SA_NODEFER);
}

/* Programs compiled for strict POSIX call this function when they call signal. */
PUBLIC sighandler_t __sysv_signal(int number, sighandler_t handler) __attribute__((alias("sysv_signal"), nothrow, leaf));

struct thread_start {
	void *(*function)(void *);
	void *argument;
};

static void *run_java_thread(void *argument)
{
	struct thread_start start = *(struct thread_start *)argument;

	free(argument);
	java_thread.depth++;
	return start.function(start.argument);
}

/* Threads inherit the signal mask. The virtual machine unblocks the signals that it needs. */
int create_java_thread(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *), void *argument)
{
	struct thread_start *start = malloc(sizeof(*start));
	sigset_t all, old;
	int error;

	if (!libc_pthread_create)
		find_libc();
	if (!start)
		return EAGAIN;
	*start = (struct thread_start){ .function = function, .argument = argument };
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	error = libc_pthread_create(thread, attributes, run_java_thread, start);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (error)
		free(start);
	return error;
}

PUBLIC int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *), void *argument)
{
	if (!libc_pthread_create)
		find_libc();
	if (java_thread.depth)
		return create_java_thread(thread, attributes, function, argument);
	return libc_pthread_create(thread, attributes, function, argument);
}
