package io.rdma4j.sockets.io;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.cm.CmId;
import io.rdma4j.cm.PortSpace;
import io.rdma4j.sockets.TestClassPath;
import io.rdma4j.sockets.datagram.DatagramSizes;
import io.rdma4j.sockets.stream.StreamSizes;
import io.rdma4j.verbs.RdmaException;
import java.io.File;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A socket whose creation fails half-way leaves nothing open, at whichever call it fails and with whichever exception. */
@Timeout(120)
class FailedResourcesTest {
    @TempDir
    @SuppressWarnings("NullAway.Init")
    Path folder;

    /**
     * In a process of its own, since the providers of a process are found once: lets every call of a creation fail, one in
     * each round. It says what each failure has left, and at the end how many calls could fail.
     */
    static final class Rounds {
        private static final CompletionHub.Target DEAF = () -> {};

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
                left.remove("DeviceContext"); // stays open as long as the device is there
                left.remove("CompletionChannel"); // of the hub, which stays, too
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
            try (CmId id = CmId.create(PortSpace.TCP, null)) {
                id.bindAddress(new InetSocketAddress(FailingProvider.ADDRESS, 0));
                new StreamResources(id, StreamSizes.DEFAULT, DEAF).close();
            }
        }

        private static void datagrams() {
            DatagramSettings settings = DatagramSettings.DEFAULT.withSizes(DatagramSizes.DEFAULT);
            DatagramResources.open(
                            DatagramAddresses.of(new InetSocketAddress(FailingProvider.ADDRESS, 0)), settings, DEAF)
                    .close();
        }
    }

    @ParameterizedTest
    @CsvSource({"stream, refusal", "stream, memory", "datagrams, refusal", "datagrams, memory"})
    void nothingStays(String what, String how) throws IOException, InterruptedException {
        Path services = Files.createDirectories(folder.resolve("META-INF/services"));
        for (String service : List.of("io.rdma4j.cm.spi.CmProvider", "io.rdma4j.verbs.spi.VerbsProvider")) {
            Files.writeString(services.resolve(service), FailingProvider.class.getName());
        }
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--enable-native-access=ALL-UNNAMED",
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        folder + File.pathSeparator + TestClassPath.of(FailedResourcesTest.class),
                        Rounds.class.getName(),
                        what,
                        how)
                .redirectErrorStream(true)
                .start();
        List<String> lines = process.inputReader().lines().toList();
        assertThat(process.waitFor()).as(lines.toString()).isZero();
        assertThat(lines).singleElement().asString().matches("calls [0-9]{2,3}");
    }
}
