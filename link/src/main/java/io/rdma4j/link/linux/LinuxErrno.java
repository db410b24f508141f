package io.rdma4j.link.linux;

/** Error numbers of Linux' generic ABI, as far as links meet them, with words for people. */
final class LinuxErrno {
    static final int EINTR = 4;
    static final int EIO = 5;
    static final int EAGAIN = 11;
    static final int ENOMEM = 12;
    static final int ENOBUFS = 105;

    private LinuxErrno() {}

    /** Name and meaning of an error number. */
    static String describe(int errno) {
        return switch (errno) {
            case 1 -> "EPERM (operation not permitted)";
            case 2 -> "ENOENT (no such file)";
            case EAGAIN -> "EAGAIN (the listener's queue is full)";
            case 13 -> "EACCES (permission denied)";
            case 23 -> "ENFILE (too many open files in the system)";
            case 24 -> "EMFILE (too many open files)";
            case 97 -> "EAFNOSUPPORT (address family not supported)";
            case 98 -> "EADDRINUSE (address already in use)";
            case 99 -> "EADDRNOTAVAIL (no interface of this host has the address)";
            case ENOBUFS -> "ENOBUFS (no buffer space)";
            case 111 -> "ECONNREFUSED (nobody listens there)";
            default -> "errno " + errno;
        };
    }
}
