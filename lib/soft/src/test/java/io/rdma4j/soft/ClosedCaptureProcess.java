package io.rdma4j.soft;

import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.soft.process.ProcessStack;
import io.rdma4j.value.PortSpace;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Stream;

/**
 * A process that sends with a capture, closes the capture and sends again.
 *
 * <p>It prints the result of closing, and how often the capture is still open after that.
 */
public final class ClosedCaptureProcess {
    /**
     * An address of the loopback network that no other test uses: the processes of other tests have another run
     * directory.
     */
    private static final InetAddress LOOPBACK = InetAddress.ofLiteral("127.20.26.2");

    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private ClosedCaptureProcess() {}

    /**
     * Runs the process.
     *
     * @param arguments the path of the capture
     */
    public static void main(String[] arguments) throws IOException {
        System.out.println("connected " + connect());
        System.out.println("closed " + close());
        System.out.println("open " + descriptors(Path.of(arguments[0]).toRealPath()));
        System.out.println("connected " + connect());
        System.out.println("closed " + close());
    }

    private static String close() {
        try {
            ProcessStack.stack().closeCapture();
            return "well";
        } catch (IOException e) {
            return String.valueOf(e.getMessage());
        }
    }

    /** Requests a service that no process provides, which takes two packets. */
    private static String connect() {
        try (CmId id = CmId.create(PortSpace.TCP)) {
            id.resolveAddress(new InetSocketAddress(LOOPBACK, 0), new InetSocketAddress(LOOPBACK, 1), PATIENCE);
            id.resolveRoute(PATIENCE);
            id.createQueuePair(QueuePairInitAttributes.of(new QueuePairCapabilities(1, 1, 1, 1, 0)));
            id.connect(ConnectionParameters.defaults());
            return "well";
        } catch (RdmaException e) {
            return e.errno().toString();
        }
    }

    private static long descriptors(Path file) throws IOException {
        try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
            return all.filter(each -> isOf(each, file)).count();
        }
    }

    private static boolean isOf(Path descriptor, Path file) {
        try {
            return Files.readSymbolicLink(descriptor).equals(file);
        } catch (IOException exited) {
            return false;
        }
    }
}
