package io.rdma4j.sockets.io;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.sockets.TestClassPath;
import io.rdma4j.value.PortSpace;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.wait.Signal;
import io.rdma4j.wire.rsocket.BufferDescriptor;
import io.rdma4j.wire.rsocket.ConnectData;
import java.io.File;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * If the creation of a socket fails halfway, no object stays open, whichever call fails and with whichever exception.
 */
@Timeout(120)
class FailedResourcesTest {
    @TempDir
    @SuppressWarnings("NullAway.Init")
    Path folder;

    /**
     * Lets every call of a creation fail, one in each round. It prints the objects that each failure has left open, and
     * at the end how many calls could fail. It runs in a separate process, since the providers of a process are found
     * only once.
     */
    static final class Rounds {
        private Rounds() {}

        public static void main(String[] arguments) {
            boolean noMemory = arguments[1].equals("memory");
            for (int call = 1; ; call++) {
                FailingProvider.fail(call, noMemory);
                try {
                    if (arguments[0].equals("stream")) {
                        stream();
                    } else {
                        datagrams();
                    }
                } catch (RdmaException | OutOfMemoryError failure) {
                    if (!FailingProvider.hasFailed()) {
                        throw failure;
                    }
                }
                List<String> left = new ArrayList<>(FailingProvider.OPEN);
                left.remove("DeviceContext"); // stays open as long as the device exists
                if (!left.isEmpty()) {
                    System.out.println("call " + call + " leaves " + left);
                }
                if (!FailingProvider.hasFailed()) {
                    System.out.println("calls " + (call - 1));
                    return;
                }
            }
        }

        private static void stream() {
            try (CmId id = CmId.create(PortSpace.TCP)) {
                id.bindAddress(new InetSocketAddress(FailingProvider.ADDRESS, 0));
                new StreamResources(id, StreamSettings.DEFAULT, new Signal()).close();
            }
        }

        private static void datagrams() {
            DatagramSettings settings = DatagramSettings.DEFAULT;
            DatagramResources.open(
                            ConnectionService.ofProcess(),
                            DatagramAddresses.of(new InetSocketAddress(FailingProvider.ADDRESS, 0)),
                            settings,
                            new Signal())
                    .close();
        }
    }

    /**
     * The device refuses to send the last message of a connection. It runs in a separate process, and prints the
     * objects that stay open.
     */
    static final class Ends {
        private static final ConnectData PEER = new ConnectData(
                false, true, 384, 8, new BufferDescriptor(0x1000, 1, 2), new BufferDescriptor(0x2000, 1, 65_536));

        private Ends() {}

        public static void main(String[] arguments) throws IOException {
            if (arguments[0].equals("later")) {
                resolvedLater();
                return;
            }
            StreamEndpoint endpoint = connected();
            if (arguments[0].equals("disconnect")) {
                FailingProvider.fail(1, false);
                System.out.println(endpoint.withResources(Ends::isDisconnected) ? "disconnected" : "connected");
                return;
            }
            if (arguments[0].equals("error")) {
                FailingProvider.fail(1, true);
                for (int i = 0; i < 2; i++) {
                    try {
                        endpoint.read(ByteBuffer.allocate(1));
                    } catch (OutOfMemoryError | SocketException failure) {
                        System.out.println(failure.getMessage());
                    }
                }
                System.out.println((endpoint.readiness() & Readiness.ERROR) != 0 ? "broken" : "usable");
                return;
            }
            if (arguments[0].equals("close")) {
                FailingProvider.fail(1, false);
                endpoint.closeWithoutWaiting();
            } else {
                List<String> before = new ArrayList<>(FailingProvider.OPEN);
                StreamMapping mapping =
                        StreamMapping.of(endpoint, Arena.global().allocate(8), 0);
                FailingProvider.fail(1, false);
                try {
                    mapping.end();
                } catch (RdmaException refused) {
                    System.out.println("refused");
                }
                before.forEach(FailingProvider.OPEN::remove);
            }
            List<String> left = new ArrayList<>(FailingProvider.OPEN);
            left.remove("DeviceContext");
            left.remove("CompletionChannel");
            System.out.println("left " + left);
        }

        /**
         * Connects over a device that resolves the address and the route later, and then has no memory for the queue
         * pair.
         */
        private static void resolvedLater() throws IOException {
            StreamEndpoint endpoint = new StreamEndpoint(ConnectionService.ofProcess(), StreamSettings.DEFAULT);
            FailingProvider.fail(0, false);
            endpoint.startConnect(new InetSocketAddress(FailingProvider.ADDRESS, 7));
            System.out.println(endpoint.state());
            FailingProvider.report(CmEvent.Type.ADDRESS_RESOLVED);
            FailingProvider.fail(1, true);
            FailingProvider.report(CmEvent.Type.ROUTE_RESOLVED);
            endpoint.await(Readiness.OUT, System.nanoTime() + 10_000_000_000L);
            try {
                System.out.println(endpoint.finishConnect());
            } catch (SocketException failed) {
                System.out.println(failed.getCause());
            }
        }

        private static boolean isDisconnected(StreamResources resources) {
            try {
                resources.disconnected();
            } catch (RdmaException refused) {
                System.out.println("refused");
            }
            return resources.protocol().isDisconnected();
        }

        private static StreamEndpoint connected() throws IOException {
            FailingProvider.fail(0, false);
            CmId id = ConnectionService.ofProcess().createId(event -> {});
            id.bindAddress(new InetSocketAddress(FailingProvider.ADDRESS, 0));
            StreamEndpoint endpoint = new StreamEndpoint(ConnectionService.ofProcess(), StreamSettings.DEFAULT);
            AcceptQueue.Request request = new AcceptQueue.Request(id, PEER, FailingProvider.ADDRESS);
            endpoint.acceptRequest(
                    new AcceptQueue.Reply(request, 0, 0), new StreamListener(endpoint, 1, endpoint.changed));
            endpoint.state(StreamEndpoint.State.CONNECTED);
            return endpoint.withResources(resources -> {
                resources.protocol().start();
                return endpoint;
            });
        }
    }

    @Test
    void closingReleasesEverythingIfThePeerCannotBeNotified() throws IOException, InterruptedException {
        assertThat(run(Ends.class, "close")).containsExactly("left []");
    }

    @Test
    void streamEndsWithItsConnectionIfTheDeviceGivesNoCompletions() throws IOException, InterruptedException {
        assertThat(run(Ends.class, "disconnect")).containsExactly("refused", "disconnected");
    }

    @Test
    void streamIsBrokenByAnErrorThatMayHaveLeftItInAnyState() throws IOException, InterruptedException {
        assertThat(run(Ends.class, "error"))
                .containsExactly(
                        "the heap that is to be full",
                        "Connection reset (a call of this process ran out of memory)",
                        "broken");
    }

    @Test
    void failureInTheThreadOfTheServiceFailsTheAttempt() throws IOException, InterruptedException {
        assertThat(run(Ends.class, "later"))
                .containsExactly("CONNECTING", "java.lang.OutOfMemoryError: the heap that is to be full");
    }

    @Test
    void memoryIsUnmappedIfThePeerCannotBeNotified() throws IOException, InterruptedException {
        assertThat(run(Ends.class, "unmap")).containsExactly("refused", "left []");
    }

    @ParameterizedTest
    @CsvSource({"stream, refusal", "stream, memory", "datagrams, refusal", "datagrams, memory"})
    void noObjectStaysOpen(String what, String how) throws IOException, InterruptedException {
        assertThat(run(Rounds.class, what, how)).singleElement().asString().matches("calls [0-9]{2,3}");
    }

    private List<String> run(Class<?> main, String... arguments) throws IOException, InterruptedException {
        Path services = Files.createDirectories(folder.resolve("META-INF/services"));
        for (String service : List.of("io.rdma4j.cm.spi.CmProvider", "io.rdma4j.verbs.spi.VerbsProvider")) {
            Files.writeString(services.resolve(service), FailingProvider.class.getName());
        }
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                folder + File.pathSeparator + TestClassPath.of(FailedResourcesTest.class),
                main.getName()));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        List<String> lines = process.inputReader().lines().toList();
        assertThat(process.waitFor()).as(lines.toString()).isZero();
        return lines;
    }
}
