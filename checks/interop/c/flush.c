/*
 * One side of a connection for the cases flush/... of checks/interop/run: WRITE, FLUSH, ATOMIC WRITE and READ by the extended API of
 * libibverbs (ibv_wr_*). checks/interop/java/Flush.java is the counterpart, with the same arguments and the same output.
 *
 *   flush serve|connect ADDRESS PORT [denied]
 *
 * The server sends address, key and length of its memory as private data (8, 4 and 8 bytes in network byte order). The client
 * prints the status of each work request; "denied" adds a FLUSH with a placement type that the server's memory does not grant.
 *
 * Needs rdma-core 45 or later, also when it runs, and Linux 6.2 or later:
 *   cc -Wall -Wextra -o flush flush.c -lrdmacm -libverbs
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#define BYTES 4096
#define FIRST 8
#define LENGTH 3000
#define VALUE UINT64_C(0x0102030405060708)
#define OPERATIONS                                                                                            \
	(IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_FLUSH | IBV_QP_EX_WITH_ATOMIC_WRITE)

struct remote {
	uint64_t address;
	uint32_t key;
	uint64_t length;
} __attribute__((packed));

static void require(int condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

static struct rdma_cm_id *endpoint(const char *address, const char *port, int flags)
{
	struct rdma_addrinfo hints = {.ai_flags = flags, .ai_port_space = RDMA_PS_TCP}, *found;
	struct rdma_cm_id *id;

	require(!rdma_getaddrinfo(address, port, &hints, &found), "rdma_getaddrinfo");
	require(!rdma_create_ep(&id, found, NULL, NULL), "rdma_create_ep");
	rdma_freeaddrinfo(found);
	return id;
}

static struct ibv_cq *create_queue_pair(struct rdma_cm_id *id)
{
	struct ibv_pd *domain = ibv_alloc_pd(id->verbs);
	struct ibv_cq *completions = ibv_create_cq(id->verbs, 16, NULL, NULL, 0);
	struct ibv_qp_init_attr_ex attributes = {
		.qp_type = IBV_QPT_RC,
		.send_cq = completions,
		.recv_cq = completions,
		.cap = {.max_send_wr = 8, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = domain,
		.send_ops_flags = OPERATIONS,
		.sq_sig_all = 1,
	};

	require(domain && completions, "ibv_alloc_pd, ibv_create_cq");
	require(!rdma_create_qp_ex(id, &attributes), "rdma_create_qp_ex");
	return completions;
}

static struct rdma_conn_param parameters(void)
{
	return (struct rdma_conn_param){
		.responder_resources = 4, .initiator_depth = 4, .retry_count = 7, .rnr_retry_count = 7};
}

/* Waits for an event, and ends the program on another one. */
static void await_event(struct rdma_cm_id *id, enum rdma_cm_event_type expected)
{
	struct rdma_cm_event *event;
	enum rdma_cm_event_type type;

	require(!rdma_get_cm_event(id->channel, &event), "rdma_get_cm_event");
	type = event->event;
	rdma_ack_cm_event(event);
	if (type != expected) {
		fprintf(stderr, "%s instead of %s\n", rdma_event_str(type), rdma_event_str(expected));
		exit(1);
	}
}

static int serve(const char *address, const char *port)
{
	struct rdma_cm_id *listener = endpoint(address, port, RAI_PASSIVE), *id;
	struct rdma_conn_param accepted = parameters();
	struct remote remote;
	struct ibv_mr *region;
	uint64_t *memory = aligned_alloc(BYTES, BYTES);
	int same = 1;

	require(!rdma_listen(listener, 1), "rdma_listen");
	puts("listening");
	require(!rdma_get_request(listener, &id), "rdma_get_request");
	create_queue_pair(id);
	memset(memory, 0, BYTES);
	region = ibv_reg_mr(id->qp->pd, memory, BYTES,
			    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
				    IBV_ACCESS_FLUSH_GLOBAL);
	require(region != NULL, "ibv_reg_mr");
	remote.address = htobe64((uintptr_t) memory);
	remote.key = htobe32(region->rkey);
	remote.length = htobe64(BYTES);
	accepted.private_data = &remote;
	accepted.private_data_len = sizeof remote;
	require(!rdma_accept(id, &accepted), "rdma_accept");
	puts("connected");
	await_event(id, RDMA_CM_EVENT_DISCONNECTED);
	printf("value 0x%016" PRIx64 "\n", memory[0]);
	for (int i = FIRST; i < FIRST + LENGTH; i++)
		same &= ((unsigned char *) memory)[i] == (unsigned char) (i * 31);
	puts(same ? "same" : "different");
	puts("end");
	return !same || memory[0] != VALUE;
}

/* Posts what was prepared since ibv_wr_start, and prints the status of its completion. */
static void complete(struct ibv_qp_ex *extended, struct ibv_cq *completions, const char *name, unsigned bytes)
{
	struct ibv_wc completion;
	int error = ibv_wr_complete(extended);

	errno = error;
	require(!error, name);
	while (ibv_poll_cq(completions, 1, &completion) == 0)
		;
	printf("%s %d", name, completion.status);
	if (completion.status == IBV_WC_SUCCESS)
		printf(" opcode %d bytes %u%s", completion.opcode, completion.byte_len,
		       completion.byte_len == bytes ? "" : " WRONG");
	putchar('\n');
}

static int connect_to(const char *address, const char *port, int denied)
{
	struct rdma_cm_id *id = endpoint(address, port, 0);
	struct rdma_conn_param requested = parameters();
	struct ibv_cq *completions = create_queue_pair(id);
	struct ibv_qp_ex *extended = ibv_qp_to_qp_ex(id->qp);
	struct remote remote;
	struct ibv_mr *region;
	unsigned char *memory = aligned_alloc(BYTES, BYTES);
	uint64_t first, value = VALUE;
	uint32_t key;
	int same;

	region = ibv_reg_mr(id->qp->pd, memory, BYTES, IBV_ACCESS_LOCAL_WRITE);
	require(region != NULL, "ibv_reg_mr");
	for (int i = 0; i < BYTES; i++)
		memory[i] = i * 31;
	require(!rdma_connect(id, &requested), "rdma_connect");
	require(id->event->param.conn.private_data_len >= sizeof remote, "private data");
	memcpy(&remote, id->event->param.conn.private_data, sizeof remote);
	first = be64toh(remote.address);
	key = be32toh(remote.key);
	puts("connected");

	ibv_wr_start(extended);
	ibv_wr_rdma_write(extended, key, first + FIRST);
	ibv_wr_set_sge(extended, region->lkey, (uintptr_t) memory + FIRST, LENGTH);
	complete(extended, completions, "write", LENGTH);

	ibv_wr_start(extended);
	ibv_wr_flush(extended, key, first + FIRST, LENGTH, IBV_FLUSH_GLOBAL, IBV_FLUSH_RANGE);
	complete(extended, completions, "flush-range", LENGTH);

	ibv_wr_start(extended);
	ibv_wr_atomic_write(extended, key, first, &value);
	complete(extended, completions, "atomic-write", sizeof value);

	ibv_wr_start(extended);
	ibv_wr_flush(extended, key, 0, 0, IBV_FLUSH_GLOBAL, IBV_FLUSH_MR);
	complete(extended, completions, "flush-region", 0);

	memset(memory, 0, BYTES);
	ibv_wr_start(extended);
	ibv_wr_rdma_read(extended, key, first);
	ibv_wr_set_sge(extended, region->lkey, (uintptr_t) memory, FIRST + LENGTH);
	complete(extended, completions, "read", FIRST + LENGTH);
	same = !memcmp(memory, &value, sizeof value);
	for (int i = FIRST; i < FIRST + LENGTH; i++)
		same &= memory[i] == (unsigned char) (i * 31);
	puts(same ? "same" : "different");

	if (denied) {
		ibv_wr_start(extended);
		ibv_wr_flush(extended, key, first, 8, IBV_FLUSH_PERSISTENT, IBV_FLUSH_RANGE);
		complete(extended, completions, "flush-persistent", 8);
	}
	rdma_disconnect(id);
	puts("end");
	return !same;
}

int main(int count, char **words)
{
	int denied = count == 5 && !strcmp(words[4], "denied");

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (count == 4 + denied && !strcmp(words[1], "serve"))
		return serve(words[2], words[3]);
	if (count == 4 + denied && !strcmp(words[1], "connect"))
		return connect_to(words[2], words[3], denied);
	fprintf(stderr, "usage: flush serve|connect ADDRESS PORT [denied]\n");
	return 2;
}
