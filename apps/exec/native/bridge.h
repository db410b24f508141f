/*
 * How the C library calls Java.
 *
 * Control operations go through one function, bridge_call. It takes an operation and an array of
 * 64-bit arguments, into which Java writes the results, and returns 0 or an errno. The data path
 * (posting and polling) goes through the function pointers of struct bridge_data, which Java sets
 * when the first queue of any kind is created: a call costs a third of a bridge_call.
 *
 * A handle is a positive number that identifies a Java object. The numbers of the operations are
 * the same in io.rdma4j.exec.bridge.Operation.
 */
#ifndef RDMA4J_BRIDGE_H
#define RDMA4J_BRIDGE_H

#include <stddef.h>
#include <stdint.h>

/*
 * The class with the static method int call(int operation, long arguments), and the classes whose
 * native methods C registers.
 */
#define BRIDGE_ENTRY_CLASS "io/rdma4j/exec/Entry"
#define BRIDGE_DESCRIPTOR_CLASS "io/rdma4j/exec/bridge/EventDescriptor"
#define BRIDGE_MEMORY_CLASS "io/rdma4j/exec/bridge/ProgramMemory"
#define BRIDGE_GUARDIAN_CLASS "io/rdma4j/exec/bridge/Guardian"

/*
 * The comments list the arguments by index -> the results by index. Pointers are to the public
 * structures of libibverbs.
 */
enum bridge_operation {
	/* Devices */
	BRIDGE_DEVICE_COUNT = 0,	/* -> 0 count; Java lists the devices again */
	BRIDGE_DEVICE = 1,		/* 0 index, 1 char name[64] -> 2 GUID, 3 node type, 4 transport type */
	BRIDGE_OPEN_DEVICE = 2,		/* 0 index, 1 eventfd of asynchronous events, 2 struct bridge_data * -> 0 handle, 1 completion vectors */
	BRIDGE_CLOSE = 3,		/* 0 handle: context, domain, region, window, queue, channel, address handle, XRC domain */
	BRIDGE_QUERY_DEVICE = 4,	/* 0 context, 1 struct ibv_device_attr_ex *, 2 its size in bytes, zeroed */
	BRIDGE_QUERY_PORT = 5,		/* 0 context, 1 port, 2 struct ibv_port_attr *, whole and zeroed */
	BRIDGE_QUERY_GID = 6,		/* 0 context, 1 port, 2 index, 3 union ibv_gid * -> 4 network interface or 0, 5 type; ENODATA: empty entry */
	BRIDGE_QUERY_PKEY = 7,		/* 0 context, 1 port, 2 index -> 0 partition key */
	BRIDGE_NEXT_ASYNC_EVENT = 8,	/* 0 context -> 0 type, 1 user pointer of the queue pair or queue (0: port or device), 2 port, 3 token; EAGAIN */
	BRIDGE_ACK_ASYNC_EVENT = 9,	/* 0 context, 1 token */

	/* Domains and memory */
	BRIDGE_ALLOCATE_DOMAIN = 10,	/* 0 context -> 0 handle */
	BRIDGE_REGISTER = 11,		/* 0 domain, 1 address, 2 length, 3 iova, 4 access -> 0 handle, 1 lkey, 2 rkey */
	BRIDGE_REREGISTER = 12,		/* 0 region, 1 flags, 2 domain, 3 address, 4 length, 5 access -> 1 lkey, 2 rkey */
	BRIDGE_ADVISE = 13,		/* 0 domain, 1 advice, 2 flags, 3 struct ibv_sge *, 4 count */
	BRIDGE_ALLOCATE_WINDOW = 14,	/* 0 domain, 1 type -> 0 handle, 1 rkey */
	BRIDGE_OPEN_XRC_DOMAIN = 15,	/* 0 context -> 0 handle */
	BRIDGE_CREATE_ADDRESS_HANDLE = 16, /* 0 domain, 1 struct ibv_ah_attr * -> 0 handle */
	BRIDGE_SET_ACCESSIBLE = 17,	/* 0 region, 1 whether its memory is accessible */

	/* Completions */
	BRIDGE_CREATE_CHANNEL = 20,	/* 0 context, 1 eventfd -> 0 handle */
	BRIDGE_NEXT_CHANNEL_EVENT = 21,	/* 0 channel -> 0 user pointer of the completion queue; EAGAIN */
	BRIDGE_CREATE_CQ = 22,		/* 0 context, 1 entries, 2 channel or 0, 3 vector, 4 user pointer -> 0 handle, 1 entries */
	BRIDGE_RESIZE_CQ = 23,		/* 0 queue, 1 entries -> 1 entries */
	BRIDGE_ACK_CQ_EVENTS = 24,	/* 0 queue, 1 count */
	BRIDGE_WALL_CLOCK = 25,		/* 0 context, 1 timestamp in ns of bridge_data.poll_timed -> 0 ns since 1970 */

	/*
	 * Queue pairs and shared receive queues. Sizes are in struct ibv_qp_cap, which Java updates
	 * with the actual ones
	 */
	BRIDGE_CREATE_QP = 30,		/* 0 domain (0: target of XRC), 1 type, 2 send queue's CQ or 0, 3 receive CQ or 0, 4 SRQ or 0, 5 struct ibv_qp_cap *,
					   6 whether all sends are signaled, 7 user pointer, 8 XRC domain or 0, 9 enum ibv_qp_create_flags -> 0 handle, 1 number */
	BRIDGE_MODIFY_QP = 31,		/* 0 queue pair, 1 struct ibv_qp_attr *, 2 mask */
	BRIDGE_QUERY_QP = 32,		/* 0 queue pair, 1 struct ibv_qp_attr *, zeroed -> 2 state */
	BRIDGE_ATTACH_MULTICAST = 33,	/* 0 queue pair, 1 union ibv_gid *, 2 1: attach, 0: detach */
	BRIDGE_SET_RATE_LIMIT = 34,	/* 0 queue pair, 1 kbit/s */
	BRIDGE_CREATE_SRQ = 40,		/* 0 domain, 1 max_wr, 2 max_sge, 3 limit, 4 user pointer, 5 XRC domain or 0, 6 CQ of XRC or 0 -> 0 handle, 1 number, 2 max_wr, 3 max_sge */
	BRIDGE_MODIFY_SRQ = 41,		/* 0 queue, 1 max_wr, 2 limit, 3 mask */
	BRIDGE_QUERY_SRQ = 42,		/* 0 queue -> 1 max_wr, 2 max_sge, 3 limit */

	/* The device file of the connection manager */
	BRIDGE_CM_OPEN = 50,		/* 0 eventfd -> 0 handle */
	BRIDGE_CM_WRITE = 51,		/* 0 file, 1 command with its header, 2 bytes, 3 handle of the other file for MIGRATE_ID or 0; EAGAIN: no event */
	BRIDGE_CM_CLOSE = 52,		/* 0 file */

	/* The end of the process: disconnects all peers and sends everything that is pending */
	BRIDGE_FINISH = 60,		/* no arguments */
};

/*
 * Two operations of ibv_wr_* have no fields in struct ibv_send_wr and use the ones for atomics:
 * IBV_WR_ATOMIC_WRITE has its eight bytes in compare_add; IBV_WR_FLUSH has its length in
 * compare_add, and its type with the level << 8 in swap.
 */

/*
 * Each function takes handles and public structures. Java sets all of them before the first queue
 * exists.
 */
struct bridge_data {
	int (*poll)(int cq, int count, void *completions);	/* number of completions, or a negative errno */
	int (*poll_timed)(int cq, void *completion, int64_t *timestamp_nanos); /* the same for one completion, with its time */
	/* The next four return 0 or an errno. */
	int (*request_notification)(int cq, int solicited_only);
	int (*post_send)(int qp, void *first, void **bad); /* bad NULL: all or none */
	int (*post_receive)(int qp, void *first, void **bad);
	int (*post_srq_receive)(int srq, void *first, void **bad);
};

/* The operations of access_memory. Java calls it for every access to memory of the program. */
enum access_operation {
	ACCESS_COPY = 0,
	ACCESS_SWAP = 1,		/* stores the value if memory holds "compare" */
	ACCESS_ADD = 2,
	ACCESS_STORE = 3,
};

struct access_operands {
	uint64_t compare;
	uint64_t value;
	uint64_t original;	/* set by the operation */
};

/*
 * Copies bytes between two ranges that may overlap, or changes eight bytes as the struct
 * access_operands at from specifies, atomically if to is a multiple of eight. Returns 0, or -1 if
 * memory cannot be accessed; some of the bytes may have been copied by then.
 */
int64_t access_memory(int64_t operation, void *to, void *from, int64_t bytes);

/*
 * Starts the Java virtual machine if it is not running. Returns 0, or an errno after printing one
 * sentence to standard error.
 */
int bridge_start(void);

/* Calls Java; bridge_start must have succeeded. Returns 0 or an errno. */
int bridge_call(enum bridge_operation operation, uint64_t *arguments);

#endif
