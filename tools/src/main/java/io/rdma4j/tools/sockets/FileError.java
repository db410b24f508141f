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

/** Linux's errors of files: numbers that rcopy's two sides exchange, with the texts of {@code strerror}. */
enum FileError {
    /** Not allowed to anybody, or to the owner alone. */
    EPERM(1, "Operation not permitted"),
    /** There is none. */
    ENOENT(2, "No such file or directory"),
    /** The device failed, or the error has no number here. */
    EIO(5, "Input/output error"),
    /** No right to. */
    EACCES(13, "Permission denied"),
    /** One is there, or is in use. */
    EBUSY(16, "Device or resource busy"),
    /** One is there. */
    EEXIST(17, "File exists"),
    /** A folder was named on the way that is none. */
    ENOTDIR(20, "Not a directory"),
    /** It is a folder. */
    EISDIR(21, "Is a directory"),
    /** It makes no sense; rcopy's server says so of what is no regular file. */
    EINVAL(22, "Invalid argument"),
    /** The process has too many. */
    EMFILE(24, "Too many open files"),
    /** No file may have that size. */
    EFBIG(27, "File too large"),
    /** The disk is full. */
    ENOSPC(28, "No space left on device"),
    /** The disk may only be read. */
    EROFS(30, "Read-only file system"),
    /** A name is too long. */
    ENAMETOOLONG(36, "File name too long"),
    /** Links lead in a circle. */
    ELOOP(40, "Too many levels of symbolic links"),
    /** The name cannot be stored as it is: no UTF-8, or characters that the server's locale does not have. */
    EILSEQ(84, "Invalid or incomplete multibyte or wide character"),
    /** The user has no more room. */
    EDQUOT(122, "Disk quota exceeded");

    private final int number;
    private final String text;

    FileError(int number, String text) {
        this.number = number;
        this.text = text;
    }

    /** Its number. */
    int number() {
        return number;
    }

    /** Its text. */
    String text() {
        return text;
    }

    /** The error as an exception. */
    IOException exception() {
        return new FileSystemException(null, null, text);
    }

    /** The error behind an exception; {@link #EIO} if it is another one. */
    static FileError of(Exception failure) {
        return switch (failure) {
            case NoSuchFileException none -> ENOENT;
            case AccessDeniedException denied -> EACCES;
            case FileAlreadyExistsException there -> EEXIST;
            case InvalidPathException name -> EILSEQ;
            case IllegalArgumentException wrong -> EINVAL;
            default -> ofText(textOf(failure)).orElse(EIO);
        };
    }

    /** The text of an exception, as C would have it: without the names of Java's classes. */
    static String describe(Exception failure) {
        FileError error = of(failure);
        return error == EIO ? textOf(failure) : error.text;
    }

    /** The error with a number, if there is one. */
    static Optional<FileError> ofNumber(int number) {
        return Arrays.stream(values()).filter(error -> error.number == number).findFirst();
    }

    /** Java goes on after the text of some. */
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
