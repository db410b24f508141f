package io.rdma4j.verbs;

/**
 * The error numbers of the verbs and the connection manager: the values of {@code errno} in C code on Linux, by name.
 */
public enum Errno {
    /** No permission for the operation. */
    EPERM(1, "Operation not permitted"),
    /** No such object. */
    ENOENT(2, "No such file or directory"),
    /** The wait was interrupted. */
    EINTR(4, "Interrupted system call"),
    /** Input or output failed. */
    EIO(5, "Input/output error"),
    /** A queue is currently empty or full. */
    EAGAIN(11, "Resource temporarily unavailable"),
    /** A table or queue is full, or there is no memory. */
    ENOMEM(12, "Cannot allocate memory"),
    /** No right to do this, for example to bind a port below 1024. */
    EACCES(13, "Permission denied"),
    /** An address is not usable. */
    EFAULT(14, "Bad address"),
    /** The object is in use by another. */
    EBUSY(16, "Device or resource busy"),
    /** No device for the address. */
    ENODEV(19, "No such device"),
    /** An argument, or the state of the object, does not allow this. */
    EINVAL(22, "Invalid argument"),
    /** The process has reached its limit of open files and sockets. */
    EMFILE(24, "Too many open files"),
    /** The memory for a result is too small. */
    ENOSPC(28, "No space left on device"),
    /** A number is out of range. */
    ERANGE(34, "Numerical result out of range"),
    /** The function is not implemented. */
    ENOSYS(38, "Function not implemented"),
    /** No data. */
    ENODATA(61, "No data available"),
    /** The protocol was violated. */
    EPROTO(71, "Protocol error"),
    /** Not supported by this device. */
    EOPNOTSUPP(95, "Operation not supported"),
    /** The address family is not supported. */
    EAFNOSUPPORT(97, "Address family not supported by protocol"),
    /** The address and port are in use. */
    EADDRINUSE(98, "Address already in use"),
    /** The address is not one of this host, or the port is taken by a wildcard. */
    EADDRNOTAVAIL(99, "Cannot assign requested address"),
    /** No route to the network. */
    ENETUNREACH(101, "Network is unreachable"),
    /** The connection was reset by the peer. */
    ECONNRESET(104, "Connection reset by peer"),
    /** Already connected. */
    EISCONN(106, "Transport endpoint is already connected"),
    /** Not connected. */
    ENOTCONN(107, "Transport endpoint is not connected"),
    /** The peer did not respond in time. */
    ETIMEDOUT(110, "Connection timed out"),
    /** The peer rejected the connection. */
    ECONNREFUSED(111, "Connection refused"),
    /** No route to the host. */
    EHOSTUNREACH(113, "No route to host");

    private final int number;
    private final String text;

    Errno(int number, String text) {
        this.number = number;
        this.text = text;
    }

    /** Returns the number on Linux, positive. */
    public int number() {
        return number;
    }

    /** Returns the text of {@code strerror}. */
    public String text() {
        return text;
    }

    /** Returns the constant of a number, ignoring its sign, or {@link #EIO} for a number not listed here. */
    public static Errno of(int number) {
        for (Errno errno : values()) {
            if (errno.number == Math.abs(number)) {
                return errno;
            }
        }
        return EIO;
    }
}
