/* Shared receive queues. */
#define _GNU_SOURCE
#include "objects.h"

static int create_in_java(struct shared_receive_queue *queue, struct ibv_srq_attr *sizes, struct ibv_xrcd *xrc_domain, struct ibv_cq *cq)
{
	struct ibv_srq *ibv = &queue->ibv;
	uint64_t arguments[] = {
		ibv->pd->handle,
		sizes->max_wr,
		sizes->max_sge,
		sizes->srq_limit,
		(uintptr_t)ibv,
		xrc_domain ? ((struct xrc_domain *)xrc_domain)->handle : 0,
		cq ? cq->handle : 0,
	};
	int error = bridge_call(BRIDGE_CREATE_SRQ, arguments);

	if (error)
		return error;
	ibv->handle = (uint32_t)arguments[0];
	queue->number = (uint32_t)arguments[1];
	sizes->max_wr = (uint32_t)arguments[2];
	sizes->max_sge = (uint32_t)arguments[3];
	return 0;
}

static struct ibv_srq *create(struct ibv_pd *domain, void *user_context, struct ibv_srq_attr *sizes, struct ibv_xrcd *xrc_domain,
			      struct ibv_cq *cq)
{
	struct shared_receive_queue *queue = calloc(1, sizeof(*queue));
	int error;

	if (!queue)
		return no_object(ENOMEM);
	queue->ibv.context = domain->context;
	queue->ibv.srq_context = user_context;
	queue->ibv.pd = domain;
	pthread_mutex_init(&queue->ibv.mutex, NULL);
	pthread_cond_init(&queue->ibv.cond, NULL);
	error = create_in_java(queue, sizes, xrc_domain, cq);
	if (error) {
		free(queue);
		return no_object(error);
	}
	return &queue->ibv;
}

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *srq_init_attr)
{
	return create(pd, srq_init_attr->srq_context, &srq_init_attr->attr, NULL, NULL);
}

/* Tag-matching queues need hardware. */
struct ibv_srq *create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attributes)
{
	const uint32_t extended = IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
	uint32_t mask = attributes->comp_mask;
	enum ibv_srq_type type = mask & IBV_SRQ_INIT_ATTR_TYPE ? attributes->srq_type : IBV_SRQT_BASIC;

	(void)context;
	if (mask & ~(IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | extended) || type > IBV_SRQT_XRC)
		return no_object(EOPNOTSUPP);
	if (!(mask & IBV_SRQ_INIT_ATTR_PD))
		return no_object(EINVAL);
	if (type == IBV_SRQT_BASIC)
		return create(attributes->pd, attributes->srq_context, &attributes->attr, NULL, NULL);
	if ((mask & extended) != extended)
		return no_object(EINVAL);
	return create(attributes->pd, attributes->srq_context, &attributes->attr, attributes->xrcd, attributes->cq);
}

/* Only XRC queues have a number. */
int get_srq_num(struct ibv_srq *queue, uint32_t *number)
{
	*number = ((struct shared_receive_queue *)queue)->number;
	return *number ? 0 : fail(EINVAL);
}

int ibv_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *srq_attr, int srq_attr_mask)
{
	uint64_t arguments[] = { srq->handle, srq_attr->max_wr, srq_attr->srq_limit, srq_attr_mask };

	return fail(bridge_call(BRIDGE_MODIFY_SRQ, arguments));
}

int ibv_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *srq_attr)
{
	uint64_t arguments[4] = { srq->handle };
	int error = bridge_call(BRIDGE_QUERY_SRQ, arguments);

	if (error)
		return fail(error);
	*srq_attr = (struct ibv_srq_attr){
		.max_wr = (uint32_t)arguments[1],
		.max_sge = (uint32_t)arguments[2],
		.srq_limit = (uint32_t)arguments[3],
	};
	return 0;
}

int ibv_destroy_srq(struct ibv_srq *srq)
{
	int error = close_after_events(srq->handle);

	if (!error)
		free(srq);
	return fail(error);
}

int post_srq_recv(struct ibv_srq *queue, struct ibv_recv_wr *first, struct ibv_recv_wr **bad)
{
	int error;

	if (java_enter())
		return call_by_helper(CALL_POST_SRQ_RECEIVE, queue->handle, (uintptr_t)first, (uintptr_t)bad);
	error = bridge_data.post_srq_receive(queue->handle, first, (void **)bad);
	java_leave();
	return error;
}
