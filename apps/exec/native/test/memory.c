/*
 * Takes memory away while it is registered: unmaps, frees or protects it, or truncates its file.
 * Each access to it must complete with an error, and the process must go on. Each case connects two
 * queue pairs of one process. Exits with 0, or after printing the first failure.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "connection.h"

#define BYTES (1 << 20)
#define SECONDS_PER_COMPLETION 10
#define ALL_RIGHTS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)
#define CHECK(condition) check((condition), #condition, __LINE__)

static struct ibv_context *context;
static struct ibv_pd *domain;
static struct ibv_cq *sends, *receives;
static struct ibv_qp *sender, *receiver;
static struct ibv_mr *good;	/* memory that stays valid */
static union ibv_gid gid;
static int gid_index;
static const char *current = "start";

static void check(int is_right, const char *condition, int line)
{
	if (is_right)
		return;
	fprintf(stderr, "memory.c:%d, %s: %s (errno %d, %s)\n", line, current, condition, errno, strerror(errno));
	exit(1);
}

static void connect_to(struct ibv_qp *qp, uint32_t peer)
{
	struct ibv_qp_attr attributes = connection_attributes(peer, gid, gid_index);

	CHECK(!ibv_modify_qp(qp, &attributes, IBV_QP_STATE | PKEY_INDEX | PORT | ACCESS));
	attributes.qp_state = IBV_QPS_RTR;
	CHECK(!ibv_modify_qp(qp, &attributes, IBV_QP_STATE | PATH | MTU | PEER | RECEIVE_PSN | TARGET_READS | RNR_TIMER));
	attributes.qp_state = IBV_QPS_RTS;
	CHECK(!ibv_modify_qp(qp, &attributes, IBV_QP_STATE | TIMEOUT | RETRIES | RNR_RETRIES | SEND_PSN | READS));
}

static struct ibv_qp *create_queue_pair(void)
{
	struct ibv_qp_init_attr attributes = {
		.send_cq = sends,
		.recv_cq = receives,
		.cap = { .max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 2, .max_recv_sge = 2, .max_inline_data = 64 },
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_qp *qp = ibv_create_qp(domain, &attributes);

	CHECK(qp != NULL);
	return qp;
}

static void connect_pair(void)
{
	sender = create_queue_pair();
	receiver = create_queue_pair();
	connect_to(sender, receiver->qp_num);
	connect_to(receiver, sender->qp_num);
}

static void destroy_pair(void)
{
	struct ibv_wc completion;

	CHECK(!ibv_destroy_qp(sender) && !ibv_destroy_qp(receiver));
	while (context->ops.poll_cq(sends, 1, &completion) > 0 || context->ops.poll_cq(receives, 1, &completion) > 0)
		continue;
}

static struct ibv_mr *register_memory(void *address)
{
	struct ibv_mr *region = ibv_reg_mr(domain, address, BYTES, ALL_RIGHTS);

	CHECK(region != NULL);
	return region;
}

static void open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_gid_entry entries[64];
	ssize_t count;
	int i = 0;

	CHECK(list && list[0]);
	while (name && list[i] && strcmp(ibv_get_device_name(list[i]), name))
		i++;
	CHECK(list[i] != NULL);
	context = ibv_open_device(list[i]);
	ibv_free_device_list(list);
	CHECK(context != NULL);
	count = _ibv_query_gid_table(context, entries, 64, 0, sizeof(*entries));
	CHECK(count > 0);
	gid = entries[count - 1].gid;
	gid_index = (int)entries[count - 1].gid_index;
	domain = ibv_alloc_pd(context);
	sends = ibv_create_cq(context, 64, NULL, NULL, 0);
	receives = ibv_create_cq(context, 64, NULL, NULL, 0);
	CHECK(domain && sends && receives);
	good = register_memory(aligned_alloc(4096, BYTES));
}

static void *map(void)
{
	void *address = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(address != MAP_FAILED);
	memset(address, 1, BYTES);
	return address;
}

/* Returns the status of the next completion. */
static int status_of(struct ibv_cq *queue)
{
	struct ibv_wc completion;

	for (int waits = 0; waits < SECONDS_PER_COMPLETION * 10000; waits++) {
		int count = context->ops.poll_cq(queue, 1, &completion);

		CHECK(count >= 0);
		if (count)
			return completion.status;
		if (waits > 100)
			usleep(100);
	}
	CHECK(!"a completion");
	return -1;
}

static void post_receive(struct ibv_mr *memory)
{
	struct ibv_sge element = { (uintptr_t)memory->addr, BYTES, memory->lkey };
	struct ibv_recv_wr request = { .sg_list = &element, .num_sge = 1 }, *bad;

	CHECK(!context->ops.post_recv(receiver, &request, &bad));
}

/* Posts a request from local to remote memory, unused for messages, and returns its status. */
static int execute(enum ibv_wr_opcode opcode, struct ibv_mr *local, struct ibv_mr *remote, uint32_t bytes)
{
	struct ibv_sge element = { (uintptr_t)local->addr, bytes, local->lkey };
	struct ibv_send_wr request = { .opcode = opcode, .send_flags = IBV_SEND_SIGNALED, .sg_list = &element, .num_sge = 1 }, *bad;

	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD || opcode == IBV_WR_ATOMIC_CMP_AND_SWP) {
		request.wr.atomic.remote_addr = (uintptr_t)remote->addr;
		request.wr.atomic.rkey = remote->rkey;
		request.wr.atomic.compare_add = 1;
	} else {
		request.wr.rdma.remote_addr = (uintptr_t)remote->addr;
		request.wr.rdma.rkey = remote->rkey;
	}
	CHECK(!context->ops.post_send(sender, &request, &bad));
	return status_of(sends);
}

/* Ways to take memory away. Each returns a region without its memory. */

static struct ibv_mr *unmapped(void)
{
	struct ibv_mr *region = register_memory(map());

	CHECK(!munmap(region->addr, BYTES));
	return region;
}

/*
 * For a size like this, free returns memory to the system, with a call that cannot be interposed.
 * Something else might then be mapped in its place; that is prevented here.
 */
static struct ibv_mr *freed(void)
{
	struct ibv_mr *region = register_memory(memset(malloc(BYTES), 1, BYTES));
	uintptr_t page = (uintptr_t)region->addr & ~(uintptr_t)4095;

	free(region->addr);
	CHECK(mmap((void *)page, BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == (void *)page);
	return region;
}

static struct ibv_mr *replaced(void)
{
	struct ibv_mr *region = register_memory(map());

	CHECK(mmap(region->addr, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == region->addr);
	return region;
}

/* Unmapping a part is enough. */
static struct ibv_mr *partly_unmapped(void)
{
	struct ibv_mr *region = register_memory(map());

	CHECK(!munmap((char *)region->addr + BYTES / 2, 4096));
	return region;
}

static struct ibv_mr *shrunk(void)
{
	struct ibv_mr *region = register_memory(map());

	CHECK(mremap(region->addr, BYTES, BYTES / 2, 0) == region->addr);
	return region;
}

static struct ibv_mr *moved(void)
{
	struct ibv_mr *region = register_memory(map());

	CHECK(mremap(region->addr, BYTES, 2 * BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, aligned_alloc(4096, 2 * BYTES)) != MAP_FAILED);
	return region;
}

static struct ibv_mr *not_accessible(void)
{
	struct ibv_mr *region = register_memory(map());

	CHECK(!mprotect(region->addr, BYTES, PROT_NONE));
	return region;
}

static struct ibv_mr *truncated(void)
{
	int file = memfd_create("memory", 0);
	struct ibv_mr *region;
	void *address;

	CHECK(file >= 0 && !ftruncate(file, BYTES));
	address = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	CHECK(address != MAP_FAILED);
	memset(address, 1, BYTES);
	region = register_memory(address);
	CHECK(!ftruncate(file, 0) && !close(file));
	return region;
}

static struct ibv_mr *read_only(void)
{
	struct ibv_mr *region = register_memory(map());

	CHECK(!mprotect(region->addr, BYTES, PROT_READ));
	return region;
}

static int is_local_error(int status)
{
	return status == IBV_WC_LOC_PROT_ERR;
}

static int is_remote_error(int status)
{
	return status == IBV_WC_REM_ACCESS_ERR || status == IBV_WC_REM_OP_ERR;
}

static void check_gone(const char *name, struct ibv_mr *(*take_away)(void))
{
	static const enum ibv_wr_opcode remote[] = { IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD,
						     IBV_WR_ATOMIC_CMP_AND_SWP };
	static const uint32_t sizes[] = { 8, 300, 100000 };
	struct ibv_mr *gone = take_away();

	current = name;
	for (unsigned int i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		connect_pair();
		CHECK(is_local_error(execute(IBV_WR_RDMA_WRITE, gone, good, sizes[i])));
		destroy_pair();
		connect_pair();
		CHECK(is_local_error(execute(IBV_WR_RDMA_READ, gone, good, sizes[i])));
		destroy_pair();
		connect_pair();
		post_receive(gone);
		CHECK(is_remote_error(execute(IBV_WR_SEND, good, good, sizes[i])));
		CHECK(is_local_error(status_of(receives)));
		destroy_pair();
	}
	for (unsigned int i = 0; i < sizeof(remote) / sizeof(*remote); i++) {
		connect_pair();
		CHECK(is_remote_error(execute(remote[i], good, gone, 8)));
		destroy_pair();
	}
	CHECK(!ibv_dereg_mr(gone));
}

static void check_read_only(void)
{
	struct ibv_mr *region = read_only();

	current = "read_only";
	connect_pair();
	CHECK(execute(IBV_WR_RDMA_WRITE, region, good, 5000) == IBV_WC_SUCCESS);
	CHECK(execute(IBV_WR_RDMA_READ, good, region, 5000) == IBV_WC_SUCCESS);
	CHECK(is_remote_error(execute(IBV_WR_RDMA_WRITE, good, region, 5000)));
	destroy_pair();
	connect_pair();
	CHECK(is_remote_error(execute(IBV_WR_ATOMIC_FETCH_AND_ADD, good, region, 8)));
	destroy_pair();
	CHECK(!ibv_dereg_mr(region));
}

/* Other memory is not affected, and the region can get new memory. */
static void check_others(void)
{
	struct ibv_mr *region = register_memory(map());
	char *neighbours = mmap(NULL, 3 * BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ibv_mr *middle = register_memory(neighbours + BYTES);
	struct ibv_mr *inner = ibv_reg_mr(domain, neighbours + BYTES + 4096, 4096, ALL_RIGHTS);

	current = "others";
	CHECK(inner && !munmap(neighbours, BYTES) && !munmap(neighbours + 2 * BYTES, BYTES));
	CHECK(!munmap(region->addr, BYTES));
	CHECK(!ibv_rereg_mr(region, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, map(), BYTES, 0));
	connect_pair();
	CHECK(execute(IBV_WR_RDMA_WRITE, good, middle, 5000) == IBV_WC_SUCCESS);
	CHECK(execute(IBV_WR_RDMA_WRITE, good, inner, 4096) == IBV_WC_SUCCESS);
	CHECK(execute(IBV_WR_RDMA_WRITE, region, good, 5000) == IBV_WC_SUCCESS);
	CHECK(!munmap(neighbours + BYTES, 4096));
	CHECK(execute(IBV_WR_RDMA_WRITE, good, inner, 4096) == IBV_WC_SUCCESS);
	CHECK(is_remote_error(execute(IBV_WR_RDMA_WRITE, good, middle, 5000)));
	destroy_pair();
	CHECK(!ibv_dereg_mr(middle) && !ibv_dereg_mr(inner) && !munmap(neighbours + BYTES, BYTES) && !munmap(region->addr, BYTES));
	CHECK(!ibv_dereg_mr(region));
}

static void bind_window(struct ibv_mw *window, struct ibv_mr *region)
{
	struct ibv_mw_bind binding = {
		.send_flags = IBV_SEND_SIGNALED,
		.bind_info = { .mr = region, .addr = (uintptr_t)region->addr, .length = BYTES, .mw_access_flags = IBV_ACCESS_REMOTE_WRITE },
	};

	CHECK(!context->ops.bind_mw(sender, window, &binding) && status_of(sends) == IBV_WC_SUCCESS);
}

/*
 * A peer with the key of a window does not reach what is mapped at its addresses later, and the
 * window can be bound to other memory.
 */
static void check_windows(void)
{
	struct ibv_mr *region = ibv_reg_mr(domain, map(), BYTES, ALL_RIGHTS | IBV_ACCESS_MW_BIND);
	struct ibv_mr *other = ibv_reg_mr(domain, map(), BYTES, ALL_RIGHTS | IBV_ACCESS_MW_BIND);
	struct ibv_mw *window = context->ops.alloc_mw(domain, IBV_MW_TYPE_1);
	struct ibv_mr as_seen_by_peer;
	char *address;

	current = "windows";
	CHECK(region && other && window);
	address = region->addr;
	connect_pair();
	bind_window(window, region);
	as_seen_by_peer = *region;
	as_seen_by_peer.rkey = window->rkey;
	CHECK(execute(IBV_WR_RDMA_WRITE, good, &as_seen_by_peer, 8) == IBV_WC_SUCCESS);
	CHECK(!munmap(address, BYTES));
	CHECK(mmap(address, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == address);
	CHECK(is_remote_error(execute(IBV_WR_RDMA_WRITE, good, &as_seen_by_peer, 8)));
	destroy_pair();
	CHECK(!*(uint64_t *)address && ibv_dereg_mr(region) == EBUSY);
	connect_pair();
	bind_window(window, other);
	CHECK(!ibv_dereg_mr(region));
	as_seen_by_peer = *other;
	as_seen_by_peer.rkey = window->rkey;
	CHECK(execute(IBV_WR_RDMA_WRITE, good, &as_seen_by_peer, 8) == IBV_WC_SUCCESS);
	destroy_pair();
	CHECK(!context->ops.dealloc_mw(window) && !ibv_dereg_mr(other) && !munmap(address, BYTES));
}

/* A call that fails, or leaves the memory in place, takes nothing from a region or its windows. */
static void check_failures(void)
{
	struct ibv_mr *region = ibv_reg_mr(domain, map(), BYTES, ALL_RIGHTS | IBV_ACCESS_MW_BIND);
	struct ibv_mw *window = context->ops.alloc_mw(domain, IBV_MW_TYPE_1);
	struct ibv_mr as_seen_by_peer;
	char *address;

	current = "failures";
	CHECK(region && window);
	address = region->addr;
	connect_pair();
	bind_window(window, region);
	as_seen_by_peer = *region;
	as_seen_by_peer.rkey = window->rkey;
	CHECK(munmap(address, 0) && errno == EINVAL && munmap(address + 1, 4096) && errno == EINVAL);
	CHECK(mmap(address, 4096, PROT_READ, MAP_SHARED | MAP_FIXED, 999, 0) == MAP_FAILED && errno == EBADF);
	CHECK(mremap(address, BYTES, BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, address + 4096) == MAP_FAILED && errno == EINVAL);
	CHECK(mremap(address, BYTES, BYTES, MREMAP_MAYMOVE) == address);
	CHECK(execute(IBV_WR_RDMA_WRITE, good, region, 8) == IBV_WC_SUCCESS);
	CHECK(execute(IBV_WR_RDMA_WRITE, good, &as_seen_by_peer, 8) == IBV_WC_SUCCESS);
	/* Memory that is gone does not come back when a call fails. */
	CHECK(mmap(address, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == address);
	CHECK(mmap(address, 4096, PROT_READ, MAP_SHARED | MAP_FIXED, 999, 0) == MAP_FAILED);
	CHECK(is_remote_error(execute(IBV_WR_RDMA_WRITE, good, region, 8)));
	destroy_pair();
	CHECK(!context->ops.dealloc_mw(window) && !ibv_dereg_mr(region) && !munmap(address, BYTES));
}

/* Overlapping regions, in any order, are found when a part of them is unmapped. */
static void check_overlaps(void)
{
	enum { COUNT = 300, PAGE = 4096, PAGES = BYTES / PAGE };
	char *address = map();
	struct ibv_mr *regions[COUNT];
	unsigned int seed = 7;

	current = "overlaps";
	for (int i = 0; i < COUNT; i++) {
		int first = rand_r(&seed) % PAGES, pages = 1 + rand_r(&seed) % (PAGES - first);

		regions[i] = ibv_reg_mr(domain, address + first * PAGE, (size_t)pages * PAGE, ALL_RIGHTS);
		CHECK(regions[i] != NULL);
	}
	for (int i = 0; i < COUNT; i += 3)
		CHECK(!ibv_dereg_mr(regions[i]));
	for (int gone = 0; gone < 40; gone++) {
		char *hole = address + (rand_r(&seed) % PAGES) * PAGE;

		CHECK(mmap(hole, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == hole);
		for (int i = 0; i < COUNT; i++) {
			int is_hit = i % 3 && (char *)regions[i]->addr <= hole && hole < (char *)regions[i]->addr + regions[i]->length;

			if (!is_hit)
				continue;
			connect_pair();
			CHECK(is_remote_error(execute(IBV_WR_RDMA_WRITE, good, regions[i], 8)));
			destroy_pair();
			break;
		}
	}
	for (int i = 0; i < COUNT; i++)
		CHECK(!(i % 3) || !ibv_dereg_mr(regions[i]));
	CHECK(!munmap(address, BYTES));
}

/* The kernel refuses to pin memory that the program may not access itself. */
static void check_protection(void)
{
	char *address = map();
	struct ibv_mr *region;

	current = "protection";
	CHECK(!mprotect(address + BYTES / 2, 4096, PROT_READ));
	CHECK(!ibv_reg_mr(domain, address, BYTES, IBV_ACCESS_LOCAL_WRITE) && errno == EFAULT);
	region = ibv_reg_mr(domain, address, BYTES, IBV_ACCESS_REMOTE_READ);
	CHECK(region && ibv_rereg_mr(region, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, ALL_RIGHTS) == IBV_REREG_MR_ERR_INPUT);
	CHECK(errno == EFAULT && !ibv_dereg_mr(region));
	CHECK(!mprotect(address + BYTES / 2, 4096, PROT_NONE));
	CHECK(!ibv_reg_mr(domain, address, BYTES, IBV_ACCESS_REMOTE_READ) && errno == EFAULT);
	CHECK(!munmap(address, BYTES));
}

/* The processor does not report the address of such an access. */
static void check_noncanonical_addresses(void)
{
	void *address = (void *)((uintptr_t)1 << 62);
	struct ibv_mr *region = ibv_reg_mr(domain, address, BYTES, ALL_RIGHTS | IBV_ACCESS_ON_DEMAND);

	current = "noncanonical_addresses";
	if (!region)
		return;
	connect_pair();
	CHECK(is_remote_error(execute(IBV_WR_RDMA_WRITE, good, region, 8)));
	destroy_pair();
	connect_pair();
	CHECK(is_local_error(execute(IBV_WR_RDMA_WRITE, region, good, 8)));
	destroy_pair();
	connect_pair();
	CHECK(is_remote_error(execute(IBV_WR_ATOMIC_FETCH_AND_ADD, good, region, 8)));
	destroy_pair();
	CHECK(!ibv_dereg_mr(region));
}

/* The kernel refuses to pin unmapped memory. */
static void check_registration(void)
{
	char *address = map();

	current = "registration";
	CHECK(!munmap(address + BYTES / 2, 4096));
	CHECK(!ibv_reg_mr(domain, address, BYTES, ALL_RIGHTS) && errno == EFAULT);
	CHECK(!munmap(address, BYTES));
}

/* Unmaps memory while messages access it. */
static void *unmap_later(void *address)
{
	usleep(20000);
	CHECK(!munmap(address, BYTES));
	return NULL;
}

static void check_race(void)
{
	current = "race";
	for (int round = 0; round < 10; round++) {
		struct ibv_mr *region = register_memory(map());
		pthread_t thread;
		int status;

		connect_pair();
		CHECK(!pthread_create(&thread, NULL, unmap_later, region->addr));
		do
			status = execute(round & 1 ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, good, region, 60000);
		while (status == IBV_WC_SUCCESS);
		CHECK(is_remote_error(status));
		pthread_join(thread, NULL);
		destroy_pair();
		CHECK(!ibv_dereg_mr(region));
	}
}

/* Java compiles code that it executes often. */
static void check_compiled(void)
{
	struct ibv_mr *region = register_memory(map());

	current = "compiled";
	connect_pair();
	for (int i = 0; i < 30000; i++)
		CHECK(execute(IBV_WR_RDMA_WRITE, good, region, 64) == IBV_WC_SUCCESS);
	destroy_pair();
	check_gone("compiled and freed", freed);
	check_gone("compiled and truncated", truncated);
	CHECK(!ibv_dereg_mr(region));
}

/* Atomics at an address that is not a multiple of eight, although it is one for the peer. */
static void check_unaligned(void)
{
	char *address = map();
	struct ibv_mr *region = ibv_reg_mr_iova(domain, address + 4, 64, 0x10000, ALL_RIGHTS);
	struct ibv_mr peer = *region;
	uint64_t value = 7;

	current = "unaligned";
	peer.addr = (void *)0x10000;
	memcpy(address + 4, &value, sizeof(value));
	connect_pair();
	CHECK(execute(IBV_WR_ATOMIC_FETCH_AND_ADD, good, &peer, 8) == IBV_WC_SUCCESS);
	memcpy(&value, address + 4, sizeof(value));
	CHECK(value == 8 && *(uint64_t *)good->addr == 7);
	CHECK(execute(IBV_WR_ATOMIC_CMP_AND_SWP, good, &peer, 8) == IBV_WC_SUCCESS);
	memcpy(&value, address + 4, sizeof(value));
	CHECK(value == 8 && *(uint64_t *)good->addr == 8);
	destroy_pair();
	CHECK(!ibv_dereg_mr(region) && !munmap(address, BYTES));
}

static void check_inline(void)
{
	struct ibv_sge element = { 8, 64, 0 };
	struct ibv_send_wr request = { .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_INLINE, .sg_list = &element, .num_sge = 1 }, *bad;

	current = "inline";
	connect_pair();
	CHECK(context->ops.post_send(sender, &request, &bad) == EFAULT && bad == &request);
	destroy_pair();
}

int main(int count, char **arguments)
{
	/* Fixed, because the threshold would rise with each free. */
	mallopt(M_MMAP_THRESHOLD, BYTES / 2);
	open_device(count > 1 ? arguments[1] : NULL);
	check_gone("unmapped", unmapped);
	check_gone("freed", freed);
	check_gone("not_accessible", not_accessible);
	check_gone("truncated", truncated);
	check_gone("moved", moved);
	check_gone("replaced", replaced);
	check_gone("partly_unmapped", partly_unmapped);
	check_gone("shrunk", shrunk);
	check_others();
	check_read_only();
	check_registration();
	check_windows();
	check_failures();
	check_overlaps();
	check_protection();
	check_noncanonical_addresses();
	check_race();
	check_inline();
	check_unaligned();
	check_compiled();
	return 0;
}
