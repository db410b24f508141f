/* Completion channels and completion queues. */
#define _GNU_SOURCE
#include <sys/eventfd.h>
#include <unistd.h>

#include "objects.h"

struct bridge_data bridge_data;

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	struct channel *channel = calloc(1, sizeof(*channel));
	uint64_t arguments[2] = { context_handle(context) };
	int error;

	if (!channel)
		return no_object(ENOMEM);
	channel->ibv.context = context;
	channel->ibv.fd = event_descriptor(EFD_CLOEXEC);
	arguments[1] = channel->ibv.fd;
	error = channel->ibv.fd < 0 ? errno : bridge_call(BRIDGE_CREATE_CHANNEL, arguments);
	if (error) {
		if (channel->ibv.fd >= 0)
			close(channel->ibv.fd);
		free(channel);
		return no_object(error);
	}
	channel->handle = (int)arguments[0];
	return &channel->ibv;
}

static void count_user(struct ibv_comp_channel *channel, int change)
{
	if (!channel)
		return;
	pthread_mutex_lock(&channel->context->mutex);
	channel->refcnt += change;
	pthread_mutex_unlock(&channel->context->mutex);
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	int error;

	pthread_mutex_lock(&channel->context->mutex);
	error = channel->refcnt ? EBUSY : close_handle(((struct channel *)channel)->handle);
	pthread_mutex_unlock(&channel->context->mutex);
	if (error)
		return fail(error);
	close(channel->fd);
	free(channel);
	return 0;
}

static int create_in_java(struct completion_queue *queue, int entries, int vector)
{
	struct ibv_cq *ibv = &queue->ibv;
	uint64_t arguments[] = {
		context_handle(ibv->context),
		entries,
		ibv->channel ? ((struct channel *)ibv->channel)->handle : 0,
		vector,
		(uintptr_t)ibv,
	};
	int error = bridge_call(BRIDGE_CREATE_CQ, arguments);

	ibv->handle = (uint32_t)arguments[0];
	ibv->cqe = (int)arguments[1];
	return error;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context, struct ibv_comp_channel *channel,
			     int comp_vector)
{
	struct completion_queue *queue = calloc(1, sizeof(*queue));
	int error;

	if (!queue)
		return no_object(ENOMEM);
	queue->ibv.context = context;
	queue->ibv.channel = channel;
	queue->ibv.cq_context = cq_context;
	pthread_mutex_init(&queue->ibv.mutex, NULL);
	pthread_cond_init(&queue->ibv.cond, NULL);
	pthread_mutex_init(&queue->poll_lock, NULL);
	error = create_in_java(queue, cqe, comp_vector);
	if (error) {
		free(queue);
		return no_object(error);
	}
	count_user(channel, 1);
	return &queue->ibv;
}

struct ibv_cq_ex *create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attributes)
{
	const uint64_t fields = IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_IMM | IBV_WC_EX_WITH_QP_NUM | IBV_WC_EX_WITH_SRC_QP |
				IBV_WC_EX_WITH_SLID | IBV_WC_EX_WITH_SL | IBV_WC_EX_WITH_DLID_PATH_BITS |
				IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;
	uint32_t flags = attributes->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS ? attributes->flags : 0;
	struct ibv_cq *queue;

	if (attributes->wc_flags & ~fields || attributes->comp_mask & ~(uint32_t)IBV_CQ_INIT_ATTR_MASK_FLAGS ||
	    flags & ~(uint32_t)IBV_CREATE_CQ_ATTR_SINGLE_THREADED)
		return no_object(EOPNOTSUPP);
	queue = ibv_create_cq(context, attributes->cqe, attributes->cq_context, attributes->channel, attributes->comp_vector);
	if (!queue)
		return NULL;
	extend_cq((struct completion_queue *)queue, attributes->wc_flags, flags);
	return &((struct completion_queue *)queue)->extended;
}

int ibv_resize_cq(struct ibv_cq *cq, int cqe)
{
	uint64_t arguments[] = { cq->handle, cqe };
	int error = bridge_call(BRIDGE_RESIZE_CQ, arguments);

	if (!error)
		cq->cqe = (int)arguments[1];
	return fail(error);
}

/* Waits until the program has acknowledged all events. */
int ibv_destroy_cq(struct ibv_cq *cq)
{
	int error = close_after_events(cq->handle);

	if (error)
		return fail(error);
	count_user(cq->channel, -1);
	free(cq);
	return 0;
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_context)
{
	uint64_t arguments[1];
	int error;

	do {
		arguments[0] = ((struct channel *)channel)->handle;
		error = bridge_call(BRIDGE_NEXT_CHANNEL_EVENT, arguments);
		if (!error) {
			*cq = (struct ibv_cq *)(uintptr_t)arguments[0];
			*cq_context = (*cq)->cq_context;
			return 0;
		}
		if (error == EAGAIN)
			error = wait_readable(channel->fd);
	} while (!error);
	errno = error;
	return -1;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int nevents)
{
	uint64_t arguments[] = { cq->handle, nevents };

	pthread_mutex_lock(&cq->mutex);
	cq->comp_events_completed += nevents;
	pthread_mutex_unlock(&cq->mutex);
	bridge_call(BRIDGE_ACK_CQ_EVENTS, arguments);
}

int poll_cq(struct ibv_cq *queue, int count, struct ibv_wc *completions)
{
	int result;

	if (java_enter())
		return call_by_helper(CALL_POLL, queue->handle, count, (uintptr_t)completions);
	result = bridge_data.poll(queue->handle, count, completions);
	java_leave();
	return result;
}

int req_notify_cq(struct ibv_cq *queue, int solicited_only)
{
	int error;

	if (java_enter())
		return call_by_helper(CALL_REQUEST_NOTIFICATION, queue->handle, solicited_only, 0);
	error = bridge_data.request_notification(queue->handle, solicited_only);
	java_leave();
	return error;
}
