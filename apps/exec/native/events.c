/* Asynchronous events, and waiting for events of any kind. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "objects.h"

/* The kind of object that an event belongs to. */
enum owner { QUEUE_PAIR, COMPLETION_QUEUE, SHARED_RECEIVE_QUEUE, PORT_OR_DEVICE };

/*
 * Threads that wait for an eventfd of this library sleep until any of them becomes readable. They
 * leave the counter of the eventfd to Java, because only Java knows whether there are events.
 * raises is a futex: like a read from a kernel file, waiting on it is interrupted only by signals
 * without SA_RESTART. Any signal would interrupt poll.
 */
static uint32_t raises;
static uint32_t waiters;

void note_raised(void)
{
	__atomic_fetch_add(&raises, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&waiters, __ATOMIC_SEQ_CST))
		syscall(SYS_futex, &raises, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static void remove_waiter(void *unused)
{
	(void)unused;
	__atomic_fetch_sub(&waiters, 1, __ATOMIC_SEQ_CST);
}

/* The thread can be canceled here, as in read. Returns 0 or an errno. */
static int wait_for_raise(uint32_t seen)
{
	int error, type;

	__atomic_fetch_add(&waiters, 1, __ATOMIC_SEQ_CST);
	pthread_cleanup_push(remove_waiter, NULL);
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
	error = syscall(SYS_futex, &raises, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0) ? errno : 0;
	pthread_setcanceltype(type, NULL);
	pthread_cleanup_pop(1);
	return error == EAGAIN ? 0 : error;
}

int wait_for_closed(void)
{
	pause();
	return EBADF;
}

int wait_readable(int descriptor)
{
	struct pollfd wait = { .fd = descriptor, .events = POLLIN };
	int flags = fcntl(descriptor, F_GETFL);

	if (flags < 0)
		return errno;
	if (flags & O_NONBLOCK)
		return EAGAIN;
	for (;;) {
		uint32_t seen = __atomic_load_n(&raises, __ATOMIC_SEQ_CST);
		int error;

		if (poll(&wait, 1, 0) > 0)
			return wait.revents & POLLNVAL ? wait_for_closed() : 0;
		error = wait_for_raise(seen);
		if (error)
			return error;
	}
}

void add_taken(struct taken_event **list, struct taken_event *event)
{
	while (*list)
		list = &(*list)->next;
	event->next = NULL;
	*list = event;
}

uint64_t remove_taken(struct taken_event **list)
{
	struct taken_event *event = *list;
	uint64_t token;

	if (!event)
		return 0;
	token = event->token;
	*list = event->next;
	free(event);
	return token;
}

static enum owner owner_of(enum ibv_event_type type)
{
	switch (type) {
	case IBV_EVENT_CQ_ERR:
		return COMPLETION_QUEUE;
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_SQ_DRAINED:
	case IBV_EVENT_PATH_MIG:
	case IBV_EVENT_PATH_MIG_ERR:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		return QUEUE_PAIR;
	case IBV_EVENT_SRQ_ERR:
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		return SHARED_RECEIVE_QUEUE;
	default:
		return PORT_OR_DEVICE;
	}
}

static void keep_token(pthread_mutex_t *mutex, struct taken_event **list, struct taken_event *event)
{
	pthread_mutex_lock(mutex);
	add_taken(list, event);
	pthread_mutex_unlock(mutex);
}

/* Keeps the token for ibv_ack_async_event. Java does not close the object before it is called. */
static void keep(struct ibv_async_event *result, struct taken_event *event)
{
	switch (owner_of(result->event_type)) {
	case COMPLETION_QUEUE:
		keep_token(&result->element.cq->mutex, &((struct completion_queue *)result->element.cq)->taken, event);
		break;
	case QUEUE_PAIR:
		keep_token(&result->element.qp->mutex, &((struct queue_pair *)result->element.qp)->taken, event);
		break;
	case SHARED_RECEIVE_QUEUE:
		keep_token(&result->element.srq->mutex, &((struct shared_receive_queue *)result->element.srq)->taken, event);
		break;
	case PORT_OR_DEVICE:
		break;
	}
}

static void acknowledge(int context, uint64_t token)
{
	uint64_t arguments[] = { context, token };

	bridge_call(BRIDGE_ACK_ASYNC_EVENT, arguments);
}

static void deliver(struct ibv_context *context, const uint64_t *arguments, struct ibv_async_event *result,
		    struct taken_event *event)
{
	result->event_type = (enum ibv_event_type)arguments[0];
	if (owner_of(result->event_type) == PORT_OR_DEVICE) {
		/* ibv_ack_async_event could not tell which context the event belongs to. */
		result->element.port_num = (int)arguments[2];
		acknowledge(context_handle(context), arguments[3]);
		free(event);
		return;
	}
	result->element.qp = (struct ibv_qp *)(uintptr_t)arguments[1];
	event->token = arguments[3];
	keep(result, event);
}

int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *result)
{
	struct taken_event *event = malloc(sizeof(*event));
	uint64_t arguments[4];
	int error;

	if (!event)
		return -1;
	do {
		arguments[0] = context_handle(context);
		error = bridge_call(BRIDGE_NEXT_ASYNC_EVENT, arguments);
		if (!error) {
			deliver(context, arguments, result, event);
			return 0;
		}
		if (error == EAGAIN)
			error = wait_readable(context->async_fd);
	} while (!error);
	free(event);
	errno = error;
	return -1;
}

/* The program may free the object as soon as Java has the acknowledgement. */
static void acknowledge_one(struct ibv_context *context, pthread_mutex_t *mutex, struct taken_event **list, uint32_t *completed)
{
	int handle = context_handle(context);
	uint64_t token;

	pthread_mutex_lock(mutex);
	token = remove_taken(list);
	(*completed)++;
	pthread_mutex_unlock(mutex);
	acknowledge(handle, token);
}

void ibv_ack_async_event(struct ibv_async_event *event)
{
	struct ibv_cq *cq = event->element.cq;
	struct ibv_qp *qp = event->element.qp;
	struct ibv_srq *srq = event->element.srq;

	switch (owner_of(event->event_type)) {
	case COMPLETION_QUEUE:
		acknowledge_one(cq->context, &cq->mutex, &((struct completion_queue *)cq)->taken, &cq->async_events_completed);
		break;
	case QUEUE_PAIR:
		acknowledge_one(qp->context, &qp->mutex, &((struct queue_pair *)qp)->taken, &qp->events_completed);
		break;
	case SHARED_RECEIVE_QUEUE:
		acknowledge_one(srq->context, &srq->mutex, &((struct shared_receive_queue *)srq)->taken, &srq->events_completed);
		break;
	case PORT_OR_DEVICE:
		break;
	}
}
