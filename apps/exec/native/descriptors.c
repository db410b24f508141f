/*
 * File descriptors, some of which belong to Java. The program does not know about those: daemons
 * close all descriptors, and others choose numbers for dup2. Therefore the functions that close or
 * replace descriptors skip those of Java as if they were not open. Before they close or replace a
 * descriptor of the program that Java uses, they end that use, because the number may soon be
 * another file.
 *
 * A descriptor is Java's if Java has called the function that created it. Those that are not files
 * get high numbers, which programs do not choose (decision 058).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "descriptors.h"
#include "libc_calls.h"
#include "library.h"

/* The default fs.nr_open. Pages for numbers that are never used take no memory. */
#define DESCRIPTORS (1 << 20)

/* The lowest number for Java's sockets, if the limit of the process permits it. */
#define FIRST_HIGH 512

/* The mark of each descriptor; see descriptors.h. */
static int marks[DESCRIPTORS];

/* The highest descriptor that has ever had a mark; -1 before the first. */
static int highest = -1;

static pthread_once_t first_mark = PTHREAD_ONCE_INIT;
static pid_t owner;		/* the process whose descriptors have marks */
/* Set in a child of fork, which has its own table but no Java: it protects and releases nothing. */
static int is_child;

/*
 * Closes Java's sockets in the child. Nobody reads from them there, and they would keep their ports
 * in use even after the parent has ended.
 */
static void note_child(void)
{
	is_child = 1;
	for (int descriptor = 0; descriptor <= highest; descriptor++) {
		if (marks[descriptor] == MARK_JAVA) {
			marks[descriptor] = 0;
			libc_close(descriptor);
		}
	}
}

static void prepare(void)
{
	owner = getpid();
	pthread_atfork(NULL, NULL, note_child);
}

int descriptors_are_of_parent(void)
{
	return !is_child && getpid() != owner;
}

int descriptor_mark(int descriptor)
{
	return (unsigned int)descriptor < DESCRIPTORS ? __atomic_load_n(&marks[descriptor], __ATOMIC_ACQUIRE) : 0;
}

static void raise_highest(int descriptor)
{
	int known = __atomic_load_n(&highest, __ATOMIC_RELAXED);

	while (known < descriptor &&
	       !__atomic_compare_exchange_n(&highest, &known, descriptor, 1, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
}

int descriptor_set_mark(int descriptor, int mark)
{
	if ((unsigned int)descriptor >= DESCRIPTORS)
		return EMFILE;
	pthread_once(&first_mark, prepare);
	raise_highest(descriptor);
	__atomic_store_n(&marks[descriptor], mark, __ATOMIC_RELEASE);
	return 0;
}

/* Marks a new descriptor as Java's, or clears the mark if the program has created it. */
static int mark_created(int descriptor)
{
	if (is_called_by_java() && descriptor >= 0)
		descriptor_set_mark(descriptor, MARK_JAVA);
	else if (__builtin_expect(descriptor_mark(descriptor), 0) && !descriptors_are_of_parent())
		descriptor_set_mark(descriptor, 0);
	return descriptor;
}

static int created_high(int descriptor)
{
	int high = is_called_by_java() && descriptor >= 0 ? fcntl(descriptor, F_DUPFD_CLOEXEC, FIRST_HIGH) : -1;

	if (high < 0)
		return mark_created(descriptor);
	libc_close(descriptor);
	return mark_created(high);
}

/*
 * A file keeps its number, because changing it would release the locks that the process has on the
 * file. But a file must not become a standard stream.
 */
int descriptor_created(int descriptor)
{
	return descriptor <= STDERR_FILENO ? created_high(descriptor) : mark_created(descriptor);
}

static int created_high_pair(int error, int pair[2])
{
	for (int i = 0; !error && i < 2; i++)
		pair[i] = created_high(pair[i]);
	return error;
}

int event_descriptor(int flags)
{
	int descriptor = libc_eventfd(0, flags);

	if (descriptor >= 0 && descriptor_set_mark(descriptor, MARK_EVENT)) {
		libc_close(descriptor);
		errno = EMFILE;
		return -1;
	}
	return descriptor;
}

/* Returns whether the caller must not touch a descriptor of this process. */
static int is_protected(int mark)
{
	return mark == MARK_JAVA && !is_child && !is_called_by_java();
}

/* Ends Java's use of a descriptor before it is closed or replaced. */
static void release(int descriptor)
{
	int mark = __atomic_exchange_n(&marks[descriptor], 0, __ATOMIC_ACQ_REL);
	int before = errno;

	if (mark > 0 && !is_child)
		cm_close(mark);
	errno = before;
}

PUBLIC int close(int descriptor)
{
	int mark = descriptor_mark(descriptor);

	if (__builtin_expect(!mark, 1) || descriptors_are_of_parent())
		return libc_close(descriptor);
	/*
	 * A program that destroys the virtual machine runs its code without java_enter. The virtual
	 * machine may then close its own descriptors.
	 */
	if (is_protected(mark) && !vm_has_code(__builtin_return_address(0))) {
		errno = EBADF;
		return -1;
	}
	release(descriptor);
	return libc_close(descriptor);
}

/* Closes all numbers in a range, also on kernels without the system call for ranges. */
static int close_all(unsigned int first, unsigned int last, int flags)
{
	unsigned int end = (unsigned int)sysconf(_SC_OPEN_MAX);

	if (first > last || !libc_close_range(first, last, flags))
		return 0;
	if (errno != ENOSYS || flags)
		return -1;
	for (unsigned int descriptor = first; descriptor <= last && descriptor < end; descriptor++)
		libc_close((int)descriptor);
	return 0;
}

static int close_other_than_java(unsigned int first, unsigned int last, int flags)
{
	int end = __atomic_load_n(&highest, __ATOMIC_ACQUIRE);
	int error = 0;

	for (unsigned int descriptor = first; !error && descriptor <= last && (int)descriptor <= end; descriptor++) {
		int mark = descriptor_mark((int)descriptor);

		if (is_protected(mark)) {
			error = descriptor > first ? close_all(first, descriptor - 1, flags) : 0;
			first = descriptor + 1;
		} else if (mark) {
			release((int)descriptor);
		}
	}
	return error ? error : close_all(first, last, flags);
}

PUBLIC int close_range(unsigned int first, unsigned int last, int flags)
{
	if (flags & 4 /* CLOSE_RANGE_CLOEXEC */ || first > last || descriptors_are_of_parent())
		return libc_close_range(first, last, flags);
	return close_other_than_java(first, last, flags);
}

PUBLIC void closefrom(int first)
{
	unsigned int from = first < 0 ? 0 : (unsigned int)first;

	if (descriptors_are_of_parent())
		close_all(from, ~0U, 0);
	else
		close_other_than_java(from, ~0U, 0);
}

/* Returns 0, or -1 with the errno that dup2 sets for a number that is just being opened. */
static int prepare_replacement(int descriptor, int wanted)
{
	int mark = descriptor_mark(wanted);

	if (__builtin_expect(!mark, 1) || descriptor == wanted || descriptors_are_of_parent() || fcntl(descriptor, F_GETFD) < 0)
		return 0;
	if (is_protected(mark)) {
		errno = EBUSY;
		return -1;
	}
	if (mark != MARK_JAVA || is_child)
		release(wanted);
	return 0;
}

PUBLIC int dup3(int descriptor, int wanted, int flags)
{
	return prepare_replacement(descriptor, wanted) ? -1 : libc_dup3(descriptor, wanted, flags);
}

PUBLIC int dup2(int descriptor, int wanted)
{
	if (descriptor == wanted)
		return fcntl(descriptor, F_GETFD) < 0 ? -1 : wanted;
	return prepare_replacement(descriptor, wanted) ? -1 : libc_dup2(descriptor, wanted);
}

/*
 * The functions with which Java creates descriptors. Its sockets are kernel sockets, even where
 * another library such as librspreload replaces the program's sockets: that library knows a socket
 * by its number, and passes calls for all others on.
 */

PUBLIC int socket(int domain, int type, int protocol)
{
	return created_high(is_called_by_java() ? (int)syscall(SYS_socket, domain, type, protocol)
						: libc_socket(domain, type, protocol));
}

/*
 * The kernel allocates the number of the new descriptor, a low one, before it waits for a
 * connection. Therefore Java waits first.
 */
static int accept_for_java(int descriptor, struct sockaddr *address, socklen_t *length, int flags)
{
	struct pollfd wait = { .fd = descriptor, .events = POLLIN };
	int status = fcntl(descriptor, F_GETFL);

	if (status >= 0 && !(status & O_NONBLOCK) && poll(&wait, 1, -1) < 0)
		return -1;
	return created_high((int)syscall(SYS_accept4, descriptor, address, length, flags));
}

PUBLIC int accept4(int descriptor, struct sockaddr *address, socklen_t *length, int flags)
{
	return is_called_by_java() ? accept_for_java(descriptor, address, length, flags)
				   : created_high(libc_accept4(descriptor, address, length, flags));
}

PUBLIC int accept(int descriptor, struct sockaddr *address, socklen_t *length)
{
	return is_called_by_java() ? accept_for_java(descriptor, address, length, 0)
				   : created_high(libc_accept(descriptor, address, length));
}

PUBLIC int socketpair(int domain, int type, int protocol, int pair[2])
{
	return created_high_pair(libc_socketpair(domain, type, protocol, pair), pair);
}

PUBLIC int pipe(int pair[2])
{
	return created_high_pair(libc_pipe(pair), pair);
}

PUBLIC int dup(int descriptor)
{
	return created_high(libc_dup(descriptor));
}

PUBLIC int eventfd(unsigned int count, int flags)
{
	return created_high(libc_eventfd(count, flags));
}

PUBLIC int epoll_create1(int flags)
{
	return created_high(libc_epoll_create1(flags));
}

PUBLIC int inotify_init(void)
{
	return created_high((int)syscall(SYS_inotify_init1, 0));
}

PUBLIC int memfd_create(const char *name, unsigned int flags)
{
	return created_high((int)syscall(SYS_memfd_create, name, flags));
}
