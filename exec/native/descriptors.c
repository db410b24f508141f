/*
 * Descriptors of files, of which some numbers belong to Java. The program does not know them: daemons close all descriptors, and others
 * choose numbers for dup2. So the functions that close or replace descriptors leave those of Java alone, as if they were not open. They
 * end what Java does with a descriptor of the program, which may be another file afterwards.
 *
 * A descriptor is Java's if Java has called the function that creates it. Those that are not files get high numbers, which programs do
 * not choose.
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

/* The largest fs.nr_open of a usual system. The pages of numbers that are never used take no memory. */
#define DESCRIPTORS (1 << 20)

/* Java's sockets have numbers from this one on if the limit of the process admits it. */
#define FIRST_HIGH 512

/* The mark of each descriptor; see descriptors.h. */
static int marks[DESCRIPTORS];

/* The highest descriptor that ever had a mark; -1 before the first. */
static int highest = -1;

static pthread_once_t first_mark = PTHREAD_ONCE_INIT;
static pid_t owner;		/* the process whose descriptors have marks */
static int is_child;		/* of fork, which has a table of its own, but no Java: nothing is protected, and nothing has to be ended */

/* Java's sockets would keep their ports in use, after the end of the parent as well, while nobody reads from them. */
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

/* Marks a new descriptor as Java's, or as none if the program has created it. */
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

/* A new number for a file would end the locks that the process has on it. But a file must not become standard output. */
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

/* Whether the caller must leave a descriptor of this process alone. */
static int is_protected(int mark)
{
	return mark == MARK_JAVA && !is_child && !is_called_by_java();
}

/* Ends what Java does with a descriptor before it is closed or replaced. */
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
	/* A thread of the program calls Java by itself where the program ends the virtual machine, which then closes what it has open. */
	if (is_protected(mark) && !vm_has_code(__builtin_return_address(0))) {
		errno = EBADF;
		return -1;
	}
	release(descriptor);
	return libc_close(descriptor);
}

/* Closes all numbers of a range, without the system call for ranges if there is none. */
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

/* Returns 0, or -1 with the errno that dup2 has for a number that is just being opened. */
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
 * The functions by which Java creates descriptors. Its sockets are those of the kernel, also where another library makes the program's
 * sockets something else, as librspreload does: it knows a socket by its number, and passes calls for all others on.
 */

PUBLIC int socket(int domain, int type, int protocol)
{
	return created_high(is_called_by_java() ? (int)syscall(SYS_socket, domain, type, protocol)
						: libc_socket(domain, type, protocol));
}

/* The kernel takes the number of the new descriptor, a low one, before it waits for a connection. So Java waits before. */
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
