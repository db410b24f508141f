/* Queue pairs. */
#define _GNU_SOURCE
#include <string.h>

#include "objects.h"

/* The operations of ibv_wr_* that a type of queue pair has. */
static uint64_t operations_of(enum ibv_qp_type type)
{
	const uint64_t datagram = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM;
	const uint64_t unreliable = datagram | IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |
				    IBV_QP_EX_WITH_SEND_WITH_INV | IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_BIND_MW;
	const uint64_t reliable = unreliable | IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
				  IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | IBV_QP_EX_WITH_FLUSH | IBV_QP_EX_WITH_ATOMIC_WRITE;

	switch (type) {
	case IBV_QPT_UD: return datagram;
	case IBV_QPT_UC: return unreliable;
	case IBV_QPT_RC:
	case IBV_QPT_XRC_SEND: return reliable;
	default: return 0;
	}
}

static int handle_of_cq(struct ibv_cq *queue)
{
	return queue ? (int)queue->handle : 0;
}

static int create_in_java(struct queue_pair *queue_pair, struct ibv_xrcd *xrc_domain, uint32_t flags)
{
	struct ibv_qp *ibv = &queue_pair->ibv;
	uint64_t arguments[] = {
		ibv->pd ? ibv->pd->handle : 0,
		ibv->qp_type,
		handle_of_cq(ibv->send_cq),
		handle_of_cq(ibv->recv_cq),
		ibv->srq ? ibv->srq->handle : 0,
		(uintptr_t)&queue_pair->sizes,
		queue_pair->signals_all,
		(uintptr_t)ibv,
		xrc_domain ? ((struct xrc_domain *)xrc_domain)->handle : 0,
		flags,
	};
	int error = bridge_call(BRIDGE_CREATE_QP, arguments);

	ibv->handle = (uint32_t)arguments[0];
	ibv->qp_num = (uint32_t)arguments[1];
	return error;
}

static struct queue_pair *new_queue_pair(struct ibv_context *context, struct ibv_pd *domain, const struct ibv_qp_init_attr *attributes)
{
	struct queue_pair *queue_pair = calloc(1, sizeof(*queue_pair));
	struct ibv_qp *ibv;

	if (!queue_pair)
		return NULL;
	ibv = &queue_pair->ibv;
	ibv->context = context;
	ibv->qp_context = attributes->qp_context;
	ibv->pd = domain;
	ibv->send_cq = attributes->send_cq;
	ibv->recv_cq = attributes->recv_cq;
	ibv->srq = attributes->srq;
	ibv->qp_type = attributes->qp_type;
	ibv->state = IBV_QPS_RESET;
	pthread_mutex_init(&ibv->mutex, NULL);
	pthread_cond_init(&ibv->cond, NULL);
	queue_pair->sizes = attributes->cap;
	queue_pair->signals_all = attributes->sq_sig_all;
	return queue_pair;
}

/* Checks the attributes. An XRC target has neither a domain nor queues. */
static int check(const struct ibv_qp_init_attr_ex *attributes, uint64_t operations)
{
	uint32_t mask = attributes->comp_mask;

	if (mask & ~(uint32_t)(IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_XRCD | IBV_QP_INIT_ATTR_CREATE_FLAGS |
			       IBV_QP_INIT_ATTR_SEND_OPS_FLAGS))
		return EOPNOTSUPP;
	if (attributes->qp_type == IBV_QPT_XRC_RECV)
		return mask & IBV_QP_INIT_ATTR_XRCD ? 0 : EINVAL;
	if (!(mask & IBV_QP_INIT_ATTR_PD))
		return EINVAL;
	return operations & ~operations_of(attributes->qp_type) ? EOPNOTSUPP : 0;
}

struct ibv_qp *create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attributes)
{
	uint32_t mask = attributes->comp_mask;
	uint64_t operations = mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS ? attributes->send_ops_flags : 0;
	int error = check(attributes, operations);
	struct queue_pair *queue_pair;

	if (error)
		return no_object(error);
	queue_pair = new_queue_pair(context, mask & IBV_QP_INIT_ATTR_PD ? attributes->pd : NULL,
				    (struct ibv_qp_init_attr *)attributes);
	if (!queue_pair)
		return no_object(ENOMEM);
	error = create_in_java(queue_pair, mask & IBV_QP_INIT_ATTR_XRCD ? attributes->xrcd : NULL,
			       mask & IBV_QP_INIT_ATTR_CREATE_FLAGS ? attributes->create_flags : 0);
	if (!error && operations) {
		error = builder_create(queue_pair, operations);
		if (error)
			close_handle(queue_pair->ibv.handle);
	}
	if (error) {
		free(queue_pair);
		return no_object(error);
	}
	attributes->cap = queue_pair->sizes;
	return &queue_pair->ibv;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *qp_init_attr)
{
	struct ibv_qp_init_attr_ex attributes = { .comp_mask = IBV_QP_INIT_ATTR_PD, .pd = pd };
	struct ibv_qp *queue_pair;

	memcpy(&attributes, qp_init_attr, offsetof(struct ibv_qp_init_attr_ex, comp_mask));
	queue_pair = create_qp_ex(pd->context, &attributes);
	if (queue_pair)
		qp_init_attr->cap = attributes.cap;
	return queue_pair;
}

struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp)
{
	struct queue_pair *queue_pair = (struct queue_pair *)qp;

	return queue_pair->builder ? &queue_pair->extended : NULL;
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask)
{
	uint64_t arguments[] = { qp->handle, (uintptr_t)attr, attr_mask };
	int error = bridge_call(BRIDGE_MODIFY_QP, arguments);

	if (!error && attr_mask & IBV_QP_STATE)
		qp->state = attr->qp_state;
	return fail(error);
}

int modify_qp_rate_limit(struct ibv_qp *queue_pair, struct ibv_qp_rate_limit_attr *attributes)
{
	uint64_t arguments[] = { queue_pair->handle, attributes->rate_limit };

	if (attributes->comp_mask)
		return fail(EINVAL);
	/* The typical burst size is a hint and needs no support; a maximum would. */
	if (attributes->max_burst_sz)
		return fail(EOPNOTSUPP);
	return fail(bridge_call(BRIDGE_SET_RATE_LIMIT, arguments));
}

int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask, struct ibv_qp_init_attr *init_attr)
{
	/* Programs built before version 6 have a structure without the rate limit. */
	struct ibv_qp_attr whole = { 0 };
	uint64_t arguments[] = { qp->handle, (uintptr_t)&whole, 0 };
	int error = bridge_call(BRIDGE_QUERY_QP, arguments);

	(void)attr_mask;
	if (error)
		return fail(error);
	qp->state = (enum ibv_qp_state)arguments[2];
	memcpy(attr, &whole, offsetof(struct ibv_qp_attr, rate_limit));
	*init_attr = (struct ibv_qp_init_attr){
		.qp_context = qp->qp_context,
		.send_cq = qp->send_cq,
		.recv_cq = qp->recv_cq,
		.srq = qp->srq,
		.cap = whole.cap,
		.qp_type = qp->qp_type,
		.sq_sig_all = ((struct queue_pair *)qp)->signals_all,
	};
	return 0;
}

/* Packets are written in order, but the order of the bytes of a packet is not guaranteed. */
int ibv_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode op, uint32_t flags)
{
	(void)qp;
	(void)op;
	(void)flags;
	return 0;
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
	int error = close_after_events(qp->handle);

	if (error)
		return fail(error);
	builder_destroy((struct queue_pair *)qp);
	free(qp);
	return 0;
}

int post_send(struct ibv_qp *queue_pair, struct ibv_send_wr *first, struct ibv_send_wr **bad)
{
	int error;

	if (java_enter())
		return call_by_helper(CALL_POST_SEND, queue_pair->handle, (uintptr_t)first, (uintptr_t)bad);
	error = bridge_data.post_send(queue_pair->handle, first, (void **)bad);
	java_leave();
	return error;
}

int post_recv(struct ibv_qp *queue_pair, struct ibv_recv_wr *first, struct ibv_recv_wr **bad)
{
	int error;

	if (java_enter())
		return call_by_helper(CALL_POST_RECEIVE, queue_pair->handle, (uintptr_t)first, (uintptr_t)bad);
	error = bridge_data.post_receive(queue_pair->handle, first, (void **)bad);
	java_leave();
	return error;
}
