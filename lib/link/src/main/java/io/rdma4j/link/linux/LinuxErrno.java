package io.rdma4j.link.linux;

/** The error numbers of Linux's generic ABI that links handle, with descriptions. */
final class LinuxErrno {
    static final int ENOENT = 2;
    static final int EINTR = 4;
    static final int EIO = 5;
    static final int EAGAIN = 11;
    static final int ENOMEM = 12;
    static final int ENOBUFS = 105;

    private static final int ENFILE = 23;
    private static final int EMFILE = 24;

    private LinuxErrno() {}

    /** Returns whether a call failed because the process or the system lacks descriptors or memory for a new one. */
    static boolean isShortage(int errno) {
        return errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS;
    }

    /** Returns the name and meaning of an error number. */
    static String describe(int errno) {
        return switch (errno) {
            case 1 -> "EPERM (operation not permitted)";
            case ENOENT -> "ENOENT (no such file)";
            case EAGAIN -> "EAGAIN (the listener's queue is full)";
            case 13 -> "EACCES (permission denied)";
            case ENFILE -> "ENFILE (too many open files in the system)";
            case EMFILE -> "EMFILE (too many open files)";
            case 97 -> "EAFNOSUPPORT (address family not supported)";
            case 98 -> "EADDRINUSE (address already in use)";
            case 99 -> "EADDRNOTAVAIL (no interface of this host has the address)";
            case ENOBUFS -> "ENOBUFS (no buffer space)";
            case 111 -> "ECONNREFUSED (no process listens there)";
            default -> "errno " + errno;
        };
    }
}
