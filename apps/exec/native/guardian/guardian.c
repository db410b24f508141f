/*
 * The guardian of a process: waits until the process ends, and then disconnects the peers of its
 * connections, as a kernel would (decision 054).
 *
 * usage: rdma4j-guardian PID TABLE PROCESS IMAGE
 *
 * It inherits three descriptors: TABLE, the file with the connections; PROCESS, a pidfd of the
 * process, or -1; IMAGE, one end of a pipe whose other end is closed when the process ends or
 * becomes another program by exec. It is not a child of the process, and has a session of its own,
 * so that no signal to the process or its group reaches it. It blocks all signals, because systemd
 * ends all processes of a service together; it ends soon after its process.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The format of the file. io.rdma4j.sharing.CrashDisconnectFormat has the same numbers. */
enum { MAGIC = 0x52344344, VERSION = 1, MAX_RECORDS = 1 << 16 };
enum state { FREE, ESTABLISHED, TAKEN };

struct header {
	uint32_t magic;
	uint32_t version;
	uint32_t count;
	uint32_t unused[13];
};

struct record {
	uint32_t state;
	uint32_t local_id;
	uint32_t local_queue_pair;
	uint32_t remote_id;
	uint32_t remote_queue_pair;
	uint32_t traffic_class;
	uint32_t scope;
	uint32_t unused;
	struct in6_addr local;
	struct in6_addr remote;
};

#define TABLE_BYTES ((MAX_RECORDS + 1) * sizeof(struct record))

/* A packet to queue pair 1: BTH, DETH, a management datagram and the ICRC. */
enum { ROCE_PORT = 4791, BTH_BYTES = 12, DETH_BYTES = 8, MAD_BYTES = 256, ICRC_BYTES = 4 };
enum { MAD_AT = BTH_BYTES + DETH_BYTES, ICRC_AT = MAD_AT + MAD_BYTES, FRAME_BYTES = ICRC_AT + ICRC_BYTES };
enum { UD_SEND_ONLY = 0x64, GSI_QUEUE_PAIR = 1, GSI_QUEUE_KEY = 0x80010000, PARTITION_KEY = 0xffff };
enum { CM_CLASS = 7, CM_CLASS_VERSION = 2, MAD_SEND = 3, ATTRIBUTE_DREQ = 0x15, ATTRIBUTE_DREP = 0x16 };
enum { MAD_ATTRIBUTE_AT = MAD_AT + 16, MAD_LOCAL_ID_AT = MAD_AT + 24, MAD_REMOTE_ID_AT = MAD_AT + 28 };

/* The pause after each try. The next try sends the message again to peers that have not replied. */
static const int pauses_millis[] = { 100, 200, 400, 800 };
#define TRIES (int)(sizeof(pauses_millis) / sizeof(*pauses_millis))

/*
 * After this many tries, port 4791 is left to a new process that has the address and may be waiting
 * for the port. Replies no longer arrive here after that.
 */
#define TRIES_AT_PORT 2

/* Messages are sent in groups, so that the replies of thousands of peers do not arrive together. */
enum { GROUP = 16, GROUP_MILLIS = 1 };

/* The maximum number of packets received in a row: others may still send data to the process. */
enum { RECEIVE_LIMIT = 256 };

#define IMAGE_CHECK_MILLIS 1000

/* The socket of a local address. */
struct sender {
	struct in6_addr address;
	uint32_t scope;
	int descriptor;		/* -1: the address cannot be used */
	uint16_t port;
	struct sender *next;
};

static struct record *records;
static struct record **pending;	/* the records that this process has taken, by local_id */
static size_t pending_count;
static struct sender *senders;

/* Waiting for the end */

static void close_between(unsigned int first, unsigned int end)
{
	unsigned int limit = (unsigned int)sysconf(_SC_OPEN_MAX);

	if (first >= end)
		return;
#ifdef SYS_close_range
	if (!syscall(SYS_close_range, first, end - 1, 0))
		return;
#endif
	for (unsigned int descriptor = first; descriptor < end && descriptor < limit; descriptor++)
		close((int)descriptor);
}

/* Closes all other descriptors, including the program's output: others may wait for its end. */
static void keep_descriptors(const int *kept, int count)
{
	unsigned int first = 0;

	for (;;) {
		unsigned int next = UINT_MAX;

		for (int i = 0; i < count; i++) {
			if (kept[i] >= 0 && (unsigned int)kept[i] >= first && (unsigned int)kept[i] < next)
				next = (unsigned int)kept[i];
		}
		close_between(first, next);
		if (next == UINT_MAX)
			return;
		first = next + 1;
	}
}

static struct record *map_table(int descriptor)
{
	const struct header *header;
	struct stat status;

	if (fstat(descriptor, &status) || status.st_size < (off_t)TABLE_BYTES)
		return NULL;
	header = mmap(NULL, TABLE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
	if (header == MAP_FAILED || header->magic != MAGIC || header->version != VERSION)
		return NULL;
	return (struct record *)header + 1;
}

/* Returns whether the process still maps the table, and so is still the same program. */
static int has_table(const char *pid)
{
	char path[64];
	char *line = NULL;
	size_t capacity = 0;
	int found = 0;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%s/maps", pid);
	maps = fopen(path, "re");
	if (!maps)
		return 1;	/* cannot be determined */
	while (!found && getline(&line, &capacity, maps) > 0)
		found = strstr(line, "/disconnects-") != NULL;
	free(line);
	fclose(maps);
	return found;
}

/*
 * Returns when the process has ended or become another program. When a process ends, its pipe
 * closes first; the pipe also closes in a process that closes all of its descriptors.
 */
static void await_end(const char *pid, int process, int image)
{
	struct pollfd events[] = { { .fd = process, .events = POLLIN }, { .fd = image } };
	int millis = -1;

	for (;;) {
		int ready = poll(events, 2, millis);

		if (ready < 0 && errno != EINTR && errno != ENOMEM)
			return;
		if (ready <= 0 && millis < 0)
			continue;
		if (process < 0 || events[0].revents || !has_table(pid))
			return;
		if (events[1].fd < 0)
			continue;
		events[1].fd = -1;
		millis = IMAGE_CHECK_MILLIS;
	}
}

/* Sending */

static uint32_t crc_update(uint32_t crc, const uint8_t *bytes, size_t count)
{
	while (count--) {
		crc ^= *bytes++;
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (0xedb88320 & -(crc & 1));
	}
	return crc;
}

static uint8_t *put16(uint8_t *at, uint16_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
	return at + 2;
}

static uint8_t *put32(uint8_t *at, uint32_t value)
{
	return put16(put16(at, (uint16_t)(value >> 16)), (uint16_t)value);
}

static uint32_t get32(const uint8_t *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/*
 * The IP and UDP headers for the ICRC: fields that routers change are ones. Returns their length.
 */
static size_t masked_headers(uint8_t *out, const struct record *record, uint16_t port)
{
	uint16_t udp_bytes = 8 + FRAME_BYTES;
	uint8_t *at = out;

	memset(at, 0xff, 8);
	at += 8;
	if (IN6_IS_ADDR_V4MAPPED(&record->local)) {
		at = put16(at, 0x45ff);
		at = put16(at, 20 + udp_bytes);
		at = put32(at, 0x00004000);	/* identification 0, do not fragment */
		at = put16(at, 0xff00 | IPPROTO_UDP);
		at = put16(at, 0xffff);
		memcpy(at, &record->local.s6_addr[12], 4);
		memcpy(at + 4, &record->remote.s6_addr[12], 4);
		at += 8;
	} else {
		at = put32(at, 0x6fffffff);
		at = put16(at, udp_bytes);
		at = put16(at, IPPROTO_UDP << 8 | 0xff);
		memcpy(at, &record->local, 16);
		memcpy(at + 16, &record->remote, 16);
		at += 32;
	}
	at = put16(at, port);
	at = put16(at, ROCE_PORT);
	at = put16(at, udp_bytes);
	return put16(at, 0xffff) - out;
}

static void write_frame(uint8_t *frame, const struct record *record, uint16_t port)
{
	static uint32_t psn;
	uint8_t headers[64];
	uint8_t masked[BTH_BYTES];
	uint32_t crc;
	uint8_t *at = frame;

	memset(frame, 0, FRAME_BYTES);
	at = put16(at, UD_SEND_ONLY << 8);
	at = put16(at, PARTITION_KEY);
	at = put32(at, GSI_QUEUE_PAIR);
	at = put32(at, psn++ & 0xffffff);
	at = put32(at, GSI_QUEUE_KEY);
	at = put32(at, GSI_QUEUE_PAIR);
	*at++ = 1;
	*at++ = CM_CLASS;
	*at++ = CM_CLASS_VERSION;
	*at++ = MAD_SEND;
	at = put32(at, 0);
	at = put32(at, record->local_id);	/* transaction */
	at = put32(at, ATTRIBUTE_DREQ);
	at = put16(at, ATTRIBUTE_DREQ);
	at += 6;
	at = put32(at, record->local_id);
	at = put32(at, record->remote_id);
	put32(at, record->remote_queue_pair << 8);

	memcpy(masked, frame, BTH_BYTES);
	masked[4] = 0xff;
	crc = crc_update(~0U, headers, masked_headers(headers, record, port));
	crc = crc_update(crc, masked, BTH_BYTES);
	crc = ~crc_update(crc, frame + BTH_BYTES, ICRC_AT - BTH_BYTES);
	for (int i = 0; i < ICRC_BYTES; i++)
		frame[ICRC_AT + i] = (uint8_t)(crc >> 8 * i);
}

/* Fills in the socket address of an address in GID form. Returns its length. */
static socklen_t socket_address(struct sockaddr_in6 *out, const struct in6_addr *address, uint32_t scope, uint16_t port)
{
	struct sockaddr_in *ipv4 = (struct sockaddr_in *)out;

	memset(out, 0, sizeof(*out));
	if (IN6_IS_ADDR_V4MAPPED(address)) {
		ipv4->sin_family = AF_INET;
		ipv4->sin_port = htons(port);
		memcpy(&ipv4->sin_addr, &address->s6_addr[12], 4);
		return sizeof(*ipv4);
	}
	out->sin6_family = AF_INET6;
	out->sin6_port = htons(port);
	out->sin6_addr = *address;
	out->sin6_scope_id = IN6_IS_ADDR_LINKLOCAL(address) ? scope : 0;
	return sizeof(*out);
}

/*
 * Opens a socket at the port to which peers reply, or at any other port if another process of the
 * address has that one. The ICRC covers the identification of IPv4 packets, which is 0 if they must
 * not be fragmented.
 */
static void open_sender(struct sender *sender, int may_have_port)
{
	struct sockaddr_in6 address;
	socklen_t length = socket_address(&address, &sender->address, sender->scope, ROCE_PORT);
	int is_ipv4 = ((struct sockaddr *)&address)->sa_family == AF_INET;
	int no_fragments = IP_PMTUDISC_DO;

	sender->descriptor = socket(is_ipv4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (sender->descriptor < 0)
		return;
	if (is_ipv4)
		setsockopt(sender->descriptor, IPPROTO_IP, IP_MTU_DISCOVER, &no_fragments, sizeof(no_fragments));
	else
		setsockopt(sender->descriptor, IPPROTO_IPV6, IPV6_MTU_DISCOVER, &no_fragments, sizeof(no_fragments));
	if (!may_have_port || bind(sender->descriptor, (struct sockaddr *)&address, length)) {
		length = socket_address(&address, &sender->address, sender->scope, 0);
		if (bind(sender->descriptor, (struct sockaddr *)&address, length) ||
		    getsockname(sender->descriptor, (struct sockaddr *)&address, &length)) {
			close(sender->descriptor);
			sender->descriptor = -1;
			return;
		}
	}
	sender->port = ntohs(is_ipv4 ? ((struct sockaddr_in *)&address)->sin_port : address.sin6_port);
}

static struct sender *sender_of(const struct record *record)
{
	struct sender *sender;

	for (sender = senders; sender; sender = sender->next) {
		if (!memcmp(&sender->address, &record->local, sizeof(record->local)) && sender->scope == record->scope)
			return sender;
	}
	sender = calloc(1, sizeof(*sender));
	if (!sender)
		return NULL;
	sender->address = record->local;
	sender->scope = record->scope;
	open_sender(sender, 1);
	sender->next = senders;
	senders = sender;
	return sender;
}

static void leave_port(void)
{
	for (struct sender *sender = senders; sender; sender = sender->next) {
		if (sender->descriptor >= 0 && sender->port == ROCE_PORT) {
			close(sender->descriptor);
			open_sender(sender, 0);
		}
	}
}

static void send_request(const struct record *record)
{
	struct sender *sender = sender_of(record);
	int traffic_class = (int)record->traffic_class;
	struct sockaddr_in6 address;
	socklen_t length = socket_address(&address, &record->remote, record->scope, ROCE_PORT);
	uint8_t frame[FRAME_BYTES];

	if (!sender || sender->descriptor < 0)
		return;
	if (length == sizeof(struct sockaddr_in))
		setsockopt(sender->descriptor, IPPROTO_IP, IP_TOS, &traffic_class, sizeof(traffic_class));
	else
		setsockopt(sender->descriptor, IPPROTO_IPV6, IPV6_TCLASS, &traffic_class, sizeof(traffic_class));
	write_frame(frame, record, sender->port);
	sendto(sender->descriptor, frame, FRAME_BYTES, 0, (struct sockaddr *)&address, length);
}

static int compare_ids(const void *first, const void *second)
{
	uint32_t one = (*(struct record *const *)first)->local_id;
	uint32_t other = (*(struct record *const *)second)->local_id;

	return one < other ? -1 : one > other;
}

/* Takes the connections that no other process disconnects. */
static void take_records(uint32_t count)
{
	pending = calloc(count ? count : 1, sizeof(*pending));
	for (uint32_t i = 0; pending && i < count; i++) {
		uint32_t expected = ESTABLISHED;

		if (__atomic_compare_exchange_n(&records[i].state, &expected, TAKEN, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			pending[pending_count++] = &records[i];
	}
	if (pending_count)
		qsort(pending, pending_count, sizeof(*pending), compare_ids);
}

/* Removes the connection of a reply from those that get the message again. */
static void receive_reply(const uint8_t *frame, const struct sockaddr_in6 *from)
{
	struct record sought = { .local_id = get32(frame + MAD_REMOTE_ID_AT) };
	struct record *key = &sought;
	struct record **found = bsearch(&key, pending, pending_count, sizeof(*pending), compare_ids);
	struct sockaddr_in6 peer;
	socklen_t length;

	if (!found)
		return;
	length = socket_address(&peer, &(*found)->remote, 0, 0);
	if (length == sizeof(peer) ? memcmp(&peer.sin6_addr, &from->sin6_addr, 16)
				   : memcmp(&((struct sockaddr_in *)&peer)->sin_addr, &((struct sockaddr_in *)from)->sin_addr, 4))
		return;
	memmove(found, found + 1, (char *)(pending + pending_count) - (char *)(found + 1));
	pending_count--;
}

static void receive(int descriptor)
{
	struct sockaddr_in6 from;
	socklen_t length = sizeof(from);
	uint8_t frame[FRAME_BYTES] = { 0 };

	for (int i = 0; i < RECEIVE_LIMIT && recvfrom(descriptor, frame, FRAME_BYTES, 0, (struct sockaddr *)&from, &length) >= 0; i++) {
		if (frame[0] == UD_SEND_ONLY && frame[MAD_AT + 1] == CM_CLASS && frame[MAD_ATTRIBUTE_AT] == 0 &&
		    frame[MAD_ATTRIBUTE_AT + 1] == ATTRIBUTE_DREP)
			receive_reply(frame, &from);
		memset(frame, 0, FRAME_BYTES);
		length = sizeof(from);
	}
}

static long now_millis(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* Receives replies until the time is over or all have arrived. */
static void receive_for(int millis)
{
	long end = now_millis() + millis;
	long rest;

	while (pending_count && (rest = end - now_millis()) > 0) {
		struct pollfd events[64];
		int count = 0;

		for (struct sender *sender = senders; sender && count < 64; sender = sender->next)
			events[count++] = (struct pollfd){ .fd = sender->descriptor, .events = POLLIN };
		poll(events, count, (int)rest);
		for (struct sender *sender = senders; sender; sender = sender->next) {
			if (sender->descriptor >= 0)
				receive(sender->descriptor);
		}
	}
}

static void disconnect_peers(void)
{
	for (int try = 0; pending_count && try < TRIES; try++) {
		if (try == TRIES_AT_PORT)
			leave_port();
		/* Backwards, because a reply removes its connection. */
		for (size_t i = pending_count, sent = 0; i > 0; i--) {
			if (i > pending_count)
				continue;
			send_request(pending[i - 1]);
			if (++sent % GROUP == 0)
				receive_for(GROUP_MILLIS);
		}
		receive_for(pauses_millis[try]);
	}
}

int main(int count, char **arguments)
{
	int descriptors[3];
	sigset_t signals;

	if (count != 5)
		return 2;
	for (int i = 0; i < 3; i++)
		descriptors[i] = atoi(arguments[i + 2]);
	keep_descriptors(descriptors, 3);
	sigfillset(&signals);
	sigprocmask(SIG_SETMASK, &signals, NULL);
	records = map_table(descriptors[0]);
	if (!records)
		return 1;
	await_end(arguments[1], descriptors[1], descriptors[2]);
	take_records(((struct header *)records - 1)->count);
	disconnect_peers();
	return 0;
}
