/*
 * Two ends of idle connections. "ends server COUNT WAY" accepts connections at port 7471, prints a
 * line when all are established, and ends in the given way when SIGUSR1 arrives; if the way is a
 * signal, it waits for that. "ends client ADDRESS" prints the events of a connection with the time
 * in milliseconds, and ends after the second one.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <rdma/rdma_cma.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PORT 7471

static struct rdma_event_channel *channel;

static void check(int is_wrong, const char *call)
{
	if (is_wrong) {
		perror(call);
		exit(1);
	}
}

static struct rdma_cm_id *event(const char *name)
{
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	struct timespec now;

	check(rdma_get_cm_event(channel, &event), "rdma_get_cm_event");
	clock_gettime(CLOCK_REALTIME, &now);
	id = event->id;
	if (!name)
		printf("%s %lld\n", rdma_event_str(event->event), now.tv_sec * 1000LL + now.tv_nsec / 1000000);
	else if (strcmp(name, rdma_event_str(event->event))) {
		fprintf(stderr, "%s instead of %s\n", rdma_event_str(event->event), name);
		exit(1);
	}
	rdma_ack_cm_event(event);
	return id;
}

static void create_queue_pair(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attributes = { .cap = { 4, 4, 1, 1, 0 }, .qp_type = IBV_QPT_RC };

	check(rdma_create_qp(id, NULL, &attributes), "rdma_create_qp");
}

static int client(const char *address)
{
	struct rdma_conn_param parameters = { .responder_resources = 1, .initiator_depth = 1, .retry_count = 7 };
	struct sockaddr_in peer = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	struct rdma_cm_id *id;

	inet_pton(AF_INET, address, &peer.sin_addr);
	check(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), "rdma_create_id");
	check(rdma_resolve_addr(id, NULL, (struct sockaddr *)&peer, 2000), "rdma_resolve_addr");
	event("RDMA_CM_EVENT_ADDR_RESOLVED");
	check(rdma_resolve_route(id, 2000), "rdma_resolve_route");
	event("RDMA_CM_EVENT_ROUTE_RESOLVED");
	create_queue_pair(id);
	check(rdma_connect(id, &parameters), "rdma_connect");
	event(NULL);
	event(NULL);
	return 0;
}

static void end(const char *way)
{
	if (!strcmp(way, "exit"))
		exit(3);
	if (!strcmp(way, "_exit"))
		_exit(3);
	if (!strcmp(way, "SEGV")) {
		/* A fault of the program, at an address where Java itself would not fault. */
		volatile int *nothing = NULL;
		*nothing = 1;
	}
	if (!strcmp(way, "abort"))
		abort();
	if (!strcmp(way, "exec"))
		execlp("sleep", "sleep", "20", NULL);
	for (;;)
		pause();
}

static int server(int count, const char *way)
{
	struct rdma_conn_param parameters = { .responder_resources = 1, .initiator_depth = 1 };
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	struct rdma_cm_id *listener;
	sigset_t signals;
	int arrived, established = 0;

	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	check(rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP), "rdma_create_id");
	check(rdma_bind_addr(listener, (struct sockaddr *)&any), "rdma_bind_addr");
	check(rdma_listen(listener, 10), "rdma_listen");
	printf("listening %d\n", getpid());
	while (established < count) {
		struct rdma_cm_event *event;
		struct rdma_cm_id *id;
		int is_request;

		check(rdma_get_cm_event(channel, &event), "rdma_get_cm_event");
		id = event->id;
		is_request = event->event == RDMA_CM_EVENT_CONNECT_REQUEST;
		established += event->event == RDMA_CM_EVENT_ESTABLISHED;
		rdma_ack_cm_event(event);
		if (is_request) {
			create_queue_pair(id);
			check(rdma_accept(id, &parameters), "rdma_accept");
		}
	}
	if (wait(NULL) >= 0 || errno != ECHILD) {
		fputs("the program has a child\n", stderr);
		return 1;
	}
	puts("connected");
	if (!strcmp(way, "fork")) {
		/* A child that inherits everything must not hide the end of its parent. */
		if (!fork()) {
			sleep(20);
			_exit(0);
		}
	}
	sigwait(&signals, &arrived);
	if (!strcmp(way, "closefrom")) {
		closefrom(3);
		sigwait(&signals, &arrived);
	}
	if (strcmp(way, "return"))
		end(way);
	return 3;
}

int main(int count, char **arguments)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	channel = rdma_create_event_channel();
	check(!channel, "rdma_create_event_channel");
	if (count == 3 && !strcmp(arguments[1], "client"))
		return client(arguments[2]);
	if (count == 4 && !strcmp(arguments[1], "server"))
		return server(atoi(arguments[2]), arguments[3]);
	return 2;
}
