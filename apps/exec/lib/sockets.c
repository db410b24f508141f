/*
 * A program that uses plain sockets. "receive" compares what one client sends; "send ADDRESS" sends
 * and closes, and "leave ADDRESS" ends without closing. The exit status is 0 if the data are right.
 */
#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PORT 18600
#define TOTAL 3000000

static unsigned char buffer[10007];

static unsigned char pattern(int index)
{
	return (unsigned char)(index * 13 + (index >> 8));
}

/* librdmacm ends this wait when the peer is gone, but would not end a read. */
static ssize_t wait_and_read(int descriptor)
{
	struct pollfd waiting = { .fd = descriptor, .events = POLLIN };

	return poll(&waiting, 1, -1) < 0 ? -1 : read(descriptor, buffer, sizeof(buffer));
}

static int receive(int listener)
{
	int descriptor = listen(listener, 1) ? -1 : accept(listener, NULL, NULL);
	int total = 0;
	int wrong = descriptor < 0;
	ssize_t count;

	while ((count = wait_and_read(descriptor)) > 0) {
		for (int i = 0; i < count; i++)
			wrong += buffer[i] != pattern(total++);
	}
	close(descriptor);
	printf("%d bytes, %d wrong\n", total, wrong);
	return wrong != 0;
}

static int send_bytes(int descriptor, int total)
{
	int sent = 0;

	while (sent < total) {
		size_t length = total - sent < (int)sizeof(buffer) ? (size_t)(total - sent) : sizeof(buffer);
		ssize_t count;

		for (size_t i = 0; i < length; i++)
			buffer[i] = pattern(sent + (int)i);
		count = write(descriptor, buffer, length);
		if (count <= 0)
			return 1;
		sent += (int)count;
	}
	return 0;
}

int main(int count, char **arguments)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	int descriptor = socket(AF_INET, SOCK_STREAM, 0);

	if (descriptor < 0 || count < 2)
		return 2;
	if (!strcmp(arguments[1], "receive"))
		return bind(descriptor, (struct sockaddr *)&address, sizeof(address)) ? 3 : receive(descriptor);
	if (count < 3 || inet_pton(AF_INET, arguments[2], &address.sin_addr) != 1 ||
	    connect(descriptor, (struct sockaddr *)&address, sizeof(address)))
		return 4;
	if (!strcmp(arguments[1], "leave"))
		return send_bytes(descriptor, 12);
	return send_bytes(descriptor, TOTAL) || shutdown(descriptor, SHUT_WR) || read(descriptor, buffer, 1) || close(descriptor);
}
