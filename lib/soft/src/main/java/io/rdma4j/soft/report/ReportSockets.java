package io.rdma4j.soft.report;

import io.rdma4j.soft.host.RunDirectories;
import io.rdma4j.verbs.RdmaException;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The sockets through which the processes of this user in this network namespace send their reports. */
public final class ReportSockets {
    private static final String PREFIX = "report-";
    private static final String SUFFIX = ".sock";

    private ReportSockets() {}

    static String name(int slot) {
        return PREFIX + slot + SUFFIX;
    }

    /**
     * Returns the sockets in the run directory of this process. Some may belong to processes that were killed: they refuse
     * connections.
     *
     * @throws RdmaException {@code EACCES} if other users may enter or replace the run directory
     * @throws IOException if the directory cannot be read
     */
    public static List<Path> list() throws IOException {
        List<Path> sockets = new ArrayList<>();
        try (DirectoryStream<Path> found =
                Files.newDirectoryStream(RunDirectories.open().path(), PREFIX + "*" + SUFFIX)) {
            found.forEach(sockets::add);
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        sockets.sort(null);
        return sockets;
    }
}
