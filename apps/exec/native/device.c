/* Devices, their contexts, and the attributes of devices and ports. */
#define _GNU_SOURCE
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "objects.h"
#include "versions.h"

/* Devices are never freed: programs keep and compare their addresses. */
static pthread_mutex_t devices_lock = PTHREAD_MUTEX_INITIALIZER;
static struct device **devices;
static int device_count;

int close_handle(int handle)
{
	uint64_t arguments[] = { handle };

	return bridge_call(BRIDGE_CLOSE, arguments);
}

int close_after_events(int handle)
{
	uint64_t arguments[] = { handle };

	return call_by_helper(CALL_CONTROL, BRIDGE_CLOSE, (uintptr_t)arguments, 0);
}

/* Returns the device with a name, a new one if it is not known yet; NULL if there is no memory. */
static struct device *find_device(const char *name)
{
	struct device **larger;
	struct device *device;

	for (int i = 0; i < device_count; i++) {
		if (!strcmp(devices[i]->ibv.name, name))
			return devices[i];
	}
	larger = realloc(devices, (device_count + 1) * sizeof(*devices));
	if (!larger)
		return NULL;
	devices = larger;
	device = calloc(1, sizeof(*device));
	if (!device)
		return NULL;
	devices[device_count++] = device;
	device->number = device_count;
	snprintf(device->ibv.name, sizeof(device->ibv.name), "%s", name);
	snprintf(device->ibv.dev_name, sizeof(device->ibv.dev_name), "uverbs%d",
		 device->number - 1);
	snprintf(device->ibv.dev_path, sizeof(device->ibv.dev_path),
		 "/sys/class/infiniband_verbs/%s", device->ibv.dev_name);
	snprintf(device->ibv.ibdev_path, sizeof(device->ibv.ibdev_path), "/sys/class/infiniband/%s",
		 device->ibv.name);
	return device;
}

/* Updates or adds the device at an index of Java's list. Returns 0 or an errno. */
static int refresh_device(int index, struct device **result)
{
	char name[IBV_SYSFS_NAME_MAX] = "";
	uint64_t arguments[5] = { index, (uintptr_t)name };
	int error = bridge_call(BRIDGE_DEVICE, arguments);
	struct device *device;

	if (error)
		return error;
	device = find_device(name);
	if (!device)
		return ENOMEM;
	device->index = index;
	device->guid = arguments[2];
	device->ibv.node_type = (enum ibv_node_type)arguments[3];
	device->ibv.transport_type = (enum ibv_transport_type)arguments[4];
	*result = device;
	return 0;
}

static int list_devices(struct ibv_device ***list, int *count)
{
	uint64_t arguments[1] = { 0 };
	int error = bridge_call(BRIDGE_DEVICE_COUNT, arguments);
	struct ibv_device **result;

	if (error)
		return error;
	result = calloc(arguments[0] + 1, sizeof(*result));
	if (!result)
		return ENOMEM;
	for (int i = 0; i < device_count; i++)
		devices[i]->index = -1;
	for (int i = 0; i < (int)arguments[0]; i++) {
		error = refresh_device(i, (struct device **)&result[i]);
		if (error) {
			free(result);
			return error;
		}
	}
	*count = (int)arguments[0];
	*list = result;
	return 0;
}

struct ibv_device **ibv_get_device_list(int *num_devices)
{
	struct ibv_device **list = NULL;
	int count = 0;
	int error = 0;

	/*
	 * Java's provider for hardware devices finds this library instead of the real one: for it,
	 * there are no devices.
	 */
	if (is_called_by_java())
		list = calloc(1, sizeof(*list));
	else
		error = bridge_start();
	if (!error && !list) {
		pthread_mutex_lock(&devices_lock);
		error = list_devices(&list, &count);
		pthread_mutex_unlock(&devices_lock);
	}
	if (num_devices)
		*num_devices = count;
	return error ? no_object(error) : list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	free(list);
}

const char *ibv_get_device_name(struct ibv_device *device)
{
	return device->name;
}

uint64_t ibv_get_device_guid(struct ibv_device *device)
{
	return htobe64(((struct device *)device)->guid);
}

int ibv_get_device_index(struct ibv_device *device)
{
	return ((struct device *)device)->number;
}

/* The slots of functions that a software device lacks stay empty. */
static void fill_tables(struct verbs_context *verbs)
{
	struct ibv_context_ops *operations = &verbs->context.ops;

	operations->_compat_query_device = ibv_query_device;
	operations->_compat_query_port = ibv_query_port;
	operations->alloc_mw = alloc_mw;
	operations->bind_mw = bind_mw;
	operations->dealloc_mw = dealloc_mw;
	operations->poll_cq = poll_cq;
	operations->req_notify_cq = req_notify_cq;
	operations->post_srq_recv = post_srq_recv;
	operations->post_send = post_send;
	operations->post_recv = post_recv;
	verbs->query_port = query_port;
	verbs->advise_mr = advise_mr;
	verbs->alloc_parent_domain = alloc_parent_domain;
	verbs->alloc_td = alloc_td;
	verbs->dealloc_td = dealloc_td;
	verbs->modify_qp_rate_limit = modify_qp_rate_limit;
	verbs->query_rt_values = query_rt_values;
	verbs->create_cq_ex = create_cq_ex;
	verbs->query_device_ex = query_device_ex;
	verbs->create_qp_ex = create_qp_ex;
	verbs->get_srq_num = get_srq_num;
	verbs->create_srq_ex = create_srq_ex;
	verbs->open_xrcd = open_xrcd;
	verbs->close_xrcd = close_xrcd;
	verbs->sz = sizeof(*verbs);
}

static int open_in_java(struct device *device, struct context *context)
{
	uint64_t arguments[] = { 0, context->verbs.context.async_fd, (uintptr_t)&bridge_data };
	int error = ENODEV;

	pthread_mutex_lock(&devices_lock);
	if (device->index >= 0) {
		arguments[0] = device->index;
		error = bridge_call(BRIDGE_OPEN_DEVICE, arguments);
	}
	pthread_mutex_unlock(&devices_lock);
	if (!error)
		prepare_exit();
	context->handle = (int)arguments[0];
	context->verbs.context.num_comp_vectors = (int)arguments[1];
	return error;
}

/* The command file has a descriptor that can be duplicated and passed on, but takes no commands. */
static int open_files(struct ibv_context *context)
{
	int error;

	context->cmd_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (context->cmd_fd < 0)
		return errno;
	context->async_fd = event_descriptor(EFD_CLOEXEC);
	if (context->async_fd >= 0)
		return 0;
	error = errno;
	close(context->cmd_fd);
	return error;
}

static void close_files(struct ibv_context *context)
{
	close(context->async_fd);
	close(context->cmd_fd);
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct context *context = calloc(1, sizeof(*context));
	struct ibv_context *ibv;
	int error;

	if (!context)
		return no_object(ENOMEM);
	ibv = &context->verbs.context;
	fill_tables(&context->verbs);
	ibv->device = device;
	ibv->abi_compat = (void *)UINTPTR_MAX;
	pthread_mutex_init(&ibv->mutex, NULL);
	error = open_files(ibv);
	if (!error) {
		error = open_in_java((struct device *)device, context);
		if (error)
			close_files(ibv);
	}
	if (error) {
		free(context);
		return no_object(error);
	}
	return ibv;
}

int ibv_close_device(struct ibv_context *context)
{
	int error = close_handle(context_handle(context));

	if (error)
		return fail(error);
	close_files(context);
	pthread_mutex_destroy(&context->mutex);
	free(context_of(context));
	return 0;
}

/* Programs may have been compiled with a shorter or a longer structure. */
static void copy_out(void *to, size_t size, const void *from, size_t from_size)
{
	memset(to, 0, size);
	memcpy(to, from, size < from_size ? size : from_size);
}

int query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input, struct ibv_device_attr_ex *attributes,
		    size_t size)
{
	struct ibv_device_attr_ex whole = { 0 };
	uint64_t arguments[] = { context_handle(context), (uintptr_t)&whole, sizeof(whole) };
	int error;

	if (input && input->comp_mask)
		return fail(EINVAL);
	error = bridge_call(BRIDGE_QUERY_DEVICE, arguments);
	if (!error)
		copy_out(attributes, size, &whole, sizeof(whole));
	return fail(error);
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *device_attr)
{
	return query_device_ex(context, NULL, (struct ibv_device_attr_ex *)device_attr, sizeof(*device_attr));
}

int query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attributes, size_t size)
{
	struct ibv_port_attr whole = { 0 };
	uint64_t arguments[] = { context_handle(context), port, (uintptr_t)&whole };
	int error = bridge_call(BRIDGE_QUERY_PORT, arguments);

	if (!error)
		copy_out(attributes, size, &whole, sizeof(whole));
	return fail(error);
}

/* Programs that call this function have a structure that ends with the field flags. */
int ibv_query_port(struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *port_attr)
{
	return query_port(context, port_num, port_attr, offsetof(struct ibv_port_attr, port_cap_flags2));
}

/* The speed of a lane in units of 100 Mbit/s. Its code is a bit. */
static uint64_t lane_speed(uint32_t code)
{
	static const uint16_t speeds[] = { 25, 50, 100, 100, 140, 250, 500, 1000, 2000 };

	for (unsigned int i = 0; i < sizeof(speeds) / sizeof(*speeds); i++) {
		if (code == 1u << i)
			return speeds[i];
	}
	return 0;
}

unsigned int lane_count(uint8_t code)
{
	switch (code) {
	case 1: return 1;
	case 2: return 4;
	case 4: return 8;
	case 8: return 12;
	case 16: return 2;
	default: return 0;
	}
}

int ibv_query_port_speed(struct ibv_context *context, uint32_t port_num, uint64_t *port_speed)
{
	struct ibv_port_attr attributes;
	int error = query_port(context, (uint8_t)port_num, &attributes, sizeof(attributes));

	if (error)
		return error;
	*port_speed = lane_count(attributes.active_width) *
		      lane_speed(attributes.active_speed_ex ? attributes.active_speed_ex : attributes.active_speed);
	return 0;
}

/* Returns 0, ENODATA for an empty entry, or another errno. */
static int read_gid(struct ibv_context *context, uint32_t port, uint32_t index, struct ibv_gid_entry *entry)
{
	union ibv_gid gid = { { 0 } };
	uint64_t arguments[6] = { context_handle(context), port, index, (uintptr_t)&gid };
	int error = bridge_call(BRIDGE_QUERY_GID, arguments);

	if (error)
		return error;
	*entry = (struct ibv_gid_entry){
		.gid = gid,
		.gid_index = index,
		.port_num = port,
		.gid_type = (uint32_t)arguments[5],
		.ndev_ifindex = (uint32_t)arguments[4],
	};
	return 0;
}

int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port_num, uint32_t gid_index, struct ibv_gid_entry *entry,
		      uint32_t flags, size_t entry_size)
{
	struct ibv_gid_entry whole;
	int error;

	if (flags)
		return fail(EOPNOTSUPP);
	error = read_gid(context, port_num, gid_index, &whole);
	if (!error)
		copy_out(entry, entry_size, &whole, sizeof(whole));
	return fail(error);
}

/*
 * Adds the entries of a port. Returns the new number of entries or a negative errno: like the
 * kernel, -EINVAL if they do not fit.
 */
static ssize_t add_gids(struct ibv_context *context, uint32_t port, char *entries, ssize_t count, size_t max, size_t entry_size)
{
	struct ibv_port_attr attributes;
	int error = query_port(context, (uint8_t)port, &attributes, sizeof(attributes));

	if (error)
		return -error;
	for (int index = 0; index < attributes.gid_tbl_len; index++) {
		struct ibv_gid_entry entry;

		error = read_gid(context, port, index, &entry);
		if (error == ENODATA)
			continue;
		if (error)
			return -error;
		if ((size_t)count == max)
			return -EINVAL;
		copy_out(entries + count * entry_size, entry_size, &entry, sizeof(entry));
		count++;
	}
	return count;
}

ssize_t _ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries, size_t max_entries, uint32_t flags,
			     size_t entry_size)
{
	struct ibv_device_attr attributes;
	ssize_t count = 0;
	int error;

	if (flags)
		return -EOPNOTSUPP;
	error = ibv_query_device(context, &attributes);
	if (error)
		return -error;
	for (uint32_t port = 1; port <= attributes.phys_port_cnt && count >= 0; port++)
		count = add_gids(context, port, (char *)entries, count, max_entries, entry_size);
	return count;
}

/* Returns 0, with zeros for an empty entry, or -1. */
int ibv_query_gid(struct ibv_context *context, uint8_t port_num, int index, union ibv_gid *gid)
{
	struct ibv_gid_entry entry = { 0 };
	int error = read_gid(context, port_num, index, &entry);

	if (error && error != ENODATA) {
		errno = error;
		return -1;
	}
	*gid = entry.gid;
	return 0;
}

/* The type is 1 for RoCEv2 and 0 otherwise, as in the files of the kernel. */
int query_gid_type(struct ibv_context *context, uint8_t port_num, unsigned int index, int *type)
{
	struct ibv_gid_entry entry = { 0 };
	int error = read_gid(context, port_num, index, &entry);

	if (error && error != ENODATA) {
		errno = error;
		return -1;
	}
	*type = entry.gid_type == IBV_GID_TYPE_ROCE_V2;
	return 0;
}

IS_PRIVATE_DEFAULT(ibv_query_gid_type, query_gid_type);

int ibv_query_pkey(struct ibv_context *context, uint8_t port_num, int index, uint16_t *pkey)
{
	uint64_t arguments[] = { context_handle(context), port_num, index };
	int error = bridge_call(BRIDGE_QUERY_PKEY, arguments);

	if (error) {
		errno = error;
		return -1;
	}
	*pkey = htobe16((uint16_t)arguments[0]);
	return 0;
}

int ibv_get_pkey_index(struct ibv_context *context, uint8_t port_num, uint16_t pkey)
{
	uint16_t found;

	for (int index = 0; !ibv_query_pkey(context, port_num, index, &found); index++) {
		if (found == pkey)
			return index;
	}
	return -1;
}
