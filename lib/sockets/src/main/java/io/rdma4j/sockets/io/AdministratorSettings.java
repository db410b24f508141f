package io.rdma4j.sockets.io;

import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The administrator's settings for all programs of a host: one file per setting, which contains a number, in a folder
 * that librdmacm also reads (decision 049). Source: rsocket(7). Thread safe.
 */
final class AdministratorSettings {
    /** The folder of librdmacm on Linux. Other systems have none. */
    static final Path FOLDER = Path.of("/etc/rdma/rsocket");

    /** C reads the number at the beginning and ignores the rest. */
    private static final Pattern NUMBER = Pattern.compile("\\s*\\+?([0-9]{1,18})");

    /** The number of bytes to read from a file, more than a number has. */
    private static final int MAX_BYTES = 64;

    private final Path folder;

    AdministratorSettings(Path folder) {
        this.folder = folder;
    }

    /**
     * Returns the number in a file, limited to a range as in C, or the default if there is no such file. A file without
     * a number is ignored with a warning.
     */
    int read(String name, int byDefault, int least, int most) {
        Path file = folder.resolve(name);
        byte[] start;
        try (var in = Files.newInputStream(file)) {
            start = in.readNBytes(MAX_BYTES);
        } catch (IOException | SecurityException absent) {
            return byDefault;
        }
        Matcher number = NUMBER.matcher(new String(start, StandardCharsets.US_ASCII));
        if (!number.lookingAt()) {
            logger().log(
                            Level.WARNING,
                            "{0} is ignored, and {1} is used: it must begin with a number",
                            file,
                            Integer.toString(byDefault));
            return byDefault;
        }
        return Math.clamp(Long.parseLong(number.group(1)), least, most);
    }

    /** Looked up for each message: a logger in a field would set up logging before the program can configure it. */
    private static Logger logger() {
        return System.getLogger(AdministratorSettings.class.getName());
    }
}
