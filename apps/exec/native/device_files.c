/*
 * The contents of device files and attribute files: what programs and libraries that do not call
 * libibverbs read about a device. A table lists the files below the folder of a device; # in a path
 * is an index.
 */
#define _GNU_SOURCE
#include <endian.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "device_files.h"
#include "objects.h"

#define DEVICE_FILES "/dev/infiniband"
#define ATTRIBUTES "/sys/class/infiniband"
#define VERBS_ATTRIBUTES "/sys/class/infiniband_verbs"
#define PORT "ports/1"
#define NAME_BEGINNING "rdma4j_" /* of software devices; files of other devices are the system's */

/* A file to be read. */
struct source {
	struct ibv_device *device;
	struct ibv_context *context;
	struct ibv_port_attr port;
	unsigned int index;
};

/* Functions that write one line. Each returns 0 or an errno. */

static int write_guid(uint64_t guid, char *text)
{
	guid = be64toh(guid);
	snprintf(text, DEVICE_FILE_BYTES, "%04x:%04x:%04x:%04x\n", (unsigned int)(guid >> 48), (unsigned int)(guid >> 32 & 0xffff),
		 (unsigned int)(guid >> 16 & 0xffff), (unsigned int)(guid & 0xffff));
	return 0;
}

static int write_node_guid(struct source *source, char *text)
{
	return write_guid(ibv_get_device_guid(source->device), text);
}

static int write_image_guid(struct source *source, char *text)
{
	struct ibv_device_attr attributes;
	int error = ibv_query_device(source->context, &attributes);

	return error ? error : write_guid(attributes.sys_image_guid, text);
}

static int write_firmware(struct source *source, char *text)
{
	struct ibv_device_attr attributes;
	int error = ibv_query_device(source->context, &attributes);

	if (!error)
		snprintf(text, DEVICE_FILE_BYTES, "%s\n", attributes.fw_ver);
	return error;
}

static int write_line(const char *line, char *text)
{
	snprintf(text, DEVICE_FILE_BYTES, "%s\n", line);
	return 0;
}

static int write_node_type(struct source *source, char *text)
{
	(void)source;
	return write_line("1: CA", text);
}

static int write_description(struct source *source, char *text)
{
	return write_line(source->device->name, text);
}

static int write_link_layer(struct source *source, char *text)
{
	(void)source;
	return write_line("Ethernet", text);
}

static int write_state(struct source *source, char *text)
{
	static const char *const states[] = { "NOP", "DOWN", "INIT", "ARMED", "ACTIVE", "ACTIVE_DEFER" };
	unsigned int state = source->port.state;

	snprintf(text, DEVICE_FILE_BYTES, "%u: %s\n", state, state < sizeof(states) / sizeof(*states) ? states[state] : "UNKNOWN");
	return 0;
}

static int write_physical_state(struct source *source, char *text)
{
	unsigned int state = source->port.phys_state;

	snprintf(text, DEVICE_FILE_BYTES, "%u: %s\n", state, state == 5 ? "LinkUp" : state == 3 ? "Disabled" : "Polling");
	return 0;
}

/* Like the kernel: in steps of half a Gbit/s, with the name of the lane speed. */
static int write_rate(struct source *source, char *text)
{
	static const char *const names[] = { "SDR", "DDR", "QDR", "FDR10", "FDR", "EDR", "HDR", "NDR", "XDR" };
	unsigned int lanes = lane_count(source->port.active_width);
	uint64_t speed;
	int code = source->port.active_speed_ex ? (int)source->port.active_speed_ex : source->port.active_speed;
	int error = ibv_query_port_speed(source->context, 1, &speed);
	int at = __builtin_ffs(code) - 1;

	if (error)
		return error;
	snprintf(text, DEVICE_FILE_BYTES, "%u%s Gb/sec (%uX %s)\n", (unsigned int)(speed / 10), speed % 10 ? ".5" : "", lanes,
		 at >= 0 && at < (int)(sizeof(names) / sizeof(*names)) ? names[at] : "SDR");
	return 0;
}

static int write_capabilities(struct source *source, char *text)
{
	snprintf(text, DEVICE_FILE_BYTES, "0x%08x\n", source->port.port_cap_flags);
	return 0;
}

/* RoCE has no LIDs and no subnet manager. */
static int write_no_lid(struct source *source, char *text)
{
	(void)source;
	return write_line("0x0", text);
}

static int write_zero(struct source *source, char *text)
{
	(void)source;
	return write_line("0", text);
}

static int write_partition_key(struct source *source, char *text)
{
	uint16_t key;

	if (ibv_query_pkey(source->context, 1, (int)source->index, &key))
		return errno;
	snprintf(text, DEVICE_FILE_BYTES, "0x%04x\n", be16toh(key));
	return 0;
}

/* As in the kernel, the GID of an empty entry is zero, and its other attributes cannot be read. */
static int read_entry(struct source *source, struct ibv_gid_entry *entry)
{
	int error = (int)_ibv_query_gid_ex(source->context, 1, source->index, entry, 0, sizeof(*entry));

	return error == ENODATA ? EINVAL : error;
}

static int write_gid(struct source *source, char *text)
{
	union ibv_gid gid;

	if (ibv_query_gid(source->context, 1, (int)source->index, &gid))
		return errno;
	for (int i = 0; i < 16; i += 2)
		text += sprintf(text, "%02x%02x%c", gid.raw[i], gid.raw[i + 1], i < 14 ? ':' : '\n');
	return 0;
}

static int write_gid_type(struct source *source, char *text)
{
	struct ibv_gid_entry entry = { 0 };
	int error = read_entry(source, &entry);

	return error ? error : write_line(entry.gid_type == IBV_GID_TYPE_ROCE_V2 ? "RoCE v2" : "IB/RoCE v1", text);
}

static int write_gid_interface(struct source *source, char *text)
{
	struct ibv_gid_entry entry = { 0 };
	char name[IF_NAMESIZE];
	int error = read_entry(source, &entry);

	if (!error && !if_indextoname(entry.ndev_ifindex, name))
		error = errno;
	return error ? error : write_line(name, text);
}

/* The number of files in a folder with indexes as names. */

static int count_gids(const struct source *source)
{
	return source->port.gid_tbl_len;
}

static int count_partition_keys(const struct source *source)
{
	return source->port.pkey_tbl_len;
}

struct file {
	const char *path;	/* below the folder of the device */
	int (*write)(struct source *, char *);	/* NULL: a folder */
	int (*count)(const struct source *);	/* for a path that ends with an index */
};

static const struct file attribute_files[] = {
	{ "", NULL, NULL },
	{ "fw_ver", write_firmware, NULL },
	{ "node_desc", write_description, NULL },
	{ "node_guid", write_node_guid, NULL },
	{ "node_type", write_node_type, NULL },
	{ "sys_image_guid", write_image_guid, NULL },
	{ "ports", NULL, NULL },
	{ PORT, NULL, NULL },
	{ PORT "/cap_mask", write_capabilities, NULL },
	{ PORT "/lid", write_no_lid, NULL },
	{ PORT "/lid_mask_count", write_zero, NULL },
	{ PORT "/link_layer", write_link_layer, NULL },
	{ PORT "/phys_state", write_physical_state, NULL },
	{ PORT "/rate", write_rate, NULL },
	{ PORT "/sm_lid", write_no_lid, NULL },
	{ PORT "/sm_sl", write_zero, NULL },
	{ PORT "/state", write_state, NULL },
	{ PORT "/gids", NULL, NULL },
	{ PORT "/gids/#", write_gid, count_gids },
	{ PORT "/gid_attrs", NULL, NULL },
	{ PORT "/gid_attrs/ndevs", NULL, NULL },
	{ PORT "/gid_attrs/ndevs/#", write_gid_interface, count_gids },
	{ PORT "/gid_attrs/types", NULL, NULL },
	{ PORT "/gid_attrs/types/#", write_gid_type, count_gids },
	{ PORT "/pkeys", NULL, NULL },
	{ PORT "/pkeys/#", write_partition_key, count_partition_keys },
};

static int write_abi(struct source *source, char *text)
{
	(void)source;
	return write_line("2", text);
}

static const struct file verbs_files[] = {
	{ "", NULL, NULL },
	{ "abi_version", write_abi, NULL },
	{ "ibdev", write_description, NULL },
};

static const struct tree {
	const char *folder;
	int is_by_file;		/* its folders are named after device files, not after devices */
	const struct file *files;
	size_t count;
} trees[] = {
	{ ATTRIBUTES, 0, attribute_files, sizeof(attribute_files) / sizeof(*attribute_files) },
	{ VERBS_ATTRIBUTES, 1, verbs_files, sizeof(verbs_files) / sizeof(*verbs_files) },
	{ DEVICE_FILES, 1, NULL, 0 },
};

static const char *name_in(const struct tree *tree, const struct ibv_device *device)
{
	return tree->is_by_file ? device->dev_name : device->name;
}

/*
 * Returns the device that a folder or file in a tree belongs to, or NULL. Devices are never freed.
 *
 * Does not start Java to look for hardware devices: libpsm2 looks for its own in a constructor,
 * while the dynamic linker lets no other thread load a library.
 */
static struct ibv_device *find_device(const struct tree *tree, const char *name)
{
	const char *beginning = tree->is_by_file ? "uverbs" : NAME_BEGINNING;
	struct ibv_device *found = NULL;
	struct ibv_device **list;

	if (strncmp(name, beginning, strlen(beginning)))
		return NULL;
	list = ibv_get_device_list(NULL);
	for (int i = 0; list && list[i] && !found; i++) {
		if (!strcmp(name_in(tree, list[i]), name))
			found = list[i];
	}
	if (list)
		ibv_free_device_list(list);
	return found;
}

/*
 * Returns the tree of a path and the part after the folder of the tree, without leading slashes;
 * NULL if the path is in none.
 */
static const struct tree *tree_of(const char *path, const char **rest)
{
	for (size_t i = 0; i < sizeof(trees) / sizeof(*trees); i++) {
		size_t length = strlen(trees[i].folder);

		if (strncmp(path, trees[i].folder, length) || (path[length] && path[length] != '/'))
			continue;
		*rest = path + length + strspn(path + length, "/");
		return &trees[i];
	}
	return NULL;
}

/* Finds the device of a path in a tree, and the part of the path after the name of the device. */
static struct ibv_device *device_of(const struct tree *tree, const char *rest, const char **below)
{
	char name[IBV_SYSFS_NAME_MAX];
	size_t length = strcspn(rest, "/");

	if (length >= sizeof(name))
		return NULL;
	memcpy(name, rest, length);
	name[length] = 0;
	*below = rest + length + strspn(rest + length, "/");
	return find_device(tree, name);
}

/* Returns whether a path names a file, and its index if it has one. A slash may follow a folder. */
static int matches(const struct file *file, const char *path, unsigned int *index)
{
	size_t length = strlen(file->path);
	int end = 0;

	if (!file->count) {
		if (strncmp(path, file->path, length))
			return 0;
		return !path[length] || (!file->write && path[length] == '/' && !path[length + 1]);
	}
	length--;
	return !strncmp(path, file->path, length) && sscanf(path + length, "%u%n", index, &end) == 1 && !path[length + end];
}

static const struct file *find_file(const struct tree *tree, const char *path, unsigned int *index)
{
	for (size_t i = 0; i < tree->count; i++) {
		if (matches(&tree->files[i], path, index))
			return &tree->files[i];
	}
	return NULL;
}

/* Opens the device of a source. Returns 0 or an errno. */
static int open_source(struct source *source)
{
	int error;

	source->context = ibv_open_device(source->device);
	if (!source->context)
		return errno;
	error = query_port(source->context, 1, &source->port, sizeof(source->port));
	if (error)
		ibv_close_device(source->context);
	return error;
}

static int has_index(struct source *source, const struct file *file)
{
	int result;

	if (open_source(source))
		return 0;
	result = source->index < (unsigned int)file->count(source);
	ibv_close_device(source->context);
	return result;
}

mode_t device_file_kind(const char *path)
{
	struct source source = { 0 };
	const char *rest, *below;
	const struct tree *tree = tree_of(path, &rest);
	const struct file *file;

	if (!tree)
		return 0;
	if (!*rest)
		return S_IFDIR;
	source.device = device_of(tree, rest, &below);
	if (!source.device)
		return 0;
	if (!tree->files)
		return *below ? 0 : S_IFCHR;
	file = find_file(tree, below, &source.index);
	if (!file || (file->count && !has_index(&source, file)))
		return 0;
	return file->write ? S_IFREG : S_IFDIR;
}

int device_file_read(const char *path, char *text)
{
	struct source source = { 0 };
	const char *rest, *below;
	const struct tree *tree = tree_of(path, &rest);
	const struct file *file;
	int error;

	source.device = tree ? device_of(tree, rest, &below) : NULL;
	file = source.device ? find_file(tree, below, &source.index) : NULL;
	if (!file || !file->write)
		return file ? EISDIR : ENOENT;
	error = open_source(&source);
	if (error)
		return error;
	error = file->write(&source, text);
	ibv_close_device(source.context);
	return error;
}

typedef int visit(const char *name, mode_t kind, void *user);

static int list_devices(const struct tree *tree, visit *each, void *user)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int result = 0;

	for (int i = 0; list && list[i] && !result; i++)
		result = each(name_in(tree, list[i]), tree->files ? S_IFDIR : S_IFCHR, user);
	if (list)
		ibv_free_device_list(list);
	return result || tree->files ? result : each("rdma_cm", S_IFCHR, user);
}

static int list_indexes(struct source *source, const struct file *file, visit *each, void *user)
{
	int result = 0;

	if (open_source(source))
		return 0;
	for (int i = 0; i < file->count(source) && !result; i++) {
		char name[16];

		snprintf(name, sizeof(name), "%d", i);
		result = each(name, S_IFREG, user);
	}
	ibv_close_device(source->context);
	return result;
}

/* Returns the name of a file that is directly in a folder, or NULL. */
static const char *name_below(const struct file *file, const char *folder)
{
	size_t length = strlen(folder);
	const char *name = file->path;

	if (length) {
		if (strncmp(name, folder, length) || name[length] != '/')
			return NULL;
		name += length + 1;
	}
	return *name && !strchr(name, '/') ? name : NULL;
}

static int list_files(const struct tree *tree, const struct file *folder, struct source *source, visit *each, void *user)
{
	int result = 0;

	for (size_t i = 0; i < tree->count && !result; i++) {
		const struct file *file = &tree->files[i];
		const char *name = name_below(file, folder->path);

		if (name && file->count)
			result = list_indexes(source, file, each, user);
		else if (name)
			result = each(name, file->write ? S_IFREG : S_IFDIR, user);
	}
	return result;
}

int device_files_list(const char *folder, visit *each, void *user)
{
	struct source source = { 0 };
	const char *rest, *below;
	const struct tree *tree = tree_of(folder, &rest);
	const struct file *file;

	if (!tree)
		return ENOENT;
	if (!*rest)
		return list_devices(tree, each, user);
	source.device = device_of(tree, rest, &below);
	file = source.device ? find_file(tree, below, &source.index) : NULL;
	return file && !file->write ? list_files(tree, file, &source, each, user) : ENOENT;
}
