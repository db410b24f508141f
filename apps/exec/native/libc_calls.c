/*
 * The functions of the C library, from the next library in the lookup order. The constructor looks
 * them up once. Earlier calls are made as system calls: another library's constructor may run
 * first, and a signal handler may run at any time, where dlsym must not be called.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libc_calls.h"

static struct {
	int (*open)(const char *, int, ...);
	int (*openat)(int, const char *, int, ...);
	int (*close)(int);
	int (*close_range)(unsigned int, unsigned int, int);
	int (*dup2)(int, int);
	int (*dup3)(int, int, int);
	int (*dup)(int);
	int (*pipe)(int *);
	int (*eventfd)(unsigned int, int);
	int (*epoll_create1)(int);
	int (*socket)(int, int, int);
	int (*socketpair)(int, int, int, int *);
	int (*accept)(int, struct sockaddr *, socklen_t *);
	int (*accept4)(int, struct sockaddr *, socklen_t *, int);
	ssize_t (*write)(int, const void *, size_t);
	int (*stat)(const char *, struct stat *);
	int (*lstat)(const char *, struct stat *);
	int (*fstat)(int, struct stat *);
	int (*fstatat)(int, const char *, struct stat *, int);
	int (*statx)(int, const char *, int, unsigned int, struct statx *);
	int (*access)(const char *, int);
	int (*faccessat)(int, const char *, int, int);
	FILE *(*fopen)(const char *, const char *);
	char *(*realpath)(const char *, char *);
} next;

#define FIND(name) (*(void **)&next.name = dlsym(RTLD_NEXT, #name))

__attribute__((constructor(101))) static void find_next(void)
{
	FIND(open);
	FIND(openat);
	FIND(close);
	FIND(close_range);	/* glibc 2.34 and newer */
	FIND(dup2);
	FIND(dup3);
	FIND(dup);
	FIND(pipe);
	FIND(eventfd);
	FIND(epoll_create1);
	FIND(socket);
	FIND(socketpair);
	FIND(accept);
	FIND(accept4);
	FIND(write);
	FIND(stat);		/* available as functions from glibc 2.33 on, like the next three */
	FIND(lstat);
	FIND(fstat);
	FIND(fstatat);
	FIND(statx);
	FIND(access);
	FIND(faccessat);
	FIND(fopen);
	FIND(realpath);
}

int libc_open(const char *path, int flags, mode_t mode)
{
	return next.open ? next.open(path, flags, mode) : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int libc_openat(int folder, const char *path, int flags, mode_t mode)
{
	return next.openat ? next.openat(folder, path, flags, mode) : (int)syscall(SYS_openat, folder, path, flags, mode);
}

int libc_close(int descriptor)
{
	return next.close ? next.close(descriptor) : (int)syscall(SYS_close, descriptor);
}

int libc_close_range(unsigned int first, unsigned int last, int flags)
{
#ifdef SYS_close_range
	return next.close_range ? next.close_range(first, last, flags) : (int)syscall(SYS_close_range, first, last, flags);
#else
	errno = ENOSYS;
	return next.close_range ? next.close_range(first, last, flags) : -1;
#endif
}

int libc_dup2(int descriptor, int wanted)
{
	return next.dup2 ? next.dup2(descriptor, wanted) : (int)syscall(SYS_dup3, descriptor, wanted, 0);
}

int libc_dup3(int descriptor, int wanted, int flags)
{
	return next.dup3 ? next.dup3(descriptor, wanted, flags) : (int)syscall(SYS_dup3, descriptor, wanted, flags);
}

int libc_socket(int domain, int type, int protocol)
{
	return next.socket ? next.socket(domain, type, protocol) : (int)syscall(SYS_socket, domain, type, protocol);
}

int libc_dup(int descriptor)
{
	return next.dup ? next.dup(descriptor) : (int)syscall(SYS_dup, descriptor);
}

int libc_pipe(int pair[2])
{
	return next.pipe ? next.pipe(pair) : (int)syscall(SYS_pipe2, pair, 0);
}

int libc_eventfd(unsigned int count, int flags)
{
	return next.eventfd ? next.eventfd(count, flags) : (int)syscall(SYS_eventfd2, count, flags);
}

int libc_epoll_create1(int flags)
{
	return next.epoll_create1 ? next.epoll_create1(flags) : (int)syscall(SYS_epoll_create1, flags);
}

int libc_socketpair(int domain, int type, int protocol, int pair[2])
{
	return next.socketpair ? next.socketpair(domain, type, protocol, pair)
			       : (int)syscall(SYS_socketpair, domain, type, protocol, pair);
}

int libc_accept(int descriptor, struct sockaddr *address, socklen_t *length)
{
	return next.accept ? next.accept(descriptor, address, length)
			   : (int)syscall(SYS_accept4, descriptor, address, length, 0);
}

int libc_accept4(int descriptor, struct sockaddr *address, socklen_t *length, int flags)
{
	return next.accept4 ? next.accept4(descriptor, address, length, flags)
			    : (int)syscall(SYS_accept4, descriptor, address, length, flags);
}

ssize_t libc_write(int descriptor, const void *buffer, size_t bytes)
{
	return next.write ? next.write(descriptor, buffer, bytes) : syscall(SYS_write, descriptor, buffer, bytes);
}

int libc_stat(const char *path, struct stat *result)
{
	return next.stat ? next.stat(path, result) : (int)syscall(SYS_newfstatat, AT_FDCWD, path, result, 0);
}

int libc_lstat(const char *path, struct stat *result)
{
	return next.lstat ? next.lstat(path, result)
			  : (int)syscall(SYS_newfstatat, AT_FDCWD, path, result, AT_SYMLINK_NOFOLLOW);
}

int libc_fstat(int descriptor, struct stat *result)
{
	return next.fstat ? next.fstat(descriptor, result)
			  : (int)syscall(SYS_newfstatat, descriptor, "", result, AT_EMPTY_PATH);
}

int libc_access(const char *path, int mode)
{
	return next.access ? next.access(path, mode) : (int)syscall(SYS_faccessat, AT_FDCWD, path, mode);
}

int libc_fstatat(int folder, const char *path, struct stat *result, int flags)
{
	return next.fstatat ? next.fstatat(folder, path, result, flags) : (int)syscall(SYS_newfstatat, folder, path, result, flags);
}

int libc_statx(int folder, const char *path, int flags, unsigned int mask, struct statx *result)
{
	return next.statx ? next.statx(folder, path, flags, mask, result) : (int)syscall(SYS_statx, folder, path, flags, mask, result);
}

int libc_faccessat(int folder, const char *path, int mode, int flags)
{
	/* The system call has no flags. */
	return next.faccessat ? next.faccessat(folder, path, mode, flags) : (int)syscall(SYS_faccessat, folder, path, mode);
}

FILE *libc_fopen(const char *path, const char *mode)
{
	if (!next.fopen)
		find_next();
	return next.fopen(path, mode);
}

char *libc_realpath(const char *path, char *resolved)
{
	if (!next.realpath)
		find_next();
	return next.realpath(path, resolved);
}
