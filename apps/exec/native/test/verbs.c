/*
 * Calls functions that few programs call: the extended work requests and completions, memory
 * windows, buffers, GID tables, asynchronous events; and calls that fail. Connects two queue pairs
 * of one process. Exits with 0, or after printing the first failure.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "connection.h"

#define BYTES 4096
#define CHECK(condition) check((condition), #condition, __LINE__)

static struct ibv_context *context;
static struct ibv_pd *domain;
static struct ibv_cq_ex *sends;
static struct ibv_cq *receives;
static struct ibv_qp_ex *sender;
static struct ibv_qp *receiver;
static struct ibv_mr *region;
static char *source;
static char *target;
static union ibv_gid gid;
static int gid_index;

static void check(int is_right, const char *condition, int line)
{
	if (is_right)
		return;
	fprintf(stderr, "verbs.c:%d: %s (errno %d, %s)\n", line, condition, errno, strerror(errno));
	exit(1);
}

static struct verbs_context *table(void)
{
	CHECK(context->abi_compat == (void *)UINTPTR_MAX);
	return (struct verbs_context *)((char *)context - offsetof(struct verbs_context, context));
}

static void open_device(const char *name)
{
	int count;
	struct ibv_device **list = ibv_get_device_list(&count);
	struct ibv_device **again = ibv_get_device_list(NULL);
	int i = 0;

	CHECK(list && count > 0 && !list[count]);
	while (name && list[i] && strcmp(ibv_get_device_name(list[i]), name))
		i++;
	CHECK(list[i] != NULL);
	CHECK(again && again[i] == list[i]);
	CHECK(ibv_get_device_guid(list[i]) != 0 && ibv_get_device_index(list[i]) > 0);
	context = ibv_open_device(list[i]);
	CHECK(context && table()->sz == sizeof(struct verbs_context));
	ibv_free_device_list(list);
	ibv_free_device_list(again);
}

static void query(void)
{
	struct ibv_gid_entry entries[64];
	struct ibv_port_attr port, shorter;
	uint64_t speed = 0;
	uint16_t key;
	ssize_t count = _ibv_query_gid_table(context, entries, 64, 0, sizeof(*entries));
	int type;

	CHECK(count > 0 && entries[0].port_num == 1);
	gid = entries[count - 1].gid;
	gid_index = (int)entries[count - 1].gid_index;
	CHECK(entries[count - 1].gid_type == IBV_GID_TYPE_ROCE_V2);
	CHECK(!ibv_query_gid_type(context, 1, gid_index, &type) && type == 1);
	CHECK(_ibv_query_gid_table(context, entries, count, 0, sizeof(*entries)) == count);
	CHECK(_ibv_query_gid_table(context, entries, count - 1, 0, sizeof(*entries)) == -EINVAL);
	CHECK(_ibv_query_gid_table(context, entries, 0, 0, sizeof(*entries)) == -EINVAL);
	CHECK(_ibv_query_gid_ex(context, 1, 100000, entries, 0, sizeof(*entries)) != 0);
	CHECK(table()->query_port(context, 1, &port, sizeof(port)) == 0 && port.state == IBV_PORT_ACTIVE);
	memset(&shorter, 0xee, sizeof(shorter));
	CHECK(ibv_query_port(context, 1, &shorter) == 0 && shorter.gid_tbl_len == port.gid_tbl_len);
	CHECK(shorter.port_cap_flags2 == 0xeeee);
	CHECK(ibv_query_port(context, 9, &shorter) != 0);
	CHECK(ibv_query_port_speed(context, 1, &speed) == 0 && speed > 0);
	CHECK(ibv_query_pkey(context, 1, 0, &key) == 0 && ibv_get_pkey_index(context, 1, key) == 0);
	CHECK(ibv_get_pkey_index(context, 1, 0x1234) == -1);
}

static void create_memory(void)
{
	struct ibv_buf *buffer;
	struct ibv_mr *other;

	domain = ibv_alloc_pd(context);
	CHECK(domain != NULL);
	source = ibv_alloc_buf(domain, 2 * BYTES, &buffer);
	CHECK(source && (uintptr_t)source % sysconf(_SC_PAGESIZE) == 0);
	target = source + BYTES;
	region = ibv_reg_buf_mr(domain, buffer, source, 2 * BYTES,
				IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC |
					IBV_ACCESS_MW_BIND);
	CHECK(region && region->addr == source && region->length == 2 * BYTES);
	CHECK(!ibv_reg_buf_mr(domain, buffer, source, 2 * BYTES + 1, 0) && errno == EINVAL);
	other = ibv_reg_mr(domain, source, BYTES, 0);
	CHECK(other != NULL);
	CHECK(ibv_rereg_mr(other, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, target, BYTES, 0) == 0 && other->addr == target);
	CHECK(ibv_rereg_mr(other, 1 << 10, NULL, NULL, 0, 0) == IBV_REREG_MR_ERR_INPUT && errno == EINVAL);
	CHECK(ibv_dereg_mr(other) == 0);
}

/*
 * The first queue of a program may be a receive queue: Ceph posts to it before it creates a
 * completion queue.
 */
static void post_before_completion_queues(void)
{
	struct ibv_srq_init_attr sizes = { .attr = { .max_wr = 8, .max_sge = 1 } };
	struct ibv_srq *srq = ibv_create_srq(domain, &sizes);
	struct ibv_sge element = { .addr = (uintptr_t)target, .length = BYTES, .lkey = region->lkey };
	struct ibv_recv_wr request = { .sg_list = &element, .num_sge = 1 }, *bad;

	CHECK(srq && !context->ops.post_srq_recv(srq, &request, &bad));
	CHECK(!ibv_destroy_srq(srq));
}

static struct ibv_qp_init_attr_ex attributes_of(enum ibv_qp_type type, uint64_t operations)
{
	return (struct ibv_qp_init_attr_ex){
		.send_cq = (struct ibv_cq *)sends,
		.recv_cq = receives,
		.cap = { .max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 2, .max_recv_sge = 2, .max_inline_data = 64 },
		.qp_type = type,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = domain,
		.send_ops_flags = operations,
	};
}

static void create_queues(void)
{
	const uint64_t all = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_SEND |
			     IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
			     IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_BIND_MW |
			     IBV_QP_EX_WITH_SEND_WITH_INV | IBV_QP_EX_WITH_FLUSH | IBV_QP_EX_WITH_ATOMIC_WRITE;
	struct ibv_cq_init_attr_ex cq = {
		.cqe = 32,
		.wc_flags = IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK,
	};
	struct ibv_qp_init_attr_ex attributes;
	struct ibv_ece extensions = { 0 };

	sends = table()->create_cq_ex(context, &cq);
	CHECK(sends != NULL);
	cq.wc_flags = 1 << 8;
	CHECK(!table()->create_cq_ex(context, &cq) && errno == EOPNOTSUPP);
	receives = ibv_create_cq(context, 32, NULL, NULL, 0);
	CHECK(receives && receives->cqe >= 32);
	CHECK(ibv_resize_cq(receives, 64) == 0 && receives->cqe >= 64);
	attributes = attributes_of(IBV_QPT_RC, all);
	sender = (struct ibv_qp_ex *)table()->create_qp_ex(context, &attributes);
	CHECK(sender && ibv_qp_to_qp_ex(&sender->qp_base) == sender && attributes.cap.max_inline_data >= 64);
	attributes = attributes_of(IBV_QPT_RC, 0);
	receiver = table()->create_qp_ex(context, &attributes);
	CHECK(receiver && !ibv_qp_to_qp_ex(receiver));
	/* As on the kernel's software device: this errno means that there are no extensions. */
	CHECK(ibv_query_ece(receiver, &extensions) == EOPNOTSUPP && ibv_set_ece(receiver, &extensions) == EOPNOTSUPP);
	attributes = attributes_of(IBV_QPT_UD, IBV_QP_EX_WITH_RDMA_READ);
	CHECK(!table()->create_qp_ex(context, &attributes) && errno == EOPNOTSUPP);
	attributes = attributes_of(IBV_QPT_RC, IBV_QP_EX_WITH_TSO);
	CHECK(!table()->create_qp_ex(context, &attributes) && errno == EOPNOTSUPP);
}

static void connect_to(struct ibv_qp *qp, uint32_t peer)
{
	struct ibv_qp_init_attr initial;
	struct ibv_qp_attr attributes = connection_attributes(peer, gid, gid_index);

	CHECK(!ibv_modify_qp(qp, &attributes, IBV_QP_STATE | PKEY_INDEX | PORT | ACCESS) && qp->state == IBV_QPS_INIT);
	attributes.qp_state = IBV_QPS_RTR;
	CHECK(!ibv_modify_qp(qp, &attributes, IBV_QP_STATE | PATH | MTU | PEER | RECEIVE_PSN | TARGET_READS | RNR_TIMER));
	attributes.qp_state = IBV_QPS_RTS;
	CHECK(!ibv_modify_qp(qp, &attributes, IBV_QP_STATE | TIMEOUT | RETRIES | RNR_RETRIES | SEND_PSN | READS));
	CHECK(!ibv_query_qp(qp, &attributes, IBV_QP_STATE, &initial) && attributes.qp_state == IBV_QPS_RTS);
	CHECK(initial.qp_type == IBV_QPT_RC && initial.send_cq == (struct ibv_cq *)sends && attributes.dest_qp_num == peer);
}

/* Waits for one send completion, and returns its opcode. */
static int completed(uint64_t id)
{
	uint64_t nanos;
	int kind, error;

	do {
		error = sends->start_poll(sends, &(struct ibv_poll_cq_attr){ 0 });
	} while (error == ENOENT);
	CHECK(!error);
	if (sends->status != IBV_WC_SUCCESS)
		fprintf(stderr, "completion: %s\n", ibv_wc_status_str(sends->status));
	CHECK(sends->status == IBV_WC_SUCCESS && sends->wr_id == id);
	kind = (int)sends->read_opcode(sends);
	CHECK(sends->read_qp_num(sends) == sender->qp_base.qp_num);
	nanos = sends->read_completion_wallclock_ns(sends);
	CHECK(nanos / 1000000000 - (uint64_t)time(NULL) + 5 < 10);
	sends->end_poll(sends);
	return kind;
}

static struct ibv_wc received(void)
{
	struct ibv_wc completion = { 0 };
	int count;

	do {
		count = context->ops.poll_cq(receives, 1, &completion);
	} while (count == 0);
	CHECK(count == 1 && completion.status == IBV_WC_SUCCESS && completion.qp_num == receiver->qp_num);
	return completion;
}

static void post_receive(void)
{
	struct ibv_sge element = { .addr = (uintptr_t)target, .length = BYTES, .lkey = region->lkey };
	struct ibv_recv_wr request = { .wr_id = 77, .sg_list = &element, .num_sge = 1 }, *bad;

	CHECK(!context->ops.post_recv(receiver, &request, &bad));
}

static void begin(uint64_t id)
{
	sender->wr_id = id;
	sender->wr_flags = IBV_SEND_SIGNALED;
	sender->wr_start(sender);
}

static int end(uint64_t id)
{
	CHECK(!sender->wr_complete(sender));
	return completed(id);
}

static void send_messages(void)
{
	struct ibv_data_buf parts[] = { { "one ", 4 }, { "two", 4 } };
	struct ibv_wc completion;

	post_receive();
	strcpy(source, "hello");
	begin(1);
	sender->wr_send(sender);
	sender->wr_set_sge(sender, region->lkey, (uintptr_t)source, 6);
	CHECK(end(1) == IBV_WC_SEND);
	CHECK(received().byte_len == 6 && !strcmp(target, "hello"));

	post_receive();
	begin(2);
	sender->wr_send_imm(sender, 0x11223344);
	sender->wr_set_inline_data_list(sender, 2, parts);
	CHECK(end(2) == IBV_WC_SEND);
	completion = received();
	CHECK(!strcmp(target, "one two") && completion.wc_flags & IBV_WC_WITH_IMM && completion.imm_data == 0x11223344);

	begin(3);
	sender->wr_send(sender);
	sender->wr_abort(sender);
	begin(4);
	sender->wr_send(sender);
	sender->wr_set_inline_data(sender, source, 1 << 20);
	CHECK(sender->wr_complete(sender) == ENOMEM);
}

/* A batch that does not fit, or that has an invalid request, leaves nothing in the queue. */
static void refuse_whole_batches(void)
{
	struct ibv_qp_attr attributes;
	struct ibv_qp_init_attr initial;
	uint32_t room;

	CHECK(!ibv_query_qp(&sender->qp_base, &attributes, IBV_QP_STATE, &initial));
	room = initial.cap.max_send_wr;
	/* These wait for receives. */
	begin(40);
	sender->wr_flags = 0;
	for (uint32_t i = 0; i < room / 2; i++) {
		sender->wr_send(sender);
		sender->wr_set_inline_data(sender, source, 32);
	}
	CHECK(!sender->wr_complete(sender));
	begin(41);
	for (uint32_t i = 0; i < room; i++) {
		sender->wr_rdma_write(sender, region->rkey, (uintptr_t)target);
		sender->wr_set_inline_data(sender, source, 32);
	}
	CHECK(sender->wr_complete(sender) == ENOMEM);
	begin(42);
	sender->wr_rdma_write(sender, region->rkey, (uintptr_t)target);
	sender->wr_set_sge(sender, region->lkey, (uintptr_t)source, 8);
	sender->wr_flush(sender, region->rkey, (uintptr_t)target, 8, 0x77, 0);
	CHECK(sender->wr_complete(sender) == EINVAL);
	for (uint32_t i = 0; i < room / 2; i++)
		post_receive();
	for (uint32_t i = 0; i < room / 2; i++)
		CHECK(received().byte_len == 32);
	begin(43);
	sender->wr_rdma_write(sender, region->rkey, (uintptr_t)target);
	sender->wr_set_sge(sender, region->lkey, (uintptr_t)source, 8);
	CHECK(end(43) == 1);
}

static void access_memory(void)
{
	uint64_t *word = (uint64_t *)(target + 64);
	uint64_t value = 99;
	struct ibv_sge list[] = { { (uintptr_t)source, 3, region->lkey }, { (uintptr_t)source + 100, 3, region->lkey } };

	strcpy(source, "abc");
	strcpy(source + 100, "de");
	begin(10);
	sender->wr_rdma_write(sender, region->rkey, (uintptr_t)target);
	sender->wr_set_sge_list(sender, 2, list);
	sender->wr_id = 11;
	sender->wr_rdma_read(sender, region->rkey, (uintptr_t)target);
	sender->wr_set_sge(sender, region->lkey, (uintptr_t)source + 200, 6);
	CHECK(!sender->wr_complete(sender) && completed(10) == 1 && completed(11) == 2);
	CHECK(!strcmp(target, "abcde") && !strcmp(source + 200, "abcde"));

	*word = 5;
	begin(12);
	sender->wr_atomic_fetch_add(sender, region->rkey, (uintptr_t)word, 2);
	sender->wr_set_sge(sender, region->lkey, (uintptr_t)source, 8);
	CHECK(end(12) == 4 && *word == 7 && *(uint64_t *)source == 5);
	begin(13);
	sender->wr_atomic_cmp_swp(sender, region->rkey, (uintptr_t)word, 7, 50);
	sender->wr_set_sge(sender, region->lkey, (uintptr_t)source, 8);
	CHECK(end(13) == 3 && *word == 50 && *(uint64_t *)source == 7);
	begin(14);
	sender->wr_atomic_write(sender, region->rkey, (uintptr_t)word, &value);
	CHECK(end(14) == 9 && *word == 99);
	post_receive();
	begin(15);
	sender->wr_rdma_write_imm(sender, region->rkey, (uintptr_t)target, 0x55667788);
	sender->wr_set_sge(sender, region->lkey, (uintptr_t)source, 8);
	CHECK(end(15) == 1 && received().imm_data == 0x55667788);
}

static void bind_windows(void)
{
	struct ibv_mw *first = context->ops.alloc_mw(domain, IBV_MW_TYPE_1);
	struct ibv_mw *second = context->ops.alloc_mw(domain, IBV_MW_TYPE_2);
	struct ibv_mw_bind_info info = {
		.mr = region, .addr = (uintptr_t)target, .length = 64, .mw_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};
	struct ibv_mw_bind binding = { .wr_id = 20, .send_flags = IBV_SEND_SIGNALED, .bind_info = info };
	uint32_t key;

	if (!second) {
		CHECK(errno == EOPNOTSUPP);
		return;
	}
	if (first) {
		CHECK(!context->ops.bind_mw(&sender->qp_base, first, &binding) && completed(20) == 5);
		CHECK(!context->ops.dealloc_mw(first));
	}
	key = (second->rkey & ~0xffu) | ((second->rkey + 1) & 0xff);
	begin(21);
	sender->wr_bind_mw(sender, second, key, &info);
	CHECK(end(21) == 5);
	begin(22);
	sender->wr_local_inv(sender, key);
	CHECK(end(22) == 6);
	CHECK(!context->ops.dealloc_mw(second));
}

static void *acknowledge_later(void *event)
{
	usleep(200000);
	ibv_ack_async_event(event);
	return NULL;
}

/*
 * A queue pair that fails takes no more receives from its shared queue, and reports this with an
 * event. Destroying the queue pair waits for the acknowledgement.
 */
static void take_event(void)
{
	struct ibv_srq_init_attr sizes = { .attr = { .max_wr = 8, .max_sge = 1 } };
	struct ibv_srq *srq = ibv_create_srq(domain, &sizes);
	struct ibv_qp_init_attr_ex attributes = attributes_of(IBV_QPT_RC, 0);
	struct ibv_srq_attr limits = { .srq_limit = 2 };
	struct ibv_async_event event;
	struct timespec begin, end;
	struct ibv_qp *qp;
	pthread_t thread;
	uint32_t number;

	CHECK(srq && table()->get_srq_num(srq, &number) == EINVAL);
	CHECK(!ibv_modify_srq(srq, &limits, IBV_SRQ_LIMIT));
	CHECK(!ibv_query_srq(srq, &limits) && limits.max_wr >= 8);
	attributes.srq = srq;
	qp = table()->create_qp_ex(context, &attributes);
	CHECK(qp != NULL);
	connect_to(qp, sender->qp_base.qp_num);
	CHECK(!ibv_modify_qp(qp, &(struct ibv_qp_attr){ .qp_state = IBV_QPS_ERR }, IBV_QP_STATE) && qp->state == IBV_QPS_ERR);
	CHECK(!ibv_get_async_event(context, &event));
	CHECK(event.event_type == IBV_EVENT_QP_LAST_WQE_REACHED && event.element.qp == qp);
	CHECK(ibv_destroy_srq(srq) == EBUSY);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	CHECK(!pthread_create(&thread, NULL, acknowledge_later, &event));
	CHECK(!ibv_destroy_qp(qp));
	clock_gettime(CLOCK_MONOTONIC, &end);
	CHECK((end.tv_sec - begin.tv_sec) * 1000 + (end.tv_nsec - begin.tv_nsec) / 1000000 >= 150);
	pthread_join(thread, NULL);
	CHECK(!ibv_destroy_srq(srq));
}

/* UCX and libfabric give each thread its own domain. */
static void divide_among_threads(void)
{
	struct ibv_td *thread = table()->alloc_td(context, &(struct ibv_td_init_attr){ 0 });
	struct ibv_parent_domain_init_attr attributes = { .pd = domain, .td = thread };
	struct ibv_qp_init_attr_ex queue_pair = attributes_of(IBV_QPT_RC, 0);
	struct ibv_pd *own;
	struct ibv_qp *qp;

	CHECK(thread != NULL);
	own = table()->alloc_parent_domain(context, &attributes);
	CHECK(own && table()->dealloc_td(thread) == EBUSY);
	queue_pair.pd = own;
	qp = table()->create_qp_ex(context, &queue_pair);
	CHECK(qp && qp->pd == own && !ibv_destroy_qp(qp));
	CHECK(ibv_dealloc_pd(domain) == EBUSY && !ibv_dealloc_pd(own) && !table()->dealloc_td(thread));
	attributes.pd = NULL;
	CHECK(!table()->alloc_parent_domain(context, &attributes) && errno == EINVAL);
}

static void close_all(void)
{
	CHECK(ibv_dealloc_pd(domain) == EBUSY);
	CHECK(!ibv_destroy_qp(&sender->qp_base) && !ibv_destroy_qp(receiver));
	CHECK(!ibv_destroy_cq((struct ibv_cq *)sends) && !ibv_destroy_cq(receives));
	CHECK(!ibv_dereg_mr(region) && !ibv_dealloc_pd(domain) && !ibv_close_device(context));
}

int main(int count, char **arguments)
{
	open_device(count > 1 ? arguments[1] : NULL);
	query();
	create_memory();
	post_before_completion_queues();
	create_queues();
	connect_to(&sender->qp_base, receiver->qp_num);
	connect_to(receiver, sender->qp_base.qp_num);
	send_messages();
	access_memory();
	refuse_whole_batches();
	bind_windows();
	take_event();
	divide_among_threads();
	close_all();
	return 0;
}
