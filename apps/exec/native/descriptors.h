/* File descriptors that mean something to this library. */
#ifndef RDMA4J_DESCRIPTORS_H
#define RDMA4J_DESCRIPTORS_H

/*
 * The mark of a descriptor is 0, one of these, or a positive number, which is Java's handle of a
 * connection manager file. Marks are valid in the process that has set them.
 */
#define MARK_JAVA (-1)	/* Java's own */
#define MARK_EVENT (-2)	/* the program's; Java keeps it readable while there is an event */

int descriptor_mark(int descriptor);
/* Returns 0, or EMFILE if the number is too large to have a mark. */
int descriptor_set_mark(int descriptor, int mark);
/* For a file that has just been opened. Returns its descriptor, which may be a new one. */
int descriptor_created(int descriptor);
/* True in a child of vfork, which shares the memory of its parent but not its descriptors. */
int descriptors_are_of_parent(void);

/* Creates an eventfd with MARK_EVENT, which close closes. Returns it, or -1 with errno. */
int event_descriptor(int flags);

/* cm_file.c: closes Java's file when its descriptor is closed or replaced. */
void cm_close(int handle);

#endif
