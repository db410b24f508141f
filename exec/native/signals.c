/*
 * Signals remain the program's, although the Java virtual machine needs some of them.
 *
 * The virtual machine sets handlers for faults, which it causes on purpose, and for SIGPIPE and SIGXFSZ, which it ignores. This
 * file puts a handler before them: it runs the handler of the virtual machine for threads that execute Java, and the action of
 * the program for all others. From then on, sigaction and signal read and change the action of the program. Threads that the
 * virtual machine creates get no other signals, so that a signal interrupts a thread of the program.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "library.h"

#define SIGNAL_COUNT 32		/* the virtual machine takes none of the real-time signals, except for one that has no use else */

static int (*libc_sigaction)(int, const struct sigaction *, struct sigaction *);
static sighandler_t (*libc_signal)(int, sighandler_t);
static int (*libc_pthread_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

static struct sigaction program[SIGNAL_COUNT];	/* the actions of the program */
static struct sigaction java[SIGNAL_COUNT];	/* those of the virtual machine */
static volatile sig_atomic_t shared[SIGNAL_COUNT];

/* Another library may call one of the functions below before the constructor runs. */
__attribute__((constructor)) static void find_libc(void)
{
	libc_sigaction = (int (*)(int, const struct sigaction *, struct sigaction *))dlsym(RTLD_NEXT, "sigaction");
	libc_signal = (sighandler_t(*)(int, sighandler_t))dlsym(RTLD_NEXT, "signal");
	libc_pthread_create = (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(RTLD_NEXT,
													       "pthread_create");
}

/* Tells whether the instruction that caused the signal is executed again after a return from the handler. */
static int is_fault(int number, const siginfo_t *info)
{
	return info->si_code > 0 && (number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL);
}

/* Lets the signal do what it does in a program without a handler: it arrives again after the return from this handler. */
static void take_default(int number, const siginfo_t *info)
{
	struct sigaction action = { .sa_handler = SIG_DFL };

	libc_sigaction(number, &action, NULL);
	if (!is_fault(number, info))
		raise(number);
}

static void run_program_action(int number, siginfo_t *info, void *context)
{
	struct sigaction action = program[number];
	sigset_t mask = ((ucontext_t *)context)->uc_sigmask;

	if (action.sa_handler == SIG_DFL || (action.sa_handler == SIG_IGN && is_fault(number, info))) {
		take_default(number, info);
		return;
	}
	if (action.sa_handler == SIG_IGN)
		return;
	if (action.sa_flags & SA_RESETHAND)
		program[number].sa_handler = SIG_DFL;
	sigorset(&mask, &mask, &action.sa_mask);
	if (!(action.sa_flags & SA_NODEFER))
		sigaddset(&mask, number);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	if (action.sa_flags & SA_SIGINFO)
		action.sa_sigaction(number, info, context);
	else
		action.sa_handler(number);
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	int error = errno;

	if (number == SIGSEGV || number == SIGBUS)
		leave_access(info, context);
	if (java_thread.depth)
		java[number].sa_sigaction(number, info, context);
	else
		run_program_action(number, info, context);
	errno = error;
}

/* Makes the kernel call the handler of this file. The kernel has to know that SIGPIPE is ignored, as exec keeps that. */
static void install(int number)
{
	struct sigaction action = java[number];

	if (program[number].sa_handler == SIG_IGN && number == SIGPIPE) {
		libc_sigaction(number, &program[number], NULL);
		return;
	}
	action.sa_sigaction = on_signal;
	action.sa_flags |= SA_SIGINFO;
	libc_sigaction(number, &action, NULL);
}

void signals_before_start(void)
{
	for (int number = 1; number < SIGNAL_COUNT; number++)
		libc_sigaction(number, NULL, &program[number]);
}

static int is_needed(int number)
{
	return number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL || number == SIGTRAP || number == SIGPIPE ||
	       number == SIGXFSZ;
}

void signals_after_start(void)
{
	for (int number = 1; number < SIGNAL_COUNT; number++) {
		if (libc_sigaction(number, NULL, &java[number]) || java[number].sa_sigaction == program[number].sa_sigaction)
			continue;
		if (is_needed(number) && java[number].sa_flags & SA_SIGINFO) {
			install(number);
			shared[number] = 1;
		} else {
			libc_sigaction(number, &program[number], NULL);
		}
	}
}

/* The action of a shared signal is set by the virtual machine for itself, and by the program for itself. */
static int is_program_action(int number)
{
	return number > 0 && number < SIGNAL_COUNT && shared[number] && !java_thread.depth;
}

PUBLIC int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
	struct sigaction previous;

	if (!libc_sigaction)
		find_libc();
	if (!is_program_action(number))
		return libc_sigaction(number, action, old);
	previous = program[number];
	if (action) {
		program[number] = *action;
		install(number);
	}
	if (old)
		*old = previous;
	return 0;
}

/* The old functions differ in the flags. */
static sighandler_t set_handler(int number, sighandler_t handler, int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };
	struct sigaction old;

	sigemptyset(&action.sa_mask);
	return sigaction(number, &action, &old) ? SIG_ERR : old.sa_handler;
}

PUBLIC sighandler_t signal(int number, sighandler_t handler)
{
	if (!libc_signal)
		find_libc();
	return is_program_action(number) ? set_handler(number, handler, SA_RESTART) : libc_signal(number, handler);
}

PUBLIC sighandler_t bsd_signal(int number, sighandler_t handler) __attribute__((alias("signal"), nothrow, leaf));

PUBLIC sighandler_t sysv_signal(int number, sighandler_t handler)
{
	return set_handler(number, handler, SA_RESETHAND | SA_NODEFER);
}

/* Programs that are compiled for POSIX alone call this function as signal. */
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

/* A thread inherits the signal mask of its creator. The virtual machine unblocks what it needs. */
static int create_java_thread(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *), void *argument)
{
	struct thread_start *start = malloc(sizeof(*start));
	sigset_t all, old;
	int error;

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
