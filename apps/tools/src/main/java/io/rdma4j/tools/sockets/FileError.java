package io.rdma4j.tools.sockets;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.util.Arrays;
import java.util.Objects;
import java.util.Optional;

/** Linux's file errors: the numbers that the two sides of rcopy exchange, with the texts of {@code strerror}. */
enum FileError {
    /** The operation is not permitted at all, or only to the owner. */
    EPERM(1, "Operation not permitted"),
    /** The file does not exist. */
    ENOENT(2, "No such file or directory"),
    /** The device failed, or the error has no number in this enum. */
    EIO(5, "Input/output error"),
    /** The process lacks the permission. */
    EACCES(13, "Permission denied"),
    /** The file is open or in use. */
    EBUSY(16, "Device or resource busy"),
    /** The file exists. */
    EEXIST(17, "File exists"),
    /** A component of the path is not a directory. */
    ENOTDIR(20, "Not a directory"),
    /** The file is a directory. */
    EISDIR(21, "Is a directory"),
    /** The request is invalid. The server of rcopy also reports it for files that are not regular. */
    EINVAL(22, "Invalid argument"),
    /** The process has too many open files. */
    EMFILE(24, "Too many open files"),
    /** The size exceeds the maximum of a file. */
    EFBIG(27, "File too large"),
    /** The disk is full. */
    ENOSPC(28, "No space left on device"),
    /** The file system is read-only. */
    EROFS(30, "Read-only file system"),
    /** A component of the path is too long. */
    ENAMETOOLONG(36, "File name too long"),
    /** Symbolic links form a loop. */
    ELOOP(40, "Too many levels of symbolic links"),
    /** The name cannot be stored: it is not UTF-8, or has characters that the server's locale does not support. */
    EILSEQ(84, "Invalid or incomplete multibyte or wide character"),
    /** The user's disk quota is exhausted. */
    EDQUOT(122, "Disk quota exceeded");

    private final int number;
    private final String text;

    FileError(int number, String text) {
        this.number = number;
        this.text = text;
    }

    /** Returns the number of the error. */
    int number() {
        return number;
    }

    /** Returns the text of the error. */
    String text() {
        return text;
    }

    /** Returns the error as an exception. */
    IOException exception() {
        return new FileSystemException(null, null, text);
    }

    /** Returns the error that corresponds to an exception, or {@link #EIO} if no other error does. */
    static FileError of(Exception failure) {
        return switch (failure) {
            case NoSuchFileException none -> ENOENT;
            case AccessDeniedException denied -> EACCES;
            case FileAlreadyExistsException exists -> EEXIST;
            case InvalidPathException name -> EILSEQ;
            case IllegalArgumentException invalid -> EINVAL;
            default -> ofText(textOf(failure)).orElse(EIO);
        };
    }

    /** Returns the text of an exception as C would print it, without the names of Java's classes. */
    static String describe(Exception failure) {
        FileError error = of(failure);
        return error == EIO ? textOf(failure) : error.text;
    }

    /** Returns the error with the given number, if any. */
    static Optional<FileError> ofNumber(int number) {
        return Arrays.stream(values()).filter(error -> error.number == number).findFirst();
    }

    /** Finds an error by the start of a message, because Java appends to the text of some errors. */
    private static Optional<FileError> ofText(String text) {
        return Arrays.stream(values())
                .filter(error -> text.startsWith(error.text))
                .findFirst();
    }

    private static String textOf(Exception failure) {
        String reason = failure instanceof FileSystemException file ? file.getReason() : failure.getMessage();
        return Objects.requireNonNullElse(reason, EIO.text);
    }
}
