/*
 * Starts programs with another LD_PRELOAD. The library must stay in it, unless the new value is
 * empty or the environment is not that of rdma4j exec. Exits with 0, or after printing the first
 * failure.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(condition) check((condition), #condition, __LINE__)

/* Exits with 0 if the library comes first, and with 1 if it is not in the variable. */
#define SCRIPT "case $LD_PRELOAD in *libibverbs.so.1:libm.so.6) exit 0;; *libibverbs*) exit 2;; esac; exit 1"

extern char **environ;

static char *const arguments[] = { "sh", "-c", SCRIPT, NULL };

static void check(int is_right, const char *condition, int line)
{
	if (is_right)
		return;
	fprintf(stderr, "preloads.c:%d: %s (errno %d, %s)\n", line, condition, errno, strerror(errno));
	exit(1);
}

static int status_of(pid_t child)
{
	int status;

	CHECK(child > 0 && waitpid(child, &status, 0) == child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int status_of_execve(char **environment)
{
	pid_t child = vfork();

	if (!child) {
		execve("/bin/sh", arguments, environment);
		_exit(99);
	}
	return status_of(child);
}

static int status_of_function(int (*function)(const char *, char *const[]), const char *program)
{
	pid_t child = fork();

	if (!child) {
		function(program, arguments);
		_exit(99);
	}
	return status_of(child);
}

static void start_by_each_function(void)
{
	pid_t child;

	CHECK(status_of_execve(environ) == 0);
	CHECK(status_of_function(execv, "/bin/sh") == 0);
	CHECK(status_of_function(execvp, "sh") == 0);
	CHECK(!posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, environ) && status_of(child) == 0);
	CHECK(!posix_spawnp(&child, "sh", NULL, NULL, arguments, environ) && status_of(child) == 0);
}

int main(void)
{
	char *none[] = { NULL };
	char *foreign[] = { "LD_PRELOAD=libm.so.6", NULL };

	CHECK(!setenv("LD_PRELOAD", "libm.so.6", 1));
	start_by_each_function();
	CHECK(!strcmp(getenv("LD_PRELOAD"), "libm.so.6"));
	CHECK(status_of_execve(none) == 1);
	CHECK(status_of_execve(foreign) == 1);
	CHECK(!setenv("LD_PRELOAD", "", 1) && status_of_execve(environ) == 1);
	CHECK(!unsetenv("LD_PRELOAD") && status_of_execve(environ) == 1);
	return 0;
}
