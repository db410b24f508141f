/* Files of the software devices that a kernel's driver would have in /dev/infiniband and /sys/class. */
#ifndef RDMA4J_DEVICE_FILES_H
#define RDMA4J_DEVICE_FILES_H

#include <sys/stat.h>

/* The longest content. */
#define DEVICE_FILE_BYTES 128

/* Returns S_IFCHR, S_IFREG or S_IFDIR; 0 if there is no such file. May change errno. */
mode_t device_file_kind(const char *path);

/* Reads a file into memory of DEVICE_FILE_BYTES that is zeroed. Returns 0 or an errno. */
int device_file_read(const char *path, char *text);

/*
 * Calls a function for each file of a folder, with its name and its kind, until it returns another value than 0. Returns that value or 0;
 * ENOENT if there is no such folder.
 */
int device_files_list(const char *folder, int (*each)(const char *name, mode_t kind, void *user), void *user);

#endif
