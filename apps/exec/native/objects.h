/*
 * The objects of the library. Each starts with the public structure that programs see, except
 * struct context.
 */
#ifndef RDMA4J_OBJECTS_H
#define RDMA4J_OBJECTS_H

#include <errno.h>
#include <stdlib.h>

#include "bridge.h"
#include "descriptors.h"
#include "library.h"
#include "verbs_abi.h"

struct device {
	struct ibv_device ibv;
	/* libmlx5 and others look here for the driver of a device, and compare it with their own. */
	const void *driver;
	uint64_t guid;
	int index;		/* in Java's list of devices; -1 while the list lacks the device */
	int number;		/* from 1, never changes */
};

struct context {
	int handle;
	struct verbs_context verbs;
};

struct channel {
	struct ibv_comp_channel ibv;
	int handle;
};

struct memory_region {
	struct ibv_mr ibv;
	struct range range;
	unsigned int access;
};

/* Those that were opened with the same file share a handle. */
struct xrc_domain {
	struct ibv_xrcd ibv;
	int handle;
	struct xrc_domain *next;	/* in the list of those opened with a file */
	uint64_t file_device;
	uint64_t file_number;
};

/*
 * Asynchronous events of an object that the program has read but not acknowledged, oldest first;
 * under the object's mutex.
 */
struct taken_event {
	struct taken_event *next;
	uint64_t token;
};

struct completion_queue {
	union {
		struct ibv_cq ibv;
		struct ibv_cq_ex extended;
	};
	struct taken_event *taken;
	/*
	 * The remaining fields are for extended queues. completion is the one that the program
	 * reads.
	 */
	pthread_mutex_t poll_lock;
	int is_single_threaded;
	struct ibv_wc completion;
	int64_t timestamp_nanos;
};

struct shared_receive_queue {
	struct ibv_srq ibv;
	struct taken_event *taken;
	uint32_t number;
};

struct work_builder;

struct queue_pair {
	union {
		struct ibv_qp ibv;
		struct ibv_qp_ex extended;
	};
	struct taken_event *taken;
	struct ibv_qp_cap sizes;
	int signals_all;
	struct work_builder *builder;	/* for ibv_wr_*, or NULL */
};

/* The functions of the data path; Java sets them. */
extern struct bridge_data bridge_data;

static inline struct context *context_of(struct ibv_context *context)
{
	return (struct context *)((char *)context - offsetof(struct context, verbs.context));
}

static inline int context_handle(struct ibv_context *context)
{
	return context_of(context)->handle;
}

/* Sets errno and returns it, for functions that return an error number. */
static inline int fail(int error)
{
	if (error)
		errno = error;
	return error;
}

/* Sets errno and returns NULL, for functions that return an object. */
static inline void *no_object(int error)
{
	errno = error;
	return NULL;
}

/* Closes a Java object. Returns 0 or an errno. */
int close_handle(int handle);

/*
 * Closes a Java object that has events and waits until they are acknowledged. Signal handlers run
 * meanwhile.
 */
int close_after_events(int handle);

/*
 * add_taken appends an event; remove_taken removes the oldest one and returns its token, or 0 if
 * there is none.
 */
void add_taken(struct taken_event **list, struct taken_event *event);
uint64_t remove_taken(struct taken_event **list);

/* The number of lanes that the code of a link width means; 0 if the code is unknown. */
unsigned int lane_count(uint8_t code);

/* ibv_query_gid_type, under the name that the library itself calls. */
int query_gid_type(struct ibv_context *context, uint8_t port, unsigned int index, int *type);

/* Functions that programs call through the tables of a context. */
struct ibv_td *alloc_td(struct ibv_context *context, struct ibv_td_init_attr *attributes);
int dealloc_td(struct ibv_td *td);
struct ibv_pd *alloc_parent_domain(struct ibv_context *context, struct ibv_parent_domain_init_attr *attributes);
int query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input, struct ibv_device_attr_ex *attributes,
		    size_t size);
int query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attributes, size_t size);
int advise_mr(struct ibv_pd *domain, int advice, uint32_t flags, struct ibv_sge *list, uint32_t count);
struct ibv_mw *alloc_mw(struct ibv_pd *domain, enum ibv_mw_type type);
int bind_mw(struct ibv_qp *queue_pair, struct ibv_mw *window, struct ibv_mw_bind *binding);
int dealloc_mw(struct ibv_mw *window);
struct ibv_xrcd *open_xrcd(struct ibv_context *context, struct ibv_xrcd_init_attr *attributes);
int close_xrcd(struct ibv_xrcd *domain);
int poll_cq(struct ibv_cq *queue, int count, struct ibv_wc *completions);
int req_notify_cq(struct ibv_cq *queue, int solicited_only);
struct ibv_cq_ex *create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attributes);
int query_rt_values(struct ibv_context *context, struct ibv_values_ex *values);
int post_srq_recv(struct ibv_srq *queue, struct ibv_recv_wr *first, struct ibv_recv_wr **bad);
struct ibv_srq *create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attributes);
int get_srq_num(struct ibv_srq *queue, uint32_t *number);
int post_send(struct ibv_qp *queue_pair, struct ibv_send_wr *first, struct ibv_send_wr **bad);
int post_recv(struct ibv_qp *queue_pair, struct ibv_recv_wr *first, struct ibv_recv_wr **bad);
struct ibv_qp *create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attributes);
int modify_qp_rate_limit(struct ibv_qp *queue_pair, struct ibv_qp_rate_limit_attr *attributes);

/* Prepare and release a queue pair for ibv_wr_*. builder_create returns 0 or an errno. */
int builder_create(struct queue_pair *queue_pair, uint64_t operations);
void builder_destroy(struct queue_pair *queue_pair);

/* Prepares a completion queue for start_poll and its companions. */
void extend_cq(struct completion_queue *queue, uint64_t fields, uint32_t flags);

#endif
