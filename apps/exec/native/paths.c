/*
 * Files that programs look for in addition to libibverbs: the device files in /dev/infiniband, and
 * the files in /sys/class/infiniband that UCX, NCCL, libibumad and others read. If the system has a
 * file, that one is used; other paths pass through. device_files.c has the contents.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "descriptors.h"
#include "device_files.h"
#include "libc_calls.h"
#include "library.h"

#define CM_FILE "/dev/infiniband/rdma_cm"

/* Returns whether a path may be one of this library's, and the caller is the program. */
static inline int may_be_ours(const char *path)
{
	return __builtin_expect(path && path[0] == '/' && (path[1] == 'd' || path[1] == 's'), 0) && !is_called_by_java();
}

/* Returns a descriptor of a file that the system lacks, or -1 with errno. */
static int open_ours(const char *path, int flags)
{
	char text[DEVICE_FILE_BYTES] = "";
	int error, file;

	switch (device_file_kind(path)) {
	case S_IFCHR:
		/* Opening it works, as a test of permissions, but it takes no commands. */
		return libc_open("/dev/null", flags & ~(O_CREAT | O_EXCL | O_TRUNC), 0);
	case S_IFREG:
		break;
	case S_IFDIR:
		errno = EISDIR;
		return -1;
	default:
		errno = ENOENT;
		return -1;
	}
	error = device_file_read(path, text);
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

static int open_path(int folder, const char *path, int flags, mode_t mode)
{
	int file;

	if (!may_be_ours(path))
		return descriptor_created(libc_openat(folder, path, flags, mode));
	if (!strcmp(path, CM_FILE))
		return cm_open(flags);
	file = libc_openat(folder, path, flags, mode);
	return file < 0 && errno == ENOENT ? open_ours(path, flags) : file;
}

/* Reads the mode that follows the flags, if they need one. */
#define MODE(flags, mode) \
	do { \
		if ((flags) & O_CREAT || ((flags) & O_TMPFILE) == O_TMPFILE) { \
			va_list arguments; \
\
			va_start(arguments, flags); \
			mode = va_arg(arguments, mode_t); \
			va_end(arguments); \
		} \
	} while (0)

PUBLIC int open(const char *path, int flags, ...)
{
	mode_t mode = 0;

	MODE(flags, mode);
	return open_path(AT_FDCWD, path, flags, mode);
}

PUBLIC int open64(const char *path, int flags, ...) __attribute__((alias("open")));

PUBLIC int openat(int folder, const char *path, int flags, ...)
{
	mode_t mode = 0;

	MODE(flags, mode);
	return open_path(folder, path, flags, mode);
}

PUBLIC int openat64(int folder, const char *path, int flags, ...) __attribute__((alias("openat")));

/* Programs compiled with _FORTIFY_SOURCE call these. */
PUBLIC int __open_2(const char *path, int flags)
{
	return open_path(AT_FDCWD, path, flags, 0);
}

PUBLIC int __open64_2(const char *path, int flags) __attribute__((alias("__open_2")));

PUBLIC int __openat_2(int folder, const char *path, int flags)
{
	return open_path(folder, path, flags, 0);
}

PUBLIC int __openat64_2(int folder, const char *path, int flags) __attribute__((alias("__openat_2")));

PUBLIC FILE *fopen(const char *path, const char *mode)
{
	FILE *stream = libc_fopen(path, mode);
	int file;

	if (__builtin_expect(stream != NULL, 1) || errno != ENOENT || !may_be_ours(path) || mode[0] != 'r')
		return stream;
	file = open_path(AT_FDCWD, path, strchr(mode, '+') ? O_RDWR : O_RDONLY, 0);
	if (file < 0)
		return NULL;
	stream = fdopen(file, mode);
	if (!stream)
		libc_close(file);
	return stream;
}

PUBLIC FILE *fopen64(const char *path, const char *mode) __attribute__((alias("fopen")));

/*
 * Returns the inode number by which programs recognize a file: a hash of its path (FNV-1a) without
 * trailing slashes.
 */
static ino_t number_of(const char *path)
{
	size_t length = strlen(path);
	uint64_t hash = 0xcbf29ce484222325;

	while (length > 1 && path[length - 1] == '/')
		length--;
	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)path[i]) * 0x100000001b3;
	return hash;
}

/* Fills in the result of stat. Returns -1 with ENOENT if this library has no such file. */
static int describe(const char *path, struct stat *result)
{
	mode_t type = strcmp(path, CM_FILE) ? device_file_kind(path) : S_IFCHR;

	errno = ENOENT;
	if (!type)
		return -1;
	memset(result, 0, sizeof(*result));
	if (type == S_IFCHR) {
		describe_device(result, 0);
	} else {
		result->st_mode = type == S_IFDIR ? S_IFDIR | 0555 : S_IFREG | 0444;
		result->st_nlink = type == S_IFDIR ? 2 : 1;
		result->st_ino = number_of(path);
		result->st_size = type == S_IFDIR ? 0 : DEVICE_FILE_BYTES;
	}
	return 0;
}

/* Returns whether the path of a failed call may be one of this library's. */
static int is_missing(const char *path, int result)
{
	return __builtin_expect(result, 0) && errno == ENOENT && may_be_ours(path);
}

PUBLIC int stat(const char *path, struct stat *result)
{
	int error = libc_stat(path, result);

	return is_missing(path, error) ? describe(path, result) : error;
}

PUBLIC int stat64(const char *path, struct stat64 *result) __attribute__((alias("stat"), nothrow));

PUBLIC int lstat(const char *path, struct stat *result)
{
	int error = libc_lstat(path, result);

	return is_missing(path, error) ? describe(path, result) : error;
}

PUBLIC int lstat64(const char *path, struct stat64 *result) __attribute__((alias("lstat"), nothrow));

PUBLIC int fstatat(int folder, const char *path, struct stat *result, int flags)
{
	int error = libc_fstatat(folder, path, result, flags);

	return is_missing(path, error) ? describe(path, result) : error;
}

PUBLIC int fstatat64(int folder, const char *path, struct stat64 *result, int flags) __attribute__((alias("fstatat"), nothrow));

PUBLIC int statx(int folder, const char *path, int flags, unsigned int mask, struct statx *result)
{
	int error = libc_statx(folder, path, flags, mask, result);
	struct stat status;

	if (!is_missing(path, error) || describe(path, &status))
		return error;
	memset(result, 0, sizeof(*result));
	result->stx_mask = STATX_TYPE | STATX_MODE | STATX_NLINK | STATX_INO | STATX_SIZE;
	result->stx_mode = (uint16_t)status.st_mode;
	result->stx_nlink = (uint32_t)status.st_nlink;
	result->stx_ino = status.st_ino;
	result->stx_size = (uint64_t)status.st_size;
	return 0;
}

/* Programs built against glibc before 2.33 call these. */
PUBLIC int __xstat(int version, const char *path, struct stat *result)
{
	(void)version;
	return stat(path, result);
}

PUBLIC int __xstat64(int version, const char *path, struct stat64 *result) __attribute__((alias("__xstat"), nothrow));

PUBLIC int __lxstat(int version, const char *path, struct stat *result)
{
	(void)version;
	return lstat(path, result);
}

PUBLIC int __lxstat64(int version, const char *path, struct stat64 *result) __attribute__((alias("__lxstat"), nothrow));

PUBLIC int __fxstatat(int version, int folder, const char *path, struct stat *result, int flags)
{
	(void)version;
	return fstatat(folder, path, result, flags);
}

PUBLIC int __fxstatat64(int version, int folder, const char *path, struct stat64 *result, int flags)
	__attribute__((alias("__fxstatat"), nothrow));

/* Checks the permissions for a file that the system lacks. */
static int check_access(const char *path, int mode)
{
	struct stat status;

	if (describe(path, &status))
		return -1;
	if (mode & X_OK && !S_ISDIR(status.st_mode))
		errno = EACCES;
	else if (mode & W_OK && !S_ISCHR(status.st_mode))
		errno = EROFS;
	else
		return 0;
	return -1;
}

PUBLIC int access(const char *path, int mode)
{
	int error = libc_access(path, mode);

	return is_missing(path, error) ? check_access(path, mode) : error;
}

PUBLIC int faccessat(int folder, const char *path, int mode, int flags)
{
	int error = libc_faccessat(folder, path, mode, flags);

	return is_missing(path, error) ? check_access(path, mode) : error;
}

PUBLIC int euidaccess(const char *path, int mode)
{
	int error = libc_faccessat(AT_FDCWD, path, mode, AT_EACCESS);

	return is_missing(path, error) ? check_access(path, mode) : error;
}

PUBLIC int eaccess(const char *path, int mode) __attribute__((alias("euidaccess"), nothrow));

/* There are no links: the path of a file of this library is its real path. */
PUBLIC char *realpath(const char *path, char *resolved)
{
	char *result = libc_realpath(path, resolved);
	struct stat status;

	if (!is_missing(path, !result) || describe(path, &status))
		return result;
	if (!resolved)
		return strdup(path);
	return strlen(path) < PATH_MAX ? strcpy(resolved, path) : NULL;
}

PUBLIC char *__realpath_chk(const char *path, char *resolved, size_t bytes)
{
	if (bytes < PATH_MAX)
		abort();
	return realpath(path, resolved);
}

PUBLIC char *canonicalize_file_name(const char *path)
{
	return realpath(path, NULL);
}
