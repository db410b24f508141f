/*
 * Uses the device file of the connection manager in ways that librdmacm does not: with other
 * functions for descriptors, after fork and vfork, and interrupted. Also looks for the files that
 * UCX and NCCL read. Exits with 0, or after printing the first failure.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "verbs_abi.h"

#define CHECK(condition) check((condition), #condition, __LINE__)
#define CM_FILE "/dev/infiniband/rdma_cm"
#define IPV4_GID_INDEX "1"
#define EMPTY_GID_INDEX "1023"

struct header {
	uint32_t command;
	uint16_t structure_bytes;
	uint16_t response_bytes;
};

struct create {
	struct header header;
	uint64_t uid;
	uint64_t response;
	uint16_t port_space;
	uint8_t type;
	uint8_t reserved[5];
};

struct write_event {
	struct header header;
	uint32_t id;
	uint32_t reserved;
	uint32_t event;
	uint32_t status;
	uint64_t argument;
};

struct get_event {
	struct header header;
	uint64_t response;
};

static char event[336];

static void check(int is_right, const char *condition, int line)
{
	if (is_right)
		return;
	fprintf(stderr, "files.c:%d: %s (errno %d, %s)\n", line, condition, errno, strerror(errno));
	exit(1);
}

static int open_file(int flags)
{
	struct stat status;
	int file = open(CM_FILE, O_RDWR | O_CLOEXEC | flags);

	CHECK(file >= 0);
	CHECK(!fstat(file, &status) && S_ISCHR(status.st_mode));
	return file;
}

static int get_event(int file)
{
	struct get_event command = { { 12, 8, sizeof(event) }, (uintptr_t)event };

	return (int)write(file, &command, sizeof(command));
}

/* Returns whether the file still executes commands. Creates an identifier. */
static int works(int file, uint32_t *id)
{
	struct create command = { { 0, 24, 4 }, 1, (uintptr_t)id, 0x106, 2, { 0 } };

	return write(file, &command, sizeof(command)) == sizeof(command);
}

static int is_readable(int file)
{
	struct pollfd wait = { file, POLLIN, 0 };

	return poll(&wait, 1, 0) == 1;
}

static void take_events(void)
{
	struct write_event command = { { 24, 24, 0 }, 0, 0, 18, 0, 5 };
	int file = open_file(O_NONBLOCK);

	CHECK(get_event(file) < 0 && errno == EAGAIN);
	CHECK(works(file, &command.id) && !is_readable(file));
	CHECK(write(file, &command, sizeof(command)) == sizeof(command) && is_readable(file));
	CHECK(get_event(file) == sizeof(struct get_event) && !is_readable(file));
	CHECK(write(file, &command, 7) < 0 && errno == EINVAL);
	CHECK(!close(file));
}

static void ignore_signal(int number)
{
	(void)number;
}

static void interrupt_wait(void)
{
	struct sigaction action = { .sa_handler = ignore_signal };
	int file = open_file(0);

	CHECK(!sigaction(SIGALRM, &action, NULL));
	alarm(1);
	CHECK(get_event(file) < 0 && errno == EINTR);
	CHECK(!close(file));
}

/* A descriptor number that is reused means another file. */
static void replace(void)
{
	int other = open("/dev/null", O_RDWR);
	int file = open_file(0);
	struct stat status;
	uint32_t id;

	CHECK(dup2(other, file) == file && write(file, "text", 4) == 4 && !fstat(file, &status) && status.st_rdev != 0);
	CHECK(!close(file));
	file = open_file(0);
	CHECK(dup2(file, file) == file && works(file, &id));
	CHECK(dup2(999999, file) < 0 && errno == EBADF && works(file, &id));
	CHECK(!close_range(file, file, 0) && write(file, "text", 4) < 0 && errno == EBADF);
	CHECK(dup2(other, file) == file && write(file, "text", 4) == 4);
	close(file);
	close(other);
}

static int exit_status(pid_t child)
{
	int status;

	CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
	return WEXITSTATUS(status);
}

/*
 * Children close the files that they have inherited, and open others. The file of the parent is
 * unharmed.
 */
static void make_children(void)
{
	int file = open_file(0);
	uint32_t id;
	pid_t child = fork();
	int other;

	CHECK(child >= 0);
	if (!child) {
		close(file);
		/* may already have the number, if all lower ones are in use */
		other = open("/dev/null", O_RDWR);
		_exit((other == file || fcntl(other, F_DUPFD, file) == file) && write(file, "text", 4) == 4 ? 0 : 1);
	}
	CHECK(!exit_status(child) && works(file, &id));
	child = vfork();
	if (!child) {
		close(file);
		_exit(0);
	}
	CHECK(!exit_status(child) && works(file, &id));
	CHECK(!close(file));
}

static void check_text(const char *path, const char *wanted)
{
	char text[64] = "";
	int file = open(path, O_RDONLY);

	CHECK(file >= 0 && read(file, text, sizeof(text)) > 0 && !strcmp(text, wanted));
	CHECK(!close(file));
}

static void read_attributes(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	char path[512];
	struct stat status;

	CHECK(list && list[0]);
	snprintf(path, sizeof(path), "/dev/infiniband/%s", list[0]->dev_name);
	CHECK(!stat(path, &status) && S_ISCHR(status.st_mode) && !access(path, R_OK | W_OK));
	CHECK(!stat(list[0]->ibdev_path, &status) && S_ISDIR(status.st_mode));
	CHECK(access("/dev/infiniband/uverbs999", R_OK) < 0 && errno == ENOENT);
	CHECK(stat("/sys/class/infiniband/none", &status) < 0 && errno == ENOENT);
	snprintf(path, sizeof(path), "%s/ports/1/gid_attrs/types/" IPV4_GID_INDEX, list[0]->ibdev_path);
	check_text(path, "RoCE v2\n");
	snprintf(path, sizeof(path), "%s/ports/1/gid_attrs/types/" EMPTY_GID_INDEX, list[0]->ibdev_path);
	CHECK(open(path, O_RDONLY) < 0 && errno == EINVAL);
	snprintf(path, sizeof(path), "%s/ports/1/gids/" EMPTY_GID_INDEX, list[0]->ibdev_path);
	check_text(path, "0000:0000:0000:0000:0000:0000:0000:0000\n");
	snprintf(path, sizeof(path), "%s/ports/1/none", list[0]->ibdev_path);
	CHECK(open(path, O_RDONLY) < 0 && errno == ENOENT);
	ibv_free_device_list(list);
}

static int is_numbered(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* Opens and checks a file with each function that programs and libraries use for it. */
static void open_by_each_function(const char *path)
{
	char text[64] = "", resolved[PATH_MAX];
	FILE *stream = fopen(path, "r");
	int file = openat(AT_FDCWD, path, O_RDONLY);
	struct statx extended;
	struct stat status;

	CHECK(stream && fgets(text, sizeof(text), stream) && text[0] && !fclose(stream));
	CHECK(file >= 0 && read(file, text, 4) == 4 && !close(file));
	CHECK(!stat(path, &status) && S_ISREG(status.st_mode) && !lstat(path, &status) && S_ISREG(status.st_mode));
	CHECK(!fstatat(AT_FDCWD, path, &status, 0) && S_ISREG(status.st_mode));
	CHECK(!statx(AT_FDCWD, path, 0, STATX_ALL, &extended) && S_ISREG(extended.stx_mode));
	CHECK(!access(path, R_OK) && !faccessat(AT_FDCWD, path, R_OK, 0) && !euidaccess(path, R_OK));
	CHECK(access(path, W_OK) < 0 && errno == EROFS);
	CHECK(realpath(path, resolved) == resolved && !strcmp(resolved, path));
}

static int count_of(const char *path)
{
	struct dirent **entries;
	int count = scandir(path, &entries, is_numbered, alphasort);

	CHECK(count > 0);
	for (int i = 0; i < count; i++)
		free(entries[i]);
	free(entries);
	return count;
}

static int has_entry(const char *path, const char *name, int type)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	int found = 0;

	CHECK(folder != NULL);
	while ((entry = readdir(folder)) != NULL)
		found += !strcmp(entry->d_name, name) && entry->d_type == type;
	rewinddir(folder);
	CHECK(readdir(folder) != NULL && !closedir(folder));
	return found == 1;
}

/* Reads what ibstat reads through libibumad. */
static void list_folders(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	char path[512];

	CHECK(list && list[0]);
	snprintf(path, sizeof(path), "%s/ports/1/gids/0", list[0]->ibdev_path);
	open_by_each_function(path);
	CHECK(has_entry("/sys/class/infiniband", list[0]->name, DT_DIR) && has_entry("/dev/infiniband", list[0]->dev_name, DT_CHR));
	CHECK(has_entry("/dev/infiniband", "rdma_cm", DT_CHR) && has_entry(list[0]->ibdev_path, "node_guid", DT_REG));
	CHECK(has_entry(list[0]->dev_path, "ibdev", DT_REG) && has_entry("/", "sys", DT_DIR));
	snprintf(path, sizeof(path), "%s/ports", list[0]->ibdev_path);
	CHECK(count_of(path) == 1);
	snprintf(path, sizeof(path), "%s/ports/1/gids", list[0]->ibdev_path);
	CHECK(count_of(path) == 1024);
	snprintf(path, sizeof(path), "%s/ports/1/state", list[0]->ibdev_path);
	check_text(path, "4: ACTIVE\n");
	snprintf(path, sizeof(path), "%s/ports/1/pkeys/0", list[0]->ibdev_path);
	check_text(path, "0xffff\n");
	snprintf(path, sizeof(path), "%s/node_type", list[0]->ibdev_path);
	check_text(path, "1: CA\n");
	for (const char *const *name = (const char *const[]){ "ports/1/rate", "node_guid", "fw_ver", "ports/1/cap_mask", NULL }; *name; name++) {
		snprintf(path, sizeof(path), "%s/%s", list[0]->ibdev_path, *name);
		open_by_each_function(path);
	}
	CHECK(!opendir("/sys/class/infiniband/none") && errno == ENOENT);
	ibv_free_device_list(list);
}

/*
 * Programs that walk through folders, such as ls -R, skip a folder with the inode number of one
 * that they have visited.
 */
static void tell_folders_apart(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct stat device, ports, again;
	struct statx extended;
	char path[512];

	CHECK(list && list[0] && !stat(list[0]->ibdev_path, &device));
	snprintf(path, sizeof(path), "%s/ports", list[0]->ibdev_path);
	CHECK(!stat(path, &ports) && device.st_ino != 0 && ports.st_ino != 0 && ports.st_ino != device.st_ino);
	CHECK(!statx(AT_FDCWD, path, 0, STATX_ALL, &extended) && extended.stx_mask & STATX_INO && extended.stx_ino == ports.st_ino);
	strcat(path, "/");
	CHECK(!stat(path, &again) && again.st_ino == ports.st_ino);
	ibv_free_device_list(list);
}

/*
 * A library's constructor may look for the files of hardware devices, while no thread can load
 * another library. Java must not start then.
 */
static void look_for_hardware(void)
{
	struct stat result;

	CHECK(stat("/sys/class/infiniband/hfi1_0", &result) < 0 && errno == ENOENT);
	CHECK(open("/sys/class/infiniband/hfi1_0/ports/1/gids/0", O_RDONLY) < 0 && errno == ENOENT);
	CHECK(!stat("/proc/self/task", &result) && result.st_nlink == 2 + 1 /* thread */);
}

int main(void)
{
	look_for_hardware();
	take_events();
	interrupt_wait();
	replace();
	make_children();
	read_attributes();
	list_folders();
	tell_folders_apart();
	return 0;
}
