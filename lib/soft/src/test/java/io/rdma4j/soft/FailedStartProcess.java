package io.rdma4j.soft;

import io.rdma4j.cm.CmId;
import io.rdma4j.value.PortSpace;
import io.rdma4j.verbs.RdmaException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * A process that binds an identifier, corrects the properties of its arguments, and binds again.
 *
 * <p>It prints the result of each attempt. It also prints the increase in open descriptors (of sockets, and of files in
 * the run directory) from the first failure to the last.
 *
 * <p>Each argument is {@code PROPERTY=VALUE}, a system property and its correct value.
 */
public final class FailedStartProcess {
    private static final int MORE_FAILURES = 20;

    /**
     * An address of the loopback network that no other test uses: the processes of other tests have another run
     * directory.
     */
    private static final InetAddress LOOPBACK = InetAddress.ofLiteral("127.20.26.1");

    private FailedStartProcess() {}

    /** Runs the process. */
    public static void main(String[] arguments) throws IOException {
        System.out.println("first " + bind());
        long once = descriptors();
        for (int i = 0; i < MORE_FAILURES; i++) {
            String _ = bind();
        }
        System.out.println("left " + (descriptors() - once));
        for (String each : List.of(arguments)) {
            String[] words = each.split("=", 2);
            if (words[1].isEmpty()) {
                System.clearProperty(words[0]);
            } else {
                System.setProperty(words[0], words[1]);
            }
        }
        System.out.println("then " + bind());
    }

    private static String bind() {
        try (CmId id = CmId.create(PortSpace.TCP)) {
            id.bindAddress(new InetSocketAddress(LOOPBACK, 0));
            return "bound";
        } catch (RdmaException e) {
            return e.errno() + " " + e.getMessage();
        } catch (Throwable unexpected) {
            return "unexpected " + unexpected;
        }
    }

    private static long descriptors() throws IOException {
        try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
            return all.count();
        }
    }
}
