/*
 * The files that a kernel driver would create for the software devices in /dev/infiniband and
 * /sys/class.
 */
#ifndef RDMA4J_DEVICE_FILES_H
#define RDMA4J_DEVICE_FILES_H

#include <sys/stat.h>

/* The maximum size of a file. */
#define DEVICE_FILE_BYTES 128

/* Returns S_IFCHR, S_IFREG or S_IFDIR; 0 if there is no such file. May change errno. */
mode_t device_file_kind(const char *path);

/* Reads a file into text, DEVICE_FILE_BYTES that the caller has zeroed. Returns 0 or an errno. */
int device_file_read(const char *path, char *text);

/*
 * Calls a function with the name and the kind of each file in a folder, until it returns a value
 * other than 0. Returns that value or 0; ENOENT if there is no such folder.
 */
int device_files_list(const char *folder, int (*each)(const char *name, mode_t kind, void *user), void *user);

#endif
