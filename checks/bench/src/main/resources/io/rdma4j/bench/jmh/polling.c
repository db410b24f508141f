/*
 * The libibverbs.so.1 of the tests of the module hardware, for a benchmark: its queues never become empty or full. The poll and post
 * functions write as much memory as those of a driver that bypasses the kernel, except for the device's doorbell.
 */
#include <infiniband/verbs.h>

#define ibv_open_device test_open_device
#include "driver.c"
#undef ibv_open_device

#define SLOTS 64

/* A queue of one entry stays empty. Each poll of any other queue finds one completion. */
static int poll_always(struct ibv_cq *cq, int count, struct ibv_wc *wc)
{
	(void) count;
	if (cq->cqe == 1)
		return 0;
	memset(wc, 0, sizeof *wc);
	wc->wr_id = 1;
	wc->byte_len = 8;
	wc->qp_num = 0x123;
	return 1;
}

static struct ibv_cq_ex *(*create_extended)(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr);

static int start_always(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr)
{
	(void) attr;
	cq->wr_id = 1;
	return 0;
}

static int next_never(struct ibv_cq_ex *cq)
{
	(void) cq;
	return ENOENT;
}

static struct ibv_cq_ex *create_cq_ex_always(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
	struct ibv_cq_ex *cq = create_extended(context, attr);

	cq->start_poll = start_always;
	cq->next_poll = next_never;
	return cq;
}

/* Copies a request into a ring with 64 bytes per entry. */
static void copy(uint64_t id, const struct ibv_sge *sge, uint64_t remote, uint32_t key)
{
	static uint64_t ring[SLOTS][8];
	static unsigned next;
	uint64_t *slot = ring[next++ % SLOTS];

	slot[0] = id;
	slot[1] = sge->addr;
	slot[2] = (uint64_t) sge->length << 32 | sge->lkey;
	slot[3] = remote;
	slot[4] = key;
}

static int post_send_always(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	(void) qp;
	(void) bad;
	for (; wr; wr = wr->next)
		copy(wr->wr_id, wr->sg_list, wr->wr.rdma.remote_addr, wr->wr.rdma.rkey);
	return 0;
}

static int post_receive_always(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	(void) qp;
	(void) bad;
	for (; wr; wr = wr->next)
		copy(wr->wr_id, wr->sg_list, 0, 0);
	return 0;
}

struct ibv_context *ibv_open_device(struct ibv_device *d)
{
	struct ibv_context *opened = test_open_device(d);

	struct verbs_context *extended = verbs_get_ctx(opened);

	create_extended = extended->create_cq_ex;
	extended->create_cq_ex = create_cq_ex_always;
	opened->ops.poll_cq = poll_always;
	opened->ops.post_send = post_send_always;
	opened->ops.post_recv = post_receive_always;
	return opened;
}

/* A function that does nothing, with the parameters of the functions above. */
int bench_nothing(uint64_t first, uint64_t second, uint64_t third)
{
	(void) first;
	(void) second;
	(void) third;
	return 0;
}

/* The same calls by a C program. */
void bench_poll(int entries, int count)
{
	struct ibv_context *context = ibv_open_device(&device);
	struct ibv_cq *cq = ibv_create_cq(context, entries, NULL, NULL, 0);
	struct ibv_wc wc;

	while (count--)
		ibv_poll_cq(cq, 1, &wc);
	ibv_destroy_cq(cq);
	ibv_close_device(context);
}

void bench_post(int is_send, int count)
{
	struct ibv_context *context = ibv_open_device(&device);
	struct ibv_qp qp = {.context = context};
	struct ibv_sge sge = {.length = 8};
	struct ibv_send_wr send = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE}, *bad_send;
	struct ibv_recv_wr receive = {.sg_list = &sge, .num_sge = 1}, *bad_receive;

	while (count--) {
		if (is_send)
			ibv_post_send(&qp, &send, &bad_send);
		else
			ibv_post_recv(&qp, &receive, &bad_receive);
	}
	ibv_close_device(context);
}
