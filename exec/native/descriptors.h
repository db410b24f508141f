/* Descriptors of files with a meaning for this library. */
#ifndef RDMA4J_DESCRIPTORS_H
#define RDMA4J_DESCRIPTORS_H

/*
 * The mark of a descriptor is 0, one of these, or a positive number: Java's handle of a file of the connection manager. The marks hold in
 * the process that has set them.
 */
#define MARK_JAVA (-1)	/* Java's own */
#define MARK_EVENT (-2)	/* of the program; Java makes it readable while there is an event */

int descriptor_mark(int descriptor);
int descriptor_set_mark(int descriptor, int mark);	/* returns 0, or EMFILE if the number is too large for a mark */
int descriptor_created(int descriptor);			/* of a file that has just been opened; returns the descriptor */
int descriptors_are_of_parent(void);			/* in a child of vfork, which has the memory of its parent, and other descriptors */

/* Creates an eventfd with MARK_EVENT. Returns a descriptor, or -1 with errno. close ends it. */
int event_descriptor(int flags);

/* cm_file.c: ends a file of Java whose descriptor is closed or replaced. */
void cm_close(int handle);

#endif
