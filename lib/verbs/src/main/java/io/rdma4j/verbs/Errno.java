package io.rdma4j.verbs;

/**
 * The errors of the verbs and the connection manager: the names and values of {@code errno} on Linux.
 */
public enum Errno {
    /** The operation is not permitted. */
    EPERM(1, "Operation not permitted"),
    /** The object does not exist. */
    ENOENT(2, "No such file or directory"),
    /** The wait was interrupted. */
    EINTR(4, "Interrupted system call"),
    /** Input or output failed. */
    EIO(5, "Input/output error"),
    /** A queue is currently empty or full. */
    EAGAIN(11, "Resource temporarily unavailable"),
    /** A table or queue is full, or memory is exhausted. */
    ENOMEM(12, "Cannot allocate memory"),
    /** The process lacks a right, for example to bind a port below 1024. */
    EACCES(13, "Permission denied"),
    /** An address is invalid. */
    EFAULT(14, "Bad address"),
    /** Another object uses this one. */
    EBUSY(16, "Device or resource busy"),
    /** No device has the address. */
    ENODEV(19, "No such device"),
    /** An argument is invalid, or the state of the object does not allow the call. */
    EINVAL(22, "Invalid argument"),
    /** The process has reached its limit of open files and sockets. */
    EMFILE(24, "Too many open files"),
    /** The memory for a result is too small. */
    ENOSPC(28, "No space left on device"),
    /** A number is out of range. */
    ERANGE(34, "Numerical result out of range"),
    /** The function is not implemented. */
    ENOSYS(38, "Function not implemented"),
    /** No data are available. */
    ENODATA(61, "No data available"),
    /** The peer violated the protocol. */
    EPROTO(71, "Protocol error"),
    /** The device does not support the operation. */
    EOPNOTSUPP(95, "Operation not supported"),
    /** The address family is not supported. */
    EAFNOSUPPORT(97, "Address family not supported by protocol"),
    /** The address and port are in use. */
    EADDRINUSE(98, "Address already in use"),
    /** The host does not have the address, or a wildcard address has the port. */
    EADDRNOTAVAIL(99, "Cannot assign requested address"),
    /** The host has no route to the network. */
    ENETUNREACH(101, "Network is unreachable"),
    /** The peer reset the connection. */
    ECONNRESET(104, "Connection reset by peer"),
    /** The object is already connected. */
    EISCONN(106, "Transport endpoint is already connected"),
    /** The object is not connected. */
    ENOTCONN(107, "Transport endpoint is not connected"),
    /** The peer did not respond in time. */
    ETIMEDOUT(110, "Connection timed out"),
    /** The peer rejected the connection. */
    ECONNREFUSED(111, "Connection refused"),
    /** The host has no route to the peer. */
    EHOSTUNREACH(113, "No route to host");

    private final int number;
    private final String text;

    Errno(int number, String text) {
        this.number = number;
        this.text = text;
    }

    /** Returns the positive number on Linux. */
    public int number() {
        return number;
    }

    /** Returns the text of {@code strerror}. */
    public String text() {
        return text;
    }

    /** Returns the constant for a number, ignoring its sign, or {@link #EIO} for an unlisted number. */
    public static Errno of(int number) {
        for (Errno errno : values()) {
            if (errno.number == Math.abs(number)) {
                return errno;
            }
        }
        return EIO;
    }
}
