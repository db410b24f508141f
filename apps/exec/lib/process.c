/*
 * Uses libibverbs and then does what its argument says, to show what becomes of the process: fork,
 * segv, pipe or system. Declares the prototypes itself, so that no libibverbs header file is
 * needed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct ibv_device;
struct ibv_context;

struct ibv_device **ibv_get_device_list(int *count);
void ibv_free_device_list(struct ibv_device **list);
struct ibv_context *ibv_open_device(struct ibv_device *device);
int ibv_close_device(struct ibv_context *context);

static int open_and_close(void)
{
	int count;
	struct ibv_device **list = ibv_get_device_list(&count);
	struct ibv_context *context = list && count > 0 ? ibv_open_device(list[0]) : NULL;

	if (list)
		ibv_free_device_list(list);
	if (!context)
		return 1;
	return ibv_close_device(context);
}

/* The child cannot use devices; the parent still can afterwards. */
static int fork_and_use(void)
{
	int status;
	pid_t child = fork();

	if (child == 0)
		_exit(open_and_close() ? 42 : 0);
	if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 42)
		return 3;
	return open_and_close();
}

int main(int argc, char **argv)
{
	const char *step = argc > 1 ? argv[1] : "";

	if (open_and_close())
		return 2;
	if (!strcmp(step, "fork"))
		return fork_and_use();
	if (!strcmp(step, "segv"))
		*(volatile int *)8 = 1;
	if (!strcmp(step, "pipe")) {
		/* Nobody reads: SIGPIPE ends the process. */
		for (int i = 0; i < 1000000; i++)
			if (write(1, "line\n", 5) < 0)
				return 4;
	}
	if (!strcmp(step, "system"))
		return system("test -d /");
	return 0;
}
