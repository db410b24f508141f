/*
 * Work requests by ibv_wr_*, and completions by start_poll, next_poll and end_poll.
 *
 * Requests are collected in an array of struct ibv_send_wr, which wr_complete posts. As the
 * interface promises, a thread that builds requests excludes others.
 */
#define _GNU_SOURCE
#include <string.h>

#include "objects.h"

struct work_builder {
	pthread_mutex_t lock;
	struct ibv_send_wr *requests;
	struct ibv_sge *elements;	/* each request has an equal share, at least one element */
	char *inline_data;		/* each request has an equal share */
	uint32_t max_requests;
	uint32_t max_elements;		/* of a request */
	uint32_t max_inline_bytes;	/* of a request */
	uint32_t count;
	int error;			/* the first error since wr_start */
	struct ibv_send_wr discarded;	/* receives the fields of a request that did not fit */
};

static struct work_builder *builder_of(struct ibv_qp_ex *qp)
{
	return ((struct queue_pair *)qp)->builder;
}

static void remember(struct work_builder *builder, int error)
{
	if (!builder->error)
		builder->error = error;
}

static void start(struct ibv_qp_ex *qp)
{
	struct work_builder *builder = builder_of(qp);

	pthread_mutex_lock(&builder->lock);
	builder->count = 0;
	builder->error = 0;
}

static int complete(struct ibv_qp_ex *qp)
{
	struct work_builder *builder = builder_of(qp);
	int error = builder->error;

	for (uint32_t i = 0; i + 1 < builder->count; i++)
		builder->requests[i].next = &builder->requests[i + 1];
	if (!error && builder->count)
		error = post_send(&qp->qp_base, builder->requests, NULL);
	pthread_mutex_unlock(&builder->lock);
	return error;
}

static void abort_all(struct ibv_qp_ex *qp)
{
	pthread_mutex_unlock(&builder_of(qp)->lock);
}

static struct ibv_send_wr *add(struct ibv_qp_ex *qp, enum ibv_wr_opcode opcode)
{
	struct work_builder *builder = builder_of(qp);
	struct ibv_send_wr *request = &builder->discarded;

	if (builder->count < builder->max_requests)
		request = &builder->requests[builder->count++];
	else
		remember(builder, ENOMEM);
	memset(request, 0, sizeof(*request));
	request->wr_id = qp->wr_id;
	request->send_flags = qp->wr_flags;
	request->opcode = opcode;
	return request;
}

/* The request that the setters change. */
static struct ibv_send_wr *last(struct work_builder *builder)
{
	return builder->count && !builder->error ? &builder->requests[builder->count - 1] : &builder->discarded;
}

static void send_plain(struct ibv_qp_ex *qp)
{
	add(qp, IBV_WR_SEND);
}

static void send_imm(struct ibv_qp_ex *qp, uint32_t immediate)
{
	add(qp, IBV_WR_SEND_WITH_IMM)->imm_data = immediate;
}

static void send_inv(struct ibv_qp_ex *qp, uint32_t key)
{
	add(qp, IBV_WR_SEND_WITH_INV)->invalidate_rkey = key;
}

static struct ibv_send_wr *add_rdma(struct ibv_qp_ex *qp, enum ibv_wr_opcode opcode, uint32_t key, uint64_t address)
{
	struct ibv_send_wr *request = add(qp, opcode);

	request->wr.rdma.remote_addr = address;
	request->wr.rdma.rkey = key;
	return request;
}

static void rdma_write(struct ibv_qp_ex *qp, uint32_t key, uint64_t address)
{
	add_rdma(qp, IBV_WR_RDMA_WRITE, key, address);
}

static void rdma_write_imm(struct ibv_qp_ex *qp, uint32_t key, uint64_t address, uint32_t immediate)
{
	add_rdma(qp, IBV_WR_RDMA_WRITE_WITH_IMM, key, address)->imm_data = immediate;
}

static void rdma_read(struct ibv_qp_ex *qp, uint32_t key, uint64_t address)
{
	add_rdma(qp, IBV_WR_RDMA_READ, key, address);
}

static void add_atomic(struct ibv_qp_ex *qp, enum ibv_wr_opcode opcode, uint32_t key, uint64_t address, uint64_t first,
		       uint64_t second)
{
	struct ibv_send_wr *request = add(qp, opcode);

	request->wr.atomic.remote_addr = address;
	request->wr.atomic.compare_add = first;
	request->wr.atomic.swap = second;
	request->wr.atomic.rkey = key;
}

static void atomic_cmp_swp(struct ibv_qp_ex *qp, uint32_t key, uint64_t address, uint64_t compare, uint64_t swap)
{
	add_atomic(qp, IBV_WR_ATOMIC_CMP_AND_SWP, key, address, compare, swap);
}

static void atomic_fetch_add(struct ibv_qp_ex *qp, uint32_t key, uint64_t address, uint64_t addend)
{
	add_atomic(qp, IBV_WR_ATOMIC_FETCH_AND_ADD, key, address, addend, 0);
}

static void atomic_write(struct ibv_qp_ex *qp, uint32_t key, uint64_t address, const void *data)
{
	uint64_t value;

	memcpy(&value, data, sizeof(value));
	add_atomic(qp, IBV_WR_ATOMIC_WRITE, key, address, value, 0);
}

static void flush_remote(struct ibv_qp_ex *qp, uint32_t key, uint64_t address, size_t length, uint8_t type, uint8_t level)
{
	add_atomic(qp, IBV_WR_FLUSH, key, address, length, type | (uint64_t)level << 8);
}

static void bind_window(struct ibv_qp_ex *qp, struct ibv_mw *window, uint32_t key, const struct ibv_mw_bind_info *info)
{
	struct ibv_send_wr *request = add(qp, IBV_WR_BIND_MW);

	request->bind_mw.mw = window;
	request->bind_mw.rkey = key;
	request->bind_mw.bind_info = *info;
}

static void local_inv(struct ibv_qp_ex *qp, uint32_t key)
{
	add(qp, IBV_WR_LOCAL_INV)->invalidate_rkey = key;
}

static void set_ud_addr(struct ibv_qp_ex *qp, struct ibv_ah *handle, uint32_t number, uint32_t key)
{
	struct ibv_send_wr *request = last(builder_of(qp));

	request->wr.ud.ah = handle;
	request->wr.ud.remote_qpn = number;
	request->wr.ud.remote_qkey = key;
}

static void set_xrc_srqn(struct ibv_qp_ex *qp, uint32_t number)
{
	last(builder_of(qp))->qp_type.xrc.remote_srqn = number;
}

static void set_sge_list(struct ibv_qp_ex *qp, size_t count, const struct ibv_sge *list)
{
	struct work_builder *builder = builder_of(qp);
	struct ibv_send_wr *request = last(builder);

	if (request == &builder->discarded)
		return;
	if (count > builder->max_elements) {
		remember(builder, ENOMEM);
		return;
	}
	request->sg_list = builder->elements + (size_t)(request - builder->requests) * builder->max_elements;
	request->num_sge = (int)count;
	memcpy(request->sg_list, list, count * sizeof(*list));
}

static void set_sge(struct ibv_qp_ex *qp, uint32_t key, uint64_t address, uint32_t length)
{
	const struct ibv_sge element = { .addr = address, .length = length, .lkey = key };

	set_sge_list(qp, 1, &element);
}

/* Copies the data: the program may change it as soon as the call returns. */
static void set_inline_data_list(struct ibv_qp_ex *qp, size_t count, const struct ibv_data_buf *list)
{
	struct work_builder *builder = builder_of(qp);
	struct ibv_send_wr *request = last(builder);
	size_t length = 0;
	char *data;

	if (request == &builder->discarded)
		return;
	data = builder->inline_data + (size_t)(request - builder->requests) * builder->max_inline_bytes;
	for (size_t i = 0; i < count; i++) {
		if (list[i].length > builder->max_inline_bytes - length) {
			remember(builder, ENOMEM);
			return;
		}
		memcpy(data + length, list[i].addr, list[i].length);
		length += list[i].length;
	}
	set_sge(qp, 0, (uintptr_t)data, (uint32_t)length);
	request->send_flags |= IBV_SEND_INLINE;
}

static void set_inline_data(struct ibv_qp_ex *qp, void *address, size_t length)
{
	const struct ibv_data_buf buffer = { .addr = address, .length = length };

	set_inline_data_list(qp, 1, &buffer);
}

static void fill_builders(struct ibv_qp_ex *qp, uint64_t operations)
{
#define SET_IF(flag, field, function) \
	do { \
		if (operations & (flag)) \
			qp->field = (function); \
	} while (0)
	SET_IF(IBV_QP_EX_WITH_SEND, wr_send, send_plain);
	SET_IF(IBV_QP_EX_WITH_SEND_WITH_IMM, wr_send_imm, send_imm);
	SET_IF(IBV_QP_EX_WITH_SEND_WITH_INV, wr_send_inv, send_inv);
	SET_IF(IBV_QP_EX_WITH_RDMA_WRITE, wr_rdma_write, rdma_write);
	SET_IF(IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM, wr_rdma_write_imm, rdma_write_imm);
	SET_IF(IBV_QP_EX_WITH_RDMA_READ, wr_rdma_read, rdma_read);
	SET_IF(IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP, wr_atomic_cmp_swp, atomic_cmp_swp);
	SET_IF(IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD, wr_atomic_fetch_add, atomic_fetch_add);
	SET_IF(IBV_QP_EX_WITH_ATOMIC_WRITE, wr_atomic_write, atomic_write);
	SET_IF(IBV_QP_EX_WITH_FLUSH, wr_flush, flush_remote);
	SET_IF(IBV_QP_EX_WITH_BIND_MW, wr_bind_mw, bind_window);
	SET_IF(IBV_QP_EX_WITH_LOCAL_INV, wr_local_inv, local_inv);
#undef SET_IF
}

static void fill_setters(struct ibv_qp_ex *qp)
{
	qp->wr_start = start;
	qp->wr_complete = complete;
	qp->wr_abort = abort_all;
	qp->wr_set_ud_addr = set_ud_addr;
	qp->wr_set_xrc_srqn = set_xrc_srqn;
	qp->wr_set_sge = set_sge;
	qp->wr_set_sge_list = set_sge_list;
	qp->wr_set_inline_data = set_inline_data;
	qp->wr_set_inline_data_list = set_inline_data_list;
}

/* The kernel provides memory for inline data only where it is written. */
int builder_create(struct queue_pair *queue_pair, uint64_t operations)
{
	const struct ibv_qp_cap *sizes = &queue_pair->sizes;
	struct work_builder *builder = calloc(1, sizeof(*builder));

	if (!builder)
		return ENOMEM;
	queue_pair->builder = builder;
	pthread_mutex_init(&builder->lock, NULL);
	builder->max_requests = sizes->max_send_wr;
	builder->max_elements = sizes->max_send_sge ? sizes->max_send_sge : 1;
	builder->max_inline_bytes = sizes->max_inline_data;
	builder->requests = calloc(builder->max_requests, sizeof(*builder->requests));
	builder->elements = calloc((size_t)builder->max_requests * builder->max_elements, sizeof(*builder->elements));
	builder->inline_data = calloc(builder->max_requests, builder->max_inline_bytes + 1);
	if (!builder->requests || !builder->elements || !builder->inline_data) {
		builder_destroy(queue_pair);
		return ENOMEM;
	}
	fill_setters(&queue_pair->extended);
	fill_builders(&queue_pair->extended, operations);
	return 0;
}

void builder_destroy(struct queue_pair *queue_pair)
{
	struct work_builder *builder = queue_pair->builder;

	if (!builder)
		return;
	pthread_mutex_destroy(&builder->lock);
	free(builder->requests);
	free(builder->elements);
	free(builder->inline_data);
	free(builder);
	queue_pair->builder = NULL;
}

/* Completions. The lock is held from start_poll to end_poll. */

static struct completion_queue *queue_of(struct ibv_cq_ex *cq)
{
	return (struct completion_queue *)cq;
}

static int poll_one_timed(struct completion_queue *queue)
{
	int handle = (int)queue->ibv.handle;
	int count;

	if (java_enter())
		return call_by_helper(CALL_POLL_TIMED, handle, (uintptr_t)&queue->completion, (uintptr_t)&queue->timestamp_nanos);
	count = bridge_data.poll_timed(handle, &queue->completion, &queue->timestamp_nanos);
	java_leave();
	return count;
}

static int next_poll(struct ibv_cq_ex *cq)
{
	struct completion_queue *queue = queue_of(cq);
	int count;

	if (cq->read_completion_ts || cq->read_completion_wallclock_ns)
		count = poll_one_timed(queue);
	else
		count = poll_cq(&queue->ibv, 1, &queue->completion);
	if (count <= 0)
		return count ? -count : ENOENT;
	cq->wr_id = queue->completion.wr_id;
	cq->status = queue->completion.status;
	return 0;
}

static void end_poll(struct ibv_cq_ex *cq)
{
	if (!queue_of(cq)->is_single_threaded)
		pthread_mutex_unlock(&queue_of(cq)->poll_lock);
}

/* Programs do not call end_poll after an error. */
static int start_poll(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attributes)
{
	int error;

	if (attributes && attributes->comp_mask)
		return EINVAL;
	if (!queue_of(cq)->is_single_threaded)
		pthread_mutex_lock(&queue_of(cq)->poll_lock);
	error = next_poll(cq);
	if (error)
		end_poll(cq);
	return error;
}

static enum ibv_wc_opcode read_opcode(struct ibv_cq_ex *cq)
{
	return queue_of(cq)->completion.opcode;
}

static uint32_t read_vendor_err(struct ibv_cq_ex *cq)
{
	return queue_of(cq)->completion.vendor_err;
}

static uint32_t read_byte_len(struct ibv_cq_ex *cq)
{
	return queue_of(cq)->completion.byte_len;
}

static uint32_t read_imm_data(struct ibv_cq_ex *cq)
{
	return queue_of(cq)->completion.imm_data;
}

static uint32_t read_qp_num(struct ibv_cq_ex *cq)
{
	return queue_of(cq)->completion.qp_num;
}

static uint32_t read_src_qp(struct ibv_cq_ex *cq)
{
	return queue_of(cq)->completion.src_qp;
}

static unsigned int read_wc_flags(struct ibv_cq_ex *cq)
{
	return queue_of(cq)->completion.wc_flags;
}

static uint32_t read_slid(struct ibv_cq_ex *cq)
{
	return queue_of(cq)->completion.slid;
}

static uint8_t read_sl(struct ibv_cq_ex *cq)
{
	return queue_of(cq)->completion.sl;
}

static uint8_t read_dlid_path_bits(struct ibv_cq_ex *cq)
{
	return queue_of(cq)->completion.dlid_path_bits;
}

static uint64_t read_completion_ts(struct ibv_cq_ex *cq)
{
	return (uint64_t)queue_of(cq)->timestamp_nanos;
}

static uint64_t read_completion_wallclock_ns(struct ibv_cq_ex *cq)
{
	uint64_t arguments[] = { context_handle(cq->context), (uint64_t)queue_of(cq)->timestamp_nanos };

	return bridge_call(BRIDGE_WALL_CLOCK, arguments) ? 0 : arguments[0];
}

static void fill_readers(struct ibv_cq_ex *cq, uint64_t fields)
{
	cq->read_opcode = read_opcode;
	cq->read_vendor_err = read_vendor_err;
	cq->read_wc_flags = read_wc_flags;
	cq->read_byte_len = read_byte_len;
	cq->read_imm_data = read_imm_data;
	cq->read_qp_num = read_qp_num;
	cq->read_src_qp = read_src_qp;
	cq->read_slid = read_slid;
	cq->read_sl = read_sl;
	cq->read_dlid_path_bits = read_dlid_path_bits;
	if (fields & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP)
		cq->read_completion_ts = read_completion_ts;
	if (fields & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)
		cq->read_completion_wallclock_ns = read_completion_wallclock_ns;
}

void extend_cq(struct completion_queue *queue, uint64_t fields, uint32_t flags)
{
	queue->is_single_threaded = !!(flags & IBV_CREATE_CQ_ATTR_SINGLE_THREADED);
	queue->extended.start_poll = start_poll;
	queue->extended.next_poll = next_poll;
	queue->extended.end_poll = end_poll;
	fill_readers(&queue->extended, fields);
}

/*
 * Completions use the system's monotonic clock, in nanoseconds: see hca_core_clock in
 * ibv_query_device_ex.
 */
int query_rt_values(struct ibv_context *context, struct ibv_values_ex *values)
{
	(void)context;
	if (!(values->comp_mask & IBV_VALUES_MASK_RAW_CLOCK))
		return fail(EOPNOTSUPP);
	if (clock_gettime(CLOCK_MONOTONIC, &values->raw_clock))
		return errno;
	/* Programs read tv_nsec as the whole number of ticks. */
	values->raw_clock.tv_nsec += values->raw_clock.tv_sec * 1000000000L;
	values->raw_clock.tv_sec = 0;
	values->comp_mask = IBV_VALUES_MASK_RAW_CLOCK;
	return 0;
}
