/*
 * opendir, readdir and scandir for the folders of device_files.c, which the system lacks. A stream
 * over such a folder holds all entries in memory. Streams of the system pass through.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "device_files.h"
#include "library.h"

struct folder {
	struct folder *next;
	struct dirent64 *entries;
	size_t count;
	size_t capacity;
	size_t at;
};

/* The open folders. All other streams belong to the C library. */
static struct folder *open_folders;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct {
	DIR *(*opendir)(const char *);
	int (*closedir)(DIR *);
	struct dirent64 *(*readdir)(DIR *);
	void (*rewinddir)(DIR *);
	long (*telldir)(DIR *);
	void (*seekdir)(DIR *, long);
	int (*dirfd)(DIR *);
	int (*scandir)(const char *, struct dirent64 ***, int (*)(const struct dirent64 *),
		       int (*)(const struct dirent64 **, const struct dirent64 **));
} next;

/* On 64-bit systems, struct dirent and struct dirent64 are the same. */
__attribute__((constructor(101))) static void find_next(void)
{
	*(void **)&next.opendir = dlsym(RTLD_NEXT, "opendir");
	*(void **)&next.closedir = dlsym(RTLD_NEXT, "closedir");
	*(void **)&next.readdir = dlsym(RTLD_NEXT, "readdir");
	*(void **)&next.rewinddir = dlsym(RTLD_NEXT, "rewinddir");
	*(void **)&next.telldir = dlsym(RTLD_NEXT, "telldir");
	*(void **)&next.seekdir = dlsym(RTLD_NEXT, "seekdir");
	*(void **)&next.dirfd = dlsym(RTLD_NEXT, "dirfd");
	*(void **)&next.scandir = dlsym(RTLD_NEXT, "scandir");
}

/* For calls from another library's constructor that runs earlier. */
static void require_next(void)
{
	if (!next.scandir)
		find_next();
}

static int add_entry(const char *name, mode_t kind, void *user)
{
	struct folder *folder = user;
	struct dirent64 *entry;

	if (folder->count == folder->capacity) {
		size_t larger = folder->capacity ? 2 * folder->capacity : 8;
		struct dirent64 *moved = realloc(folder->entries, larger * sizeof(*moved));

		if (!moved)
			return ENOMEM;
		folder->entries = moved;
		folder->capacity = larger;
	}
	entry = &folder->entries[folder->count++];
	memset(entry, 0, sizeof(*entry));
	entry->d_ino = folder->count;
	entry->d_off = (off64_t)folder->count;
	entry->d_reclen = sizeof(*entry);
	entry->d_type = IFTODT(kind);
	strcpy(entry->d_name, name);
	return 0;
}

static void free_folder(struct folder *folder)
{
	free(folder->entries);
	free(folder);
}

/* Returns one of this library's folders with its entries, or NULL with errno. */
static struct folder *read_folder(const char *path)
{
	struct folder *folder = calloc(1, sizeof(*folder));
	int error;

	if (!folder)
		return NULL;
	error = add_entry(".", S_IFDIR, folder);
	if (!error)
		error = add_entry("..", S_IFDIR, folder);
	if (!error)
		error = device_files_list(path, add_entry, folder);
	if (error) {
		free_folder(folder);
		errno = error;
		return NULL;
	}
	return folder;
}

/* Returns whether the program has asked for a folder that the system lacks. */
static int is_missing(const char *path)
{
	return errno == ENOENT && path[0] == '/' && (path[1] == 'd' || path[1] == 's') && !is_called_by_java();
}

static struct folder *find_folder(DIR *stream)
{
	struct folder *folder = __atomic_load_n(&open_folders, __ATOMIC_ACQUIRE);

	require_next();
	if (__builtin_expect(!folder, 1))
		return NULL;
	pthread_mutex_lock(&lock);
	for (folder = open_folders; folder && folder != (struct folder *)stream; folder = folder->next)
		;
	pthread_mutex_unlock(&lock);
	return folder;
}

PUBLIC DIR *opendir(const char *path)
{
	struct folder *folder;
	DIR *stream;

	require_next();
	stream = next.opendir(path);
	if (stream || !is_missing(path))
		return stream;
	folder = read_folder(path);
	if (!folder)
		return NULL;
	pthread_mutex_lock(&lock);
	folder->next = open_folders;
	__atomic_store_n(&open_folders, folder, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&lock);
	return (DIR *)folder;
}

PUBLIC int closedir(DIR *stream)
{
	struct folder *folder = find_folder(stream);
	struct folder **link = &open_folders;

	if (!folder)
		return next.closedir(stream);
	pthread_mutex_lock(&lock);
	while (*link != folder)
		link = &(*link)->next;
	__atomic_store_n(link, folder->next, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&lock);
	free_folder(folder);
	return 0;
}

PUBLIC struct dirent64 *readdir64(DIR *stream)
{
	struct folder *folder = find_folder(stream);

	if (!folder)
		return next.readdir(stream);
	return folder->at < folder->count ? &folder->entries[folder->at++] : NULL;
}

PUBLIC struct dirent *readdir(DIR *stream) __attribute__((alias("readdir64")));

PUBLIC void rewinddir(DIR *stream)
{
	struct folder *folder = find_folder(stream);

	if (folder)
		folder->at = 0;
	else
		next.rewinddir(stream);
}

PUBLIC long telldir(DIR *stream)
{
	struct folder *folder = find_folder(stream);

	return folder ? (long)folder->at : next.telldir(stream);
}

PUBLIC void seekdir(DIR *stream, long place)
{
	struct folder *folder = find_folder(stream);

	if (folder)
		folder->at = (size_t)place;
	else
		next.seekdir(stream, place);
}

PUBLIC int dirfd(DIR *stream)
{
	if (!find_folder(stream))
		return next.dirfd(stream);
	errno = ENOTSUP;
	return -1;
}

/* Returns the number of selected entries, or -1 with errno. */
static int select_entries(const struct folder *folder, struct dirent64 **list, int (*selects)(const struct dirent64 *))
{
	int count = 0;

	for (size_t i = 0; i < folder->count; i++) {
		if (selects && !selects(&folder->entries[i]))
			continue;
		list[count] = malloc(sizeof(**list));
		if (!list[count]) {
			while (count)
				free(list[--count]);
			errno = ENOMEM;
			return -1;
		}
		*list[count++] = folder->entries[i];
	}
	return count;
}

PUBLIC int scandir64(const char *path, struct dirent64 ***result, int (*selects)(const struct dirent64 *),
		     int (*compare)(const struct dirent64 **, const struct dirent64 **))
{
	struct dirent64 **list;
	struct folder *folder;
	int count;

	require_next();
	count = next.scandir(path, result, selects, compare);
	if (count >= 0 || !is_missing(path))
		return count;
	folder = read_folder(path);
	if (!folder)
		return -1;
	list = calloc(folder->count, sizeof(*list));
	count = list ? select_entries(folder, list, selects) : -1;
	free_folder(folder);
	if (count < 0) {
		free(list);
		return -1;
	}
	if (compare)
		qsort(list, (size_t)count, sizeof(*list), (int (*)(const void *, const void *))compare);
	*result = list;
	return count;
}

PUBLIC int scandir(const char *, struct dirent ***, int (*)(const struct dirent *),
		   int (*)(const struct dirent **, const struct dirent **)) __attribute__((alias("scandir64")));
