/*
 * A libibverbs.so.1 for tests. It has one device, with queue pairs that are connected to
 * themselves. Its poll and post functions only access memory, like a driver that bypasses the
 * kernel. A SEND consumes the oldest receive of the same queue pair, WRITE and READ copy between
 * the addresses of the request, and atomics change eight bytes. All addresses are addresses of
 * memory regions.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#undef ibv_query_port
#undef ibv_reg_mr
#undef ibv_get_device_list

#define ENTRIES 64

/* An extended queue starts with the fields of an ordinary queue. */
struct test_cq {
	union {
		struct ibv_cq cq;
		struct ibv_cq_ex ex;
	};
	struct ibv_wc entries[ENTRIES];
	uint64_t times[ENTRIES];
	struct ibv_wc current;
	uint64_t current_time;
	unsigned head, tail;
	int armed, polling;
};

struct test_mr {
	struct ibv_mr mr;
	uint64_t iova;
	struct test_mr *next;
};

struct test_receive {
	uint64_t id;
	struct ibv_sge sge;
	int num_sge;
};

struct test_qp {
	struct ibv_qp qp;
	struct ibv_qp_attr attr;
	struct test_receive receives[ENTRIES];
	unsigned head, tail;
};

static struct ibv_device device = {.node_type = IBV_NODE_CA, .transport_type = IBV_TRANSPORT_IB, .name = "test0"};
static struct ibv_device *list[] = {&device, NULL};
static int live_objects, has_other_abi, lacks_extensions, lacks_function, vendor, missing_entries;
static struct test_mr *regions;
static unsigned last_access;
static uint64_t ticks;

/* The number of objects that were created and not destroyed. */
int test_driver_live_objects(void) { return live_objects; }

/* The number of objects when a context was last closed: C frees the context although they use it. */
static int live_at_close;
int test_driver_live_at_close(void) { return live_at_close; }

/* While held, destroying a queue pair does not return. in_destroy counts the threads in this call. */
static volatile int holds_destroy, in_destroy;
void test_driver_hold_destroy(int value) { holds_destroy = value; }
int test_driver_in_destroy(void) { return in_destroy; }

/* Makes contexts that are not extended, like a library with another binary interface. */
void test_driver_other_abi(int value) { has_other_abi = value; }

/* Completion queues report this many entries fewer than requested. */
void test_driver_missing_entries(int value) { missing_entries = value; }

/* Makes contexts without the extended functions. */
void test_driver_lacks_extensions(int value) { lacks_extensions = value; }

/* Makes extended queues without the function that reads the timestamp. */
void test_driver_lacks_function(int value) { lacks_function = value; }

/* Sets the device's vendor ID. */
void test_driver_vendor(int value) { vendor = value; }

/* Sets the device's clock, of 2 MHz and 32 bits. */
void test_driver_ticks(uint64_t value) { ticks = value; }

/* The access flags of the last registration. */
int test_driver_last_access(void) { return (int) last_access; }

static int is_registered(uint32_t lkey)
{
	struct test_mr *region = regions;

	while (region && region->mr.lkey != lkey)
		region = region->next;
	return region != NULL;
}

/* Returns the memory at an address of a region. */
static void *memory(uint32_t key, uint64_t addr)
{
	struct test_mr *region = regions;

	while (region->mr.lkey != key && region->mr.rkey != key)
		region = region->next;
	return (char *) region->mr.addr + (addr - region->iova);
}

struct ibv_device **ibv_get_device_list(int *count)
{
	if (count)
		*count = 1;
	return list;
}
void ibv_free_device_list(struct ibv_device **devices) { (void) devices; }
const char *ibv_get_device_name(struct ibv_device *d) { return d->name; }
int ibv_get_device_index(struct ibv_device *d) { (void) d; return 7; }
__be64 ibv_get_device_guid(struct ibv_device *d) { (void) d; return 0x0807060504030201ull; }
int ibv_fork_init(void) { return 0; }

/* Reports an event of port 1 to the last opened context. */
static int next_event = -1, events_descriptor;

void test_driver_report_event(int type)
{
	next_event = type;
	eventfd_write(events_descriptor, 1);
}

/* The number of calls of poll_cq that succeed before one fails; negative if all succeed. */
static int polls_before_failure = -1;

void test_driver_polls_before_failure(int value) { polls_before_failure = value; }

static int poll_cq(struct ibv_cq *ibcq, int count, struct ibv_wc *wc)
{
	struct test_cq *cq = (struct test_cq *) ibcq;
	int n = 0;

	if (polls_before_failure >= 0 && polls_before_failure-- == 0)
		return -1;
	while (n < count && cq->head != cq->tail)
		wc[n++] = cq->entries[cq->head++ % ENTRIES];
	return n;
}

static int take(struct test_cq *cq)
{
	if (cq->head == cq->tail)
		return ENOENT;
	cq->current_time = cq->times[cq->head % ENTRIES];
	cq->current = cq->entries[cq->head++ % ENTRIES];
	cq->ex.wr_id = cq->current.wr_id;
	cq->ex.status = cq->current.status;
	return 0;
}

/* Returns EINVAL if the caller does not follow the order of the calls. */
static int start_poll(struct ibv_cq_ex *ex, struct ibv_poll_cq_attr *attr)
{
	struct test_cq *cq = (struct test_cq *) ex;
	int error = cq->polling || attr->comp_mask ? EINVAL : take(cq);

	cq->polling |= !error;
	return error;
}

static int next_poll(struct ibv_cq_ex *ex)
{
	struct test_cq *cq = (struct test_cq *) ex;

	return cq->polling ? take(cq) : EINVAL;
}

static void end_poll(struct ibv_cq_ex *ex) { ((struct test_cq *) ex)->polling = 0; }

static struct ibv_wc *current(struct ibv_cq_ex *ex) { return &((struct test_cq *) ex)->current; }
static enum ibv_wc_opcode read_opcode(struct ibv_cq_ex *ex) { return current(ex)->opcode; }
static uint32_t read_byte_len(struct ibv_cq_ex *ex) { return current(ex)->byte_len; }
static __be32 read_imm_data(struct ibv_cq_ex *ex) { return current(ex)->imm_data; }
static uint32_t read_qp_num(struct ibv_cq_ex *ex) { return current(ex)->qp_num; }
static uint32_t read_src_qp(struct ibv_cq_ex *ex) { return current(ex)->src_qp; }
static unsigned read_wc_flags(struct ibv_cq_ex *ex) { return current(ex)->wc_flags; }
static uint64_t read_completion_ts(struct ibv_cq_ex *ex) { return ((struct test_cq *) ex)->current_time; }

static int query_rt_values(struct ibv_context *context, struct ibv_values_ex *values)
{
	(void) context;
	if (values->comp_mask != IBV_VALUES_MASK_RAW_CLOCK)
		return EINVAL;
	values->raw_clock.tv_sec = 0;
	values->raw_clock.tv_nsec = ticks;
	return 0;
}

static int req_notify_cq(struct ibv_cq *ibcq, int solicited_only)
{
	((struct test_cq *) ibcq)->armed = 1 + solicited_only;
	return 0;
}

static void complete(struct ibv_cq *ibcq, const struct ibv_wc *wc)
{
	struct test_cq *cq = (struct test_cq *) ibcq;

	cq->times[cq->tail % ENTRIES] = ticks;
	cq->entries[cq->tail++ % ENTRIES] = *wc;
	if (cq->armed && cq->cq.channel) {
		cq->armed = 0;
		eventfd_write(cq->cq.channel->fd, 1);
	}
}

/* Holds the calls that post inline data, before they read the data. */
static volatile int holds_inline, in_inline;

void test_driver_hold_inline(int value) { holds_inline = value; }
int test_driver_in_inline(void) { return in_inline; }

static void *inline_data(const struct ibv_sge *sge)
{
	in_inline = 1;
	while (holds_inline)
		usleep(100);
	in_inline = 0;
	return (void *) (uintptr_t) sge->addr;
}

/* The local memory of a request: a driver reads inline data by their address, without a key. */
static void *local_memory(const struct ibv_send_wr *wr, const struct ibv_sge *sge)
{
	if (!wr->num_sge)
		return NULL;
	return wr->send_flags & IBV_SEND_INLINE ? inline_data(sge) : memory(sge->lkey, sge->addr);
}

static void receive(struct test_qp *qp, const struct ibv_send_wr *wr, const struct ibv_sge *from)
{
	struct test_receive *r = &qp->receives[qp->head++ % ENTRIES];
	struct ibv_wc wc = {.wr_id = r->id, .opcode = IBV_WC_RECV, .qp_num = qp->qp.qp_num, .src_qp = 0x123};

	if (wr->num_sge && r->num_sge) {
		memcpy(memory(r->sge.lkey, r->sge.addr), local_memory(wr, from), from->length);
		wc.byte_len = from->length;
	}
	if (wr->opcode == IBV_WR_SEND_WITH_IMM) {
		wc.wc_flags = IBV_WC_WITH_IMM;
		wc.imm_data = wr->imm_data;
	}
	complete(qp->qp.recv_cq, &wc);
}

static enum ibv_wc_opcode execute(struct test_qp *qp, struct ibv_send_wr *wr)
{
	struct ibv_sge none = {0}, *sge = wr->num_sge ? wr->sg_list : &none;
	void *local = local_memory(wr, sge);
	uint64_t *target;

	switch (wr->opcode) {
	case IBV_WR_RDMA_WRITE:
		memcpy(memory(wr->wr.rdma.rkey, wr->wr.rdma.remote_addr), local, sge->length);
		return IBV_WC_RDMA_WRITE;
	case IBV_WR_RDMA_READ:
		memcpy(local, memory(wr->wr.rdma.rkey, wr->wr.rdma.remote_addr), sge->length);
		return IBV_WC_RDMA_READ;
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		target = memory(wr->wr.atomic.rkey, wr->wr.atomic.remote_addr);
		*(uint64_t *) local = *target;
		*target += wr->wr.atomic.compare_add;
		return IBV_WC_FETCH_ADD;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		target = memory(wr->wr.atomic.rkey, wr->wr.atomic.remote_addr);
		*(uint64_t *) local = *target;
		if (*target == wr->wr.atomic.compare_add)
			*target = wr->wr.atomic.swap;
		return IBV_WC_COMP_SWAP;
	default:
		receive(qp, wr, sge);
		return IBV_WC_SEND;
	}
}

static int post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct test_qp *qp = (struct test_qp *) ibqp;

	for (; wr; wr = wr->next) {
		struct ibv_wc wc = {.wr_id = wr->wr_id, .qp_num = ibqp->qp_num};

		if (qp->attr.qp_state != IBV_QPS_RTS ||
		    (wr->opcode <= IBV_WR_SEND_WITH_IMM && wr->opcode >= IBV_WR_SEND && qp->head == qp->tail)) {
			*bad = wr;
			return qp->attr.qp_state == IBV_QPS_RTS ? ENOMEM : EINVAL;
		}
		if (wr->num_sge && !(wr->send_flags & IBV_SEND_INLINE) && !is_registered(wr->sg_list->lkey))
			wc.status = IBV_WC_LOC_PROT_ERR;
		else
			wc.opcode = execute(qp, wr);
		if (wr->send_flags & IBV_SEND_SIGNALED)
			complete(ibqp->send_cq, &wc);
	}
	return 0;
}

static int post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct test_qp *qp = (struct test_qp *) ibqp;

	for (; wr; wr = wr->next) {
		struct test_receive *r = &qp->receives[qp->tail % ENTRIES];

		if (qp->tail - qp->head == ENTRIES) {
			*bad = wr;
			return ENOMEM;
		}
		r->id = wr->wr_id;
		r->num_sge = wr->num_sge;
		if (wr->num_sge)
			r->sge = wr->sg_list[0];
		qp->tail++;
	}
	return 0;
}

static int query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
			   struct ibv_device_attr_ex *attr, size_t size);
static struct ibv_cq_ex *create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr);

struct ibv_context *ibv_open_device(struct ibv_device *d)
{
	struct verbs_context *opened = calloc(1, sizeof *opened);

	opened->sz = sizeof *opened;
	if (!lacks_extensions) {
		opened->query_device_ex = query_device_ex;
		opened->query_rt_values = query_rt_values;
		opened->create_cq_ex = create_cq_ex;
	}
	opened->context.abi_compat = has_other_abi ? NULL : __VERBS_ABI_IS_EXTENDED;
	opened->context.device = d;
	opened->context.cmd_fd = -1;
	opened->context.async_fd = events_descriptor = eventfd(0, EFD_CLOEXEC);
	opened->context.num_comp_vectors = 2;
	opened->context.ops.poll_cq = poll_cq;
	opened->context.ops.req_notify_cq = req_notify_cq;
	opened->context.ops.post_send = post_send;
	opened->context.ops.post_recv = post_recv;
	return &opened->context;
}

int ibv_close_device(struct ibv_context *context)
{
	live_at_close = live_objects;
	close(context->async_fd);
	free((char *) context - offsetof(struct verbs_context, context));
	return 0;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	(void) context;
	memset(attr, 0, sizeof *attr);
	strcpy(attr->fw_ver, "1.2.3");
	attr->node_guid = 0x0807060504030201ull;
	attr->vendor_id = vendor;
	attr->max_qp_wr = ENTRIES;
	attr->max_sge = 4;
	attr->max_cqe = ENTRIES;
	attr->phys_port_cnt = 1;
	return 0;
}

static int query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
			   struct ibv_device_attr_ex *attr, size_t size)
{
	(void) input;
	if (size < sizeof *attr)
		return EINVAL;
	memset(attr, 0, size);
	attr->odp_caps.general_caps = IBV_ODP_SUPPORT;
	attr->device_cap_flags_ex = 1ULL << 38 | 1ULL << 40; /* FLUSH_GLOBAL, ATOMIC_WRITE */
	attr->odp_caps.per_transport_caps.rc_odp_caps = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_READ;
	attr->completion_timestamp_mask = 0xffffffff;
	attr->hca_core_clock = 2000;
	return ibv_query_device(context, &attr->orig_attr);
}

int ibv_query_port(struct ibv_context *context, uint8_t port, struct _compat_ibv_port_attr *attr)
{
	struct ibv_port_attr *full = (struct ibv_port_attr *) attr;

	(void) context;
	if (port != 1)
		return EINVAL;
	full->state = IBV_PORT_ACTIVE;
	full->max_mtu = full->active_mtu = IBV_MTU_4096;
	full->gid_tbl_len = 2;
	full->max_msg_sz = 1u << 31;
	return 0;
}

ssize_t _ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries, size_t max, uint32_t flags, size_t size)
{
	(void) context;
	(void) flags;
	if (max < 1 || size < sizeof *entries)
		return -EINVAL;
	memset(entries, 0, sizeof *entries);
	entries->gid.raw[10] = entries->gid.raw[11] = 0xff;
	entries->gid.raw[12] = 192;
	entries->gid.raw[14] = 2;
	entries->gid.raw[15] = 1;
	entries->gid_index = 1;
	entries->port_num = 1;
	entries->gid_type = IBV_GID_TYPE_ROCE_V2;
	return 1;
}

int ibv_query_pkey(struct ibv_context *context, uint8_t port, int index, __be16 *key)
{
	(void) context;
	(void) port;
	*key = 0xffff;
	return index ? -1 : 0;
}
int ibv_get_pkey_index(struct ibv_context *context, uint8_t port, __be16 key)
{
	(void) context;
	(void) port;
	return key == 0xffff ? 0 : -1;
}

int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	eventfd_t count;

	if (next_event < 0 || eventfd_read(context->async_fd, &count)) {
		errno = EAGAIN;
		return -1;
	}
	memset(event, 0, sizeof(*event));
	event->event_type = next_event;
	event->element.port_num = 1;
	next_event = -1;
	return 0;
}
void ibv_ack_async_event(struct ibv_async_event *event) { (void) event; }

static void *created(size_t bytes)
{
	live_objects++;
	return calloc(1, bytes);
}

static int destroyed(void *object)
{
	live_objects--;
	free(object);
	return 0;
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct ibv_pd *pd = created(sizeof *pd);

	pd->context = context;
	return pd;
}
int ibv_dealloc_pd(struct ibv_pd *pd) { return destroyed(pd); }

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned int access)
{
	static uint32_t key = 0x100;
	struct test_mr *region;

	if (length == 13 || ((uintptr_t) addr ^ iova) & 0xfff) { /* the kernel refuses another offset in the page */
		errno = length == 13 ? ENOMEM : EINVAL;
		return NULL;
	}
	region = created(sizeof *region);
	region->mr.context = pd->context;
	region->mr.addr = addr;
	region->mr.length = length;
	region->mr.lkey = key++;
	region->mr.rkey = key++;
	region->iova = iova;
	region->next = regions;
	regions = region;
	last_access = access;
	return &region->mr;
}

/* Changes a region and its local key. Returns the error that the test has set, like a driver. */
static int reregister_error;
static int reregister_errno;
static int last_changes;

void test_driver_reregister_fails(int result, int error)
{
	reregister_error = result;
	reregister_errno = error;
}
int test_driver_last_changes(void) { return last_changes; }

int ibv_rereg_mr(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *addr, size_t length, int access)
{
	struct test_mr *region = (struct test_mr *) mr;

	last_changes = flags;
	if ((flags & IBV_REREG_MR_CHANGE_TRANSLATION && !length) || (access && !(flags & IBV_REREG_MR_CHANGE_ACCESS))
		|| (!(flags & IBV_REREG_MR_CHANGE_PD) && pd)) {
		errno = EINVAL;
		return IBV_REREG_MR_ERR_INPUT;
	}
	if (reregister_error && reregister_error != IBV_REREG_MR_ERR_DO_FORK_OLD) {
		errno = reregister_errno;
		return reregister_error;
	}
	if (flags & IBV_REREG_MR_CHANGE_PD)
		mr->pd = pd;
	if (flags & IBV_REREG_MR_CHANGE_ACCESS)
		last_access = access;
	if (flags & IBV_REREG_MR_CHANGE_TRANSLATION) {
		mr->addr = addr;
		mr->length = length;
		region->iova = (uintptr_t) addr;
	}
	mr->lkey += 0x10000;
	return reregister_error;
}
int ibv_dereg_mr(struct ibv_mr *mr)
{
	struct test_mr **link = &regions;

	while (&(*link)->mr != mr)
		link = &(*link)->next;
	*link = (*link)->next;
	return destroyed(mr);
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	struct ibv_comp_channel *channel = created(sizeof *channel);

	channel->context = context;
	channel->fd = eventfd(0, EFD_CLOEXEC);
	return channel;
}
int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	if (channel->refcnt)
		return EBUSY;
	close(channel->fd);
	return destroyed(channel);
}

static struct ibv_cq *with_channel; /* the tests use one */

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context, struct ibv_comp_channel *channel, int vector)
{
	struct test_cq *cq = created(sizeof *cq);

	(void) vector;
	cq->cq.context = context;
	cq->cq.channel = channel;
	cq->cq.cq_context = cq_context;
	cq->cq.cqe = cqe - missing_entries;
	if (channel) {
		channel->refcnt++;
		with_channel = &cq->cq;
	}
	return &cq->cq;
}
static struct ibv_cq_ex *create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
	struct ibv_cq_ex *ex;

	if (!(attr->wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP) || attr->comp_mask || attr->flags) {
		errno = EINVAL;
		return NULL;
	}
	ex = (struct ibv_cq_ex *) ibv_create_cq(context, attr->cqe, attr->cq_context, attr->channel, attr->comp_vector);
	ex->start_poll = start_poll;
	ex->next_poll = next_poll;
	ex->end_poll = end_poll;
	ex->read_opcode = read_opcode;
	ex->read_byte_len = read_byte_len;
	ex->read_imm_data = read_imm_data;
	ex->read_qp_num = read_qp_num;
	ex->read_src_qp = read_src_qp;
	ex->read_wc_flags = read_wc_flags;
	ex->read_completion_ts = lacks_function ? NULL : read_completion_ts;
	return ex;
}
int ibv_resize_cq(struct ibv_cq *cq, int cqe)
{
	cq->cqe = cqe;
	return 0;
}
int ibv_destroy_cq(struct ibv_cq *cq)
{
	if (cq->channel)
		cq->channel->refcnt--;
	return destroyed(cq);
}
int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_context)
{
	eventfd_t value;

	if (eventfd_read(channel->fd, &value))
		return -1;
	*cq = with_channel;
	*cq_context = with_channel->cq_context;
	return 0;
}
void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int count) { cq->comp_events_completed += count; }

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
	(void) pd;
	(void) attr;
	errno = EOPNOTSUPP;
	return NULL;
}
int ibv_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask) { (void) srq; (void) attr; (void) mask; return EINVAL; }
int ibv_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr) { (void) srq; (void) attr; return EINVAL; }
int ibv_destroy_srq(struct ibv_srq *srq) { (void) srq; return EINVAL; }

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct test_qp *qp;

	if (attr->cap.max_inline_data > 64) {
		errno = EINVAL;
		return NULL;
	}
	qp = created(sizeof *qp);
	qp->qp.context = pd->context;
	qp->qp.pd = pd;
	qp->qp.send_cq = attr->send_cq;
	qp->qp.recv_cq = attr->recv_cq;
	qp->qp.qp_type = attr->qp_type;
	qp->qp.qp_num = 0x123;
	return &qp->qp;
}
int ibv_destroy_qp(struct ibv_qp *qp)
{
	__atomic_add_fetch(&in_destroy, 1, __ATOMIC_SEQ_CST);
	while (holds_destroy)
		usleep(1000);
	__atomic_sub_fetch(&in_destroy, 1, __ATOMIC_SEQ_CST);
	return destroyed(qp);
}

int ibv_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask)
{
	struct test_qp *qp = (struct test_qp *) ibqp;

	if ((mask & IBV_QP_STATE) && attr->qp_state == IBV_QPS_RTR && !(mask & IBV_QP_AV))
		return EINVAL;
	if (mask & IBV_QP_STATE)
		qp->attr.qp_state = attr->qp_state;
	if (mask & IBV_QP_AV)
		qp->attr.ah_attr = attr->ah_attr;
	if (mask & IBV_QP_RQ_PSN)
		qp->attr.rq_psn = attr->rq_psn;
	if (mask & IBV_QP_DEST_QPN)
		qp->attr.dest_qp_num = attr->dest_qp_num;
	if (mask & IBV_QP_ACCESS_FLAGS)
		qp->attr.qp_access_flags = attr->qp_access_flags;
	if (mask & IBV_QP_PATH_MTU)
		qp->attr.path_mtu = attr->path_mtu;
	if (mask & IBV_QP_MIN_RNR_TIMER)
		qp->attr.min_rnr_timer = attr->min_rnr_timer;
	return 0;
}
int ibv_query_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask, struct ibv_qp_init_attr *init)
{
	(void) mask;
	(void) init;
	*attr = ((struct test_qp *) ibqp)->attr;
	return 0;
}

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct ibv_ah *ah = created(sizeof *ah);

	(void) attr;
	ah->context = pd->context;
	return ah;
}
int ibv_destroy_ah(struct ibv_ah *ah) { return destroyed(ah); }
int ibv_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid) { (void) qp; (void) gid; (void) lid; return EINVAL; }
int ibv_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid) { (void) qp; (void) gid; (void) lid; return EINVAL; }
