/*
 * Starts the guardian of this process, a small program in the folder of the library
 * (guardian/guardian.c).
 *
 * It must not be a child of the program, because wait would report it. Therefore its parent is a
 * short-lived process that sends no signal when it ends and is not reported by wait either. Both
 * share the memory of this process until the guardian is executed, which avoids copying the page
 * tables of a large process.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libc_calls.h"
#include "library.h"

#define PROGRAM "rdma4j-guardian"
#define STACK_BYTES (64 * 1024)

struct start {
	char path[4096];
	char numbers[4][16];	/* the process ID, and the descriptors of the guardian */
	int descriptors[3];
	char *stack;
	int error;
};

/* Runs in the memory of the program, while its thread waits. */
static int execute(void *argument)
{
	struct start *start = argument;
	char *arguments[] = { PROGRAM, start->numbers[0], start->numbers[1], start->numbers[2], start->numbers[3], NULL };
	char *environment[] = { NULL };

	for (int i = 0; i < 3; i++) {
		if (start->descriptors[i] >= 0)
			fcntl(start->descriptors[i], F_SETFD, 0);
	}
	setsid();
	if (chdir("/"))
		start->error = errno;
	execve(start->path, arguments, environment);
	start->error = errno;
	return 127;
}

static int execute_detached(void *argument)
{
	struct start *start = argument;

	if (clone(execute, start->stack + STACK_BYTES / 2, CLONE_VM | CLONE_VFORK, start) < 0)
		start->error = errno;
	return 0;
}

/* Finds the path of the guardian. Returns 0 or an errno. */
static int find_guardian(struct start *start)
{
	Dl_info library;
	const char *slash;

	if (!dladdr((void *)guardian_start, &library) || !library.dli_fname)
		return ENOENT;
	slash = strrchr(library.dli_fname, '/');
	if (!slash || slash - library.dli_fname + sizeof("/" PROGRAM) > sizeof(start->path))
		return ENOENT;
	sprintf(start->path, "%.*s/" PROGRAM, (int)(slash - library.dli_fname), library.dli_fname);
	return libc_access(start->path, X_OK) ? errno : 0;
}

static int start_detached(struct start *start)
{
	sigset_t all, before;
	pid_t child;

	snprintf(start->numbers[0], sizeof(start->numbers[0]), "%d", getpid());
	for (int i = 0; i < 3; i++)
		snprintf(start->numbers[i + 1], sizeof(start->numbers[0]), "%d", start->descriptors[i]);
	start->stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	if (start->stack == MAP_FAILED)
		return ENOMEM;
	/* No handler of the program may run in the children, because they share its memory. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	child = clone(execute_detached, start->stack + STACK_BYTES, CLONE_VM | CLONE_VFORK, start);
	if (child < 0)
		start->error = errno;
	else
		while (waitpid(child, NULL, __WCLONE) < 0 && errno == EINTR)
			;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	munmap(start->stack, STACK_BYTES);
	return start->error;
}

/*
 * The other end of the pipe stays open until the process ends or becomes another program by exec.
 */
int guardian_start(const char *table)
{
	struct start start = { .descriptors = { -1, -1, -1 } };
	int image[2];
	int error = find_guardian(&start);

	if (error)
		return error;
	start.descriptors[0] = libc_open(table, O_RDWR | O_CLOEXEC, 0);
	if (start.descriptors[0] < 0)
		return errno;
	if (pipe2(image, O_CLOEXEC)) {
		error = errno;
		libc_close(start.descriptors[0]);
		return error;
	}
#ifdef SYS_pidfd_open
	start.descriptors[1] = (int)syscall(SYS_pidfd_open, getpid(), 0);
#endif
	start.descriptors[2] = image[0];
	error = start_detached(&start);
	for (int i = 0; i < 3; i++) {
		if (start.descriptors[i] >= 0)
			libc_close(start.descriptors[i]);
	}
	if (error)
		libc_close(image[1]);
	return error;
}
