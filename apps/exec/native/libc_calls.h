/*
 * The functions of the C library that this library interposes, taken from the next library in the
 * lookup order.
 */
#ifndef RDMA4J_LIBC_CALLS_H
#define RDMA4J_LIBC_CALLS_H

#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>

/*
 * Each behaves like its counterpart. They allocate nothing and take no lock, so that an interposed
 * function may be called whenever the original may: before constructors run, after fork, and in
 * signal handlers.
 */
int libc_open(const char *path, int flags, mode_t mode);
int libc_openat(int folder, const char *path, int flags, mode_t mode);
int libc_close(int descriptor);
int libc_close_range(unsigned int first, unsigned int last, int flags);
int libc_dup2(int descriptor, int wanted); /* for two different descriptors */
int libc_dup3(int descriptor, int wanted, int flags);
int libc_dup(int descriptor);
int libc_pipe(int pair[2]);
int libc_eventfd(unsigned int count, int flags);
int libc_epoll_create1(int flags);
int libc_socket(int domain, int type, int protocol);
int libc_socketpair(int domain, int type, int protocol, int pair[2]);
int libc_accept(int descriptor, struct sockaddr *address, socklen_t *length);
int libc_accept4(int descriptor, struct sockaddr *address, socklen_t *length, int flags);
ssize_t libc_write(int descriptor, const void *buffer, size_t bytes);
int libc_stat(const char *path, struct stat *result);
int libc_lstat(const char *path, struct stat *result);
int libc_fstat(int descriptor, struct stat *result);
int libc_fstatat(int folder, const char *path, struct stat *result, int flags);
int libc_statx(int folder, const char *path, int flags, unsigned int mask, struct statx *result);
int libc_access(const char *path, int mode);
int libc_faccessat(int folder, const char *path, int mode, int flags);

/*
 * These two allocate memory. They are looked up on the first call if the constructor has not run
 * yet.
 */
FILE *libc_fopen(const char *path, const char *mode);
char *libc_realpath(const char *path, char *resolved);

/* cm_file.c: opens the device file of the connection manager. Returns a descriptor, or -1 with errno. */
int cm_open(int flags);

/* Fills in the fields that stat returns for a character device. */
void describe_device(struct stat *result, dev_t device);

#endif
