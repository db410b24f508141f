/*
 * Other libraries in LD_PRELOAD. This one is the first there, and passes calls of functions that
 * both interpose on to the other one.
 *
 * A program that starts another one with its own LD_PRELOAD, like "env LD_PRELOAD=...", would
 * change that order, and librdmacm would find no /dev/infiniband/rdma_cm. Therefore this library
 * adds itself to the new value, unless that is empty.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "library.h"

#define PRELOAD "LD_PRELOAD="
/* A program without this variable has left the environment of rdma4j exec. */
#define OURS "RDMA4J_EXEC_JVM="

extern char **environ;

/* This library's entry in LD_PRELOAD; empty if it has none. */
static char word[PATH_MAX];

static struct {
	int (*execve)(const char *, char *const[], char *const[]);
	int (*execvpe)(const char *, char *const[], char *const[]);
	int (*spawn)(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, char *const[], char *const[]);
	int (*spawnp)(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, char *const[], char *const[]);
} next;

__attribute__((constructor(102))) static void find_next(void)
{
	const char *preload = getenv("LD_PRELOAD");
	size_t length = preload ? strcspn(preload, ": ") : 0;
	const char *name = "libibverbs.so.1";

	*(void **)&next.execve = dlsym(RTLD_NEXT, "execve");
	*(void **)&next.execvpe = dlsym(RTLD_NEXT, "execvpe");
	*(void **)&next.spawn = dlsym(RTLD_NEXT, "posix_spawn");
	*(void **)&next.spawnp = dlsym(RTLD_NEXT, "posix_spawnp");
	if (length < strlen(name) || length >= sizeof(word) || strncmp(preload + length - strlen(name), name, strlen(name)))
		return;
	memcpy(word, preload, length);
}

/*
 * The functions below run in a child of fork or vfork, where nothing may be allocated. Therefore a
 * changed environment is built on the stack of the called function.
 */

static size_t count(char *const environment[])
{
	size_t variables = 0;

	while (environment && environment[variables])
		variables++;
	return variables;
}

/* Returns the variable LD_PRELOAD if this library must be added to it, otherwise NULL. */
static char *const *find_incomplete(char *const environment[])
{
	char *const *preload = NULL;
	int has_ours = 0;

	for (; environment && *environment; environment++) {
		if (!strncmp(*environment, PRELOAD, strlen(PRELOAD)))
			preload = environment;
		has_ours |= !strncmp(*environment, OURS, strlen(OURS));
	}
	if (!*word || !has_ours || !preload || !(*preload)[strlen(PRELOAD)] || strstr(*preload, word))
		return NULL;
	return preload;
}

static size_t bytes_to_complete(char *const environment[])
{
	char *const *preload = find_incomplete(environment);

	return preload ? (count(environment) + 1) * sizeof(char *) + strlen(*preload) + strlen(word) + sizeof(":") : 0;
}

static char *const *complete(char *const environment[], void *space)
{
	char *const *preload = find_incomplete(environment);
	size_t variables = count(environment);
	char **completed = space;
	char *text = (char *)(completed + variables + 1);

	if (!preload)
		return environment;
	memcpy(completed, environment, (variables + 1) * sizeof(*completed));
	completed[preload - environment] = text;
	stpcpy(stpcpy(stpcpy(stpcpy(text, PRELOAD), word), ":"), *preload + strlen(PRELOAD));
	return completed;
}

#define COMPLETE(environment) complete(environment, __builtin_alloca(bytes_to_complete(environment)))

PUBLIC int execve(const char *path, char *const arguments[], char *const environment[])
{
	environment = COMPLETE(environment);
	return next.execve ? next.execve(path, arguments, environment) : (int)syscall(SYS_execve, path, arguments, environment);
}

PUBLIC int execv(const char *path, char *const arguments[])
{
	return execve(path, arguments, environ);
}

PUBLIC int execvpe(const char *file, char *const arguments[], char *const environment[])
{
	environment = COMPLETE(environment);
	if (next.execvpe)
		return next.execvpe(file, arguments, environment);
	errno = ENOSYS;
	return -1;
}

PUBLIC int execvp(const char *file, char *const arguments[])
{
	return execvpe(file, arguments, environ);
}

PUBLIC int posix_spawn(pid_t *child, const char *path, const posix_spawn_file_actions_t *actions,
		       const posix_spawnattr_t *attributes, char *const arguments[], char *const environment[])
{
	environment = COMPLETE(environment);
	return next.spawn ? next.spawn(child, path, actions, attributes, arguments, environment) : ENOSYS;
}

PUBLIC int posix_spawnp(pid_t *child, const char *file, const posix_spawn_file_actions_t *actions,
			const posix_spawnattr_t *attributes, char *const arguments[], char *const environment[])
{
	environment = COMPLETE(environment);
	return next.spawnp ? next.spawnp(child, file, actions, attributes, arguments, environment) : ENOSYS;
}
