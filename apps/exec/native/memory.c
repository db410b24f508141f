/* Registered memory, memory windows and buffers. */
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "objects.h"

/* An opaque structure in the public interface. */
struct ibv_buf {
	struct ibv_pd *domain;
	char *address;
	size_t size;
};

/* Closes a Java object and frees its C counterpart. */
static int close_and_free(int handle, void *object)
{
	int error = close_handle(handle);

	if (!error)
		free(object);
	return fail(error);
}

/* Access flags for which the program must be able to write the memory. */
#define WRITE_RIGHTS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND)

/* Available from Linux 5.14 on. The numbers are those in sys/mman.h of newer C libraries. */
#define POPULATE_READ 22
#define POPULATE_WRITE 23

/* Makes the kernel access each page of a range as the program could. Returns 0 on success. */
static int populate(const void *address, size_t length, int advice)
{
	uintptr_t page = sysconf(_SC_PAGESIZE);
	uintptr_t start = (uintptr_t)address & ~(page - 1);

	return madvise((void *)start, ((uintptr_t)address - start + length + page - 1) & ~(page - 1), advice);
}

/*
 * Returns whether the kernel is new enough. For unknown advice, it returns the same error as for
 * memory that must not be accessed.
 */
static int can_populate(void)
{
	static int known;	/* 1: yes, -1: no */
	char on_stack = 0;

	if (!known)
		known = populate(&on_stack, 1, POPULATE_READ) ? -1 : 1;
	return known > 0;
}

/*
 * A card cannot pin memory that is not mapped, or that the program itself may not access as
 * requested. As on a card, pages get their memory here. Memory on demand may be mapped later.
 */
static int can_be_pinned(const void *address, size_t length, unsigned int access)
{
	if (!length || access & IBV_ACCESS_ON_DEMAND)
		return 1;
	if (!can_populate())
		return is_mapped(address, length);
	return !populate(address, length, access & WRITE_RIGHTS ? POPULATE_WRITE : POPULATE_READ);
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned int access)
{
	struct memory_region *region = calloc(1, sizeof(*region));
	uint64_t arguments[] = { pd->handle, (uintptr_t)addr, length, iova, access };
	int error;

	if (!region)
		return no_object(ENOMEM);
	error = can_be_pinned(addr, length, access) ? bridge_call(BRIDGE_REGISTER, arguments) : EFAULT;
	if (error) {
		free(region);
		return no_object(error);
	}
	region->ibv = (struct ibv_mr){
		.context = pd->context,
		.pd = pd,
		.addr = addr,
		.length = length,
		.handle = (uint32_t)arguments[0],
		.lkey = (uint32_t)arguments[1],
		.rkey = (uint32_t)arguments[2],
	};
	region->access = access;
	regions_add(&region->range, addr, length, region->ibv.handle);
	return &region->ibv;
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	return ibv_reg_mr_iova2(pd, addr, length, (uintptr_t)addr, access);
}

struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, int access)
{
	return ibv_reg_mr_iova2(pd, addr, length, iova, access);
}

static int is_in_buffer(struct ibv_pd *domain, const struct ibv_buf *buffer, void *address, size_t length)
{
	size_t offset = (uintptr_t)address - (uintptr_t)buffer->address;

	return domain == buffer->domain && offset <= buffer->size && length <= buffer->size - offset;
}

/* Memory from a file descriptor or with hints for a device needs hardware. */
struct ibv_mr *ibv_reg_mr_ex(struct ibv_pd *pd, struct ibv_mr_init_attr *mr_init_attr)
{
	uint64_t mask = mr_init_attr->comp_mask;
	uint64_t iova = (uintptr_t)mr_init_attr->addr;

	if (mask & ~(uint64_t)(IBV_REG_MR_MASK_IOVA | IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_BUF))
		return no_object(EOPNOTSUPP);
	if (!(mask & IBV_REG_MR_MASK_ADDR))
		return no_object(EINVAL);
	if (mask & IBV_REG_MR_MASK_BUF && !is_in_buffer(pd, mr_init_attr->buf, mr_init_attr->addr, mr_init_attr->length))
		return no_object(EINVAL);
	if (mask & IBV_REG_MR_MASK_IOVA)
		iova = mr_init_attr->iova;
	return ibv_reg_mr_iova2(pd, mr_init_attr->addr, mr_init_attr->length, iova, mr_init_attr->access);
}

static int is_valid_change(int flags, void *address, size_t length, int access)
{
	if (flags & ~(IBV_REREG_MR_CHANGE_TRANSLATION | IBV_REREG_MR_CHANGE_PD | IBV_REREG_MR_CHANGE_ACCESS))
		return 0;
	if (flags & IBV_REREG_MR_CHANGE_TRANSLATION && (!address || !length))
		return 0;
	return flags & IBV_REREG_MR_CHANGE_ACCESS || !access;
}

static int change_region(struct memory_region *region, int flags, struct ibv_pd *pd, void *addr, size_t length, int access)
{
	struct ibv_mr *mr = &region->ibv;
	uint64_t arguments[] = { mr->handle, flags, 0, (uintptr_t)addr, length, access };
	unsigned int new_access = flags & IBV_REREG_MR_CHANGE_ACCESS ? (unsigned int)access : region->access;
	int changes_memory = flags & IBV_REREG_MR_CHANGE_TRANSLATION;
	int error;

	if (!can_be_pinned(changes_memory ? addr : mr->addr, changes_memory ? length : mr->length,
			   new_access))
		return EFAULT;
	if (flags & IBV_REREG_MR_CHANGE_PD)
		arguments[2] = pd->handle;
	error = bridge_call(BRIDGE_REREGISTER, arguments);
	if (error)
		return error;
	mr->lkey = (uint32_t)arguments[1];
	mr->rkey = (uint32_t)arguments[2];
	region->access = new_access;
	if (flags & IBV_REREG_MR_CHANGE_PD)
		mr->pd = pd;
	if (changes_memory) {
		regions_remove(&region->range);
		mr->addr = addr;
		mr->length = length;
		regions_add(&region->range, addr, length, mr->handle);
	}
	return 0;
}

int ibv_rereg_mr(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *addr, size_t length, int access)
{
	int error;

	if (!is_valid_change(flags, addr, length, access)) {
		errno = EINVAL;
		return IBV_REREG_MR_ERR_INPUT;
	}
	error = change_region((struct memory_region *)mr, flags, pd, addr, length, access);
	if (error) {
		errno = error;
		/* Java has changed nothing: the old registration is still valid. */
		return IBV_REREG_MR_ERR_INPUT;
	}
	return 0;
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	struct memory_region *region = (struct memory_region *)mr;
	int error = regions_close(&region->range);

	if (!error)
		free(region);
	return fail(error);
}

int advise_mr(struct ibv_pd *domain, int advice, uint32_t flags, struct ibv_sge *list, uint32_t count)
{
	uint64_t arguments[] = { domain->handle, advice, flags, (uintptr_t)list, count };

	return fail(bridge_call(BRIDGE_ADVISE, arguments));
}

/* Buffers are ordinary memory. As the interface demands, they start at a page boundary. */

void *ibv_alloc_buf(struct ibv_pd *pd, size_t size, struct ibv_buf **buf)
{
	struct ibv_buf *buffer = malloc(sizeof(*buffer));
	void *address;
	int error;

	if (!buffer)
		return no_object(ENOMEM);
	error = posix_memalign(&address, sysconf(_SC_PAGESIZE), size);
	if (error) {
		free(buffer);
		return no_object(error);
	}
	*buffer = (struct ibv_buf){ .domain = pd, .address = address, .size = size };
	*buf = buffer;
	return address;
}

void ibv_free_buf(struct ibv_buf *buf)
{
	free(buf->address);
	free(buf);
}

struct ibv_mr *ibv_reg_buf_mr(struct ibv_pd *pd, struct ibv_buf *buf, void *addr, size_t length, int access)
{
	struct ibv_mr_init_attr attributes = {
		.length = length,
		.access = access,
		.comp_mask = IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_BUF,
		.addr = addr,
		.buf = buf,
	};

	return ibv_reg_mr_ex(pd, &attributes);
}

/* Only device memory has such a descriptor. */
int ibv_export_buf_dmabuf_fd(struct ibv_buf *buf)
{
	(void)buf;
	errno = ENODATA;
	return -1;
}

/* Copy-on-write after fork does no harm: Java accesses memory through the parent's page tables. */

int ibv_fork_init(void)
{
	return 0;
}

enum ibv_fork_status ibv_is_fork_initialized(void)
{
	return IBV_FORK_UNNEEDED;
}

int ibv_dontfork_range(void *base, size_t size)
{
	(void)base;
	(void)size;
	return 0;
}

int ibv_dofork_range(void *base, size_t size)
{
	(void)base;
	(void)size;
	return 0;
}

struct ibv_mw *alloc_mw(struct ibv_pd *domain, enum ibv_mw_type type)
{
	struct ibv_mw *window = calloc(1, sizeof(*window));
	uint64_t arguments[] = { domain->handle, type };
	int error;

	if (!window)
		return no_object(ENOMEM);
	error = bridge_call(BRIDGE_ALLOCATE_WINDOW, arguments);
	if (error) {
		free(window);
		return no_object(error);
	}
	*window = (struct ibv_mw){
		.context = domain->context,
		.pd = domain,
		.rkey = (uint32_t)arguments[1],
		.handle = (uint32_t)arguments[0],
		.type = type,
	};
	return window;
}

int dealloc_mw(struct ibv_mw *window)
{
	return close_and_free(window->handle, window);
}

/* The lowest byte of the key distinguishes one binding from the next. */
static uint32_t next_key(uint32_t key)
{
	return (key & ~0xffu) | ((key + 1) & 0xff);
}

int bind_mw(struct ibv_qp *queue_pair, struct ibv_mw *window, struct ibv_mw_bind *binding)
{
	struct ibv_send_wr *bad;
	struct ibv_send_wr request = {
		.wr_id = binding->wr_id,
		.opcode = IBV_WR_BIND_MW,
		.send_flags = binding->send_flags,
		.bind_mw = { .mw = window, .rkey = next_key(window->rkey), .bind_info = binding->bind_info },
	};
	int error = post_send(queue_pair, &request, &bad);

	if (!error)
		window->rkey = request.bind_mw.rkey;
	return error;
}
