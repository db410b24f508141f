/*
 * Files that programs look for beside libibverbs. /dev/infiniband has the device files, and /sys/class/infiniband what UCX, NCCL
 * and others read about GIDs. A file of the system comes first, and another path is none of this library.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "descriptors.h"
#include "libc_calls.h"
#include "library.h"
#include "verbs_abi.h"

#define DEVICE_FILES "/dev/infiniband/"
#define CM_FILE "/dev/infiniband/rdma_cm"
#define VERBS_FILES "/dev/infiniband/uverbs"
#define ATTRIBUTES "/sys/class/infiniband"
#define ATTRIBUTE_BYTES 64
#define NAME_BEGINNING "rdma4j_" /* of a software device; the files of any other one are the system's */

static int begins_with(const char *path, const char *beginning)
{
	return !strncmp(path, beginning, strlen(beginning));
}

/*
 * Returns the device with a name, or with a name of its device file; NULL if there is none. The device stays there.
 *
 * It does not start Java to look for a device of hardware: libpsm2 does so in its constructor, where the dynamic linker lets no other
 * thread load a library.
 */
static struct ibv_device *find_device(const char *name, const char *file)
{
	struct ibv_device *found = NULL;
	struct ibv_device **list;

	if (name && !begins_with(name, NAME_BEGINNING))
		return NULL;
	list = ibv_get_device_list(NULL);
	for (int i = 0; list && list[i] && !found; i++) {
		if (name ? !strcmp(list[i]->name, name) : !strcmp(list[i]->dev_name, file))
			found = list[i];
	}
	if (list)
		ibv_free_device_list(list);
	return found;
}

/* Attributes of ports. Each function writes a line. It returns 0 or an errno. */

static int write_type(const struct ibv_gid_entry *entry, char *text)
{
	strcpy(text, entry->gid_type == IBV_GID_TYPE_ROCE_V2 ? "RoCE v2\n" : "IB/RoCE v1\n");
	return 0;
}

static int write_interface(const struct ibv_gid_entry *entry, char *text)
{
	char name[IF_NAMESIZE];

	if (!if_indextoname(entry->ndev_ifindex, name))
		return errno;
	snprintf(text, ATTRIBUTE_BYTES, "%s\n", name);
	return 0;
}

static int write_gid(const struct ibv_gid_entry *entry, char *text)
{
	for (int i = 0; i < 16; i += 2)
		text += sprintf(text, "%02x%02x%c", entry->gid.raw[i], entry->gid.raw[i + 1], i < 14 ? ':' : '\n');
	return 0;
}

static const struct {
	const char *folder;
	int (*write)(const struct ibv_gid_entry *, char *);
} gid_attributes[] = {
	{ "gid_attrs/types", write_type },
	{ "gid_attrs/ndevs", write_interface },
	{ "gids", write_gid },
};

static int read_gid_attribute(struct ibv_context *context, unsigned int port, const char *rest, char *text)
{
	for (size_t i = 0; i < sizeof(gid_attributes) / sizeof(*gid_attributes); i++) {
		const char *folder = gid_attributes[i].folder;
		struct ibv_gid_entry entry = { 0 };
		unsigned int index;
		int end = 0;
		int error;

		if (!begins_with(rest, folder) || sscanf(rest + strlen(folder), "/%u%n", &index, &end) != 1 ||
		    rest[strlen(folder) + end])
			continue;
		error = (int)_ibv_query_gid_ex(context, port, index, &entry, 0, sizeof(entry));
		/* As in the kernel, an empty entry has a GID of zeros, and its other attributes cannot be read. */
		if (error == ENODATA)
			error = gid_attributes[i].write == write_gid ? 0 : EINVAL;
		return error ? error : gid_attributes[i].write(&entry, text);
	}
	return ENOENT;
}

/* Reads a file below the folder of a port. Returns 0, or an errno: ENOENT if there is no such file. */
static int read_attribute(const char *path, char *text)
{
	char name[IBV_SYSFS_NAME_MAX];
	struct ibv_device *device;
	struct ibv_context *context;
	unsigned int port;
	int rest = 0;
	int error;

	if (sscanf(path, ATTRIBUTES "/%63[^/]/ports/%u/%n", name, &port, &rest) != 2 || !rest)
		return ENOENT;
	device = find_device(name, NULL);
	if (!device)
		return ENOENT;
	if (!strcmp(path + rest, "link_layer")) {
		strcpy(text, "Ethernet\n");
		return 0;
	}
	context = ibv_open_device(device);
	if (!context)
		return errno;
	error = read_gid_attribute(context, port, path + rest, text);
	ibv_close_device(context);
	return error;
}

/* Returns a descriptor of an attribute's text, or -1 with errno. */
static int open_attribute(const char *path, int flags)
{
	char text[ATTRIBUTE_BYTES] = "";
	int error = read_attribute(path, text);
	int file;

	if (error) {
		errno = error;
		return -1;
	}
	file = memfd_create("attribute", flags & O_CLOEXEC ? MFD_CLOEXEC : 0);
	if (file < 0)
		return -1;
	if (libc_write(file, text, strlen(text)) < 0 || lseek(file, 0, SEEK_SET) < 0) {
		libc_close(file);
		return -1;
	}
	return file;
}

static int open_path(const char *path, int flags, mode_t mode)
{
	int file;

	if (__builtin_expect(!path || path[0] != '/' || (path[1] != 'd' && path[1] != 's'), 1) || is_called_by_java())
		return descriptor_created(libc_open(path, flags, mode));
	if (!strcmp(path, CM_FILE))
		return cm_open(flags);
	file = libc_open(path, flags, mode);
	if (file >= 0 || errno != ENOENT || !begins_with(path, ATTRIBUTES "/"))
		return file;
	return open_attribute(path, flags);
}

PUBLIC int open(const char *path, int flags, ...)
{
	mode_t mode = 0;

	if (flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE) {
		va_list arguments;

		va_start(arguments, flags);
		mode = va_arg(arguments, mode_t);
		va_end(arguments);
	}
	return open_path(path, flags, mode);
}

PUBLIC int open64(const char *path, int flags, ...) __attribute__((alias("open")));

/* What programs call that were compiled with _FORTIFY_SOURCE. */
PUBLIC int __open_2(const char *path, int flags)
{
	return open_path(path, flags, 0);
}

PUBLIC int __open64_2(const char *path, int flags) __attribute__((alias("__open_2")));

/* Returns the kind of a file that the system has not: S_IFCHR, S_IFDIR, or 0 if this library has none either. */
static mode_t kind(const char *path)
{
	if (!path || is_called_by_java())
		return 0;
	if (!strcmp(path, CM_FILE))
		return S_IFCHR;
	if (begins_with(path, VERBS_FILES))
		return find_device(NULL, path + strlen(DEVICE_FILES)) ? S_IFCHR : 0;
	if (begins_with(path, ATTRIBUTES "/"))
		return find_device(path + strlen(ATTRIBUTES "/"), NULL) ? S_IFDIR : 0;
	return strcmp(path, ATTRIBUTES) ? 0 : S_IFDIR;
}

static int describe(const char *path, struct stat *result)
{
	mode_t type = kind(path);

	if (!type)
		return -1;
	memset(result, 0, sizeof(*result));
	if (type == S_IFCHR)
		describe_device(result, 0);
	else
		result->st_mode = S_IFDIR | 0555;
	return 0;
}

/* Whether a failed function has to look at the path. */
static int is_missing(const char *path, int result)
{
	return __builtin_expect(result, 0) && errno == ENOENT && path[0] == '/' && (path[1] == 'd' || path[1] == 's');
}

/* Calls of this library must not change errno if they find nothing. */
static int describe_missing(const char *path, struct stat *stat)
{
	int result = describe(path, stat);

	errno = ENOENT;
	return result;
}

PUBLIC int stat(const char *path, struct stat *result)
{
	int error = libc_stat(path, result);

	return is_missing(path, error) ? describe_missing(path, result) : error;
}

PUBLIC int stat64(const char *path, struct stat64 *result) __attribute__((alias("stat"), nothrow));

PUBLIC int lstat(const char *path, struct stat *result)
{
	int error = libc_lstat(path, result);

	return is_missing(path, error) ? describe_missing(path, result) : error;
}

PUBLIC int lstat64(const char *path, struct stat64 *result) __attribute__((alias("lstat"), nothrow));

/* What programs call that were compiled with glibc before 2.33. */
PUBLIC int __xstat(int version, const char *path, struct stat *result)
{
	(void)version;
	return stat(path, result);
}

PUBLIC int __xstat64(int version, const char *path, struct stat64 *result) __attribute__((alias("__xstat"), nothrow));

PUBLIC int access(const char *path, int mode)
{
	struct stat ignored;
	int error = libc_access(path, mode);

	return is_missing(path, error) ? describe_missing(path, &ignored) : error;
}
