/* A library to preload into a program: after four seconds, its thread calls exit with status 3. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static void *exit_later(void *unused)
{
	sleep(4);
	exit(3);
	return unused;
}

__attribute__((constructor)) static void begin(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, exit_later, NULL))
		_exit(98);
}
