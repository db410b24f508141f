package io.rdma4j.tools.sockets;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.fixture.CapturedFrame;
import io.rdma4j.fixture.RoceCapture;
import io.rdma4j.tools.ToolTestSupport;
import io.rdma4j.tools.command.ToolProcess;
import io.rdma4j.wire.Opcode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests of the common options with rstream, riostream and rcopy, each side in a separate process. */
@Timeout(90)
class StreamToolsProcessTest {
    private static final long TIMEOUT_SECONDS = 60;
    private static final String FAULTS = " --no-warm-up --fault loss=1%,dup=30%,seed=";

    @TempDir
    private Path folder = Path.of("");

    private final List<String> serverOut = new CopyOnWriteArrayList<>();
    private final List<String> serverErr = new CopyOnWriteArrayList<>();
    private final List<String> clientOut = new CopyOnWriteArrayList<>();
    private final List<String> clientErr = new CopyOnWriteArrayList<>();

    @ParameterizedTest
    @CsvSource({"rstream -s 127.0.0.1 -p 1", "rstream -T s", "riostream -s 127.0.0.1 -p 1", "riostream"})
    void aBufferThatExceedsTheMemoryIsReported(String words) throws InterruptedException {
        List<String> lines = new CopyOnWriteArrayList<>();
        try (ToolProcess process = ToolProcess.startWithInput(
                List.of((words + " -S 2147483647").split(" ")),
                Map.of("JAVA_TOOL_OPTIONS", "-XX:MaxDirectMemorySize=64m"),
                lines::add,
                lines::add)) {
            assertThat(process.await(TIMEOUT_SECONDS)).as("%s", lines).isEqualTo(255);
        }
        assertThat(lines).contains("malloc: Cannot allocate memory").noneMatch(line -> line.contains("defect"));
    }

    private ToolProcess server(String words) {
        return ToolTestSupport.process(
                words + " --json --trace --pcap " + folder.resolve("server.pcapng"), serverOut, serverErr);
    }

    /** Starts the client, with faults injected into its traffic. */
    private ToolProcess client(String words) {
        return ToolTestSupport.process(
                words + " --json --trace --pcap " + folder.resolve("client.pcapng") + FAULTS + "5",
                clientOut,
                clientErr);
    }

    /** Asserts that both sides traced and captured the packets, all RoCEv2, and that some were duplicated. */
    private void assertPacketsTraced(Opcode data) throws IOException {
        assertThat(clientErr).anyMatch(line -> line.contains(data.name()));
        assertThat(serverErr).anyMatch(line -> line.contains(data.name()));
        for (String side : List.of("client", "server")) {
            RoceCapture packets = RoceCapture.read(folder.resolve(side + ".pcapng"));
            assertThat(packets.others()).isZero();
            assertThat(packets.opcodes())
                    .containsKeys(data.code(), Opcode.RC_ACKNOWLEDGE.code(), Opcode.UD_SEND_ONLY.code());
            assertThat(duplicates(packets, data)).as(side).isPositive();
        }
    }

    private static int duplicates(RoceCapture packets, Opcode opcode) {
        Set<ByteBuffer> seen = new HashSet<>();
        int duplicates = 0;
        for (CapturedFrame frame : packets.frames()) {
            // Without the checksum: it covers the IP identification, which differs if a frame is sent twice in one
            // burst.
            ByteBuffer bytes = frame.bytes().slice(0, frame.length() - CapturedFrame.ICRC_BYTES);
            if (frame.opcode() == opcode.code() && !seen.add(bytes)) {
                duplicates++;
            }
        }
        return duplicates;
    }

    @ParameterizedTest
    @CsvSource({"rstream, RC_WRITE_ONLY_IMMEDIATE", "riostream, RC_WRITE_ONLY"})
    void packetsOfAStreamAreTracedAndFaultsInjected(String tool, Opcode data) throws Exception {
        String words = tool + " -C 20 -I 3 -S 700 -T v" + ToolTestSupport.port();
        String address = ToolTestSupport.loopback();
        try (ToolProcess server = server(words + " -b " + address)) {
            ToolTestSupport.await(serverErr, "usec/xfer");
            try (ToolProcess client = client(words + " -s " + address)) {
                assertThat(client.await(TIMEOUT_SECONDS))
                        .as(clientErr + " " + serverErr)
                        .isZero();
            }
            assertThat(server.await(TIMEOUT_SECONDS)).as(serverErr.toString()).isZero();
        }
        for (List<String> document : List.of(clientOut, serverOut)) {
            assertThat(String.join("\n", document))
                    .startsWith("{")
                    .endsWith("}")
                    .containsOnlyOnce("\"tool\": \"" + tool + "\"")
                    .containsOnlyOnce("\"totalBytes\": 84000")
                    .contains("\"status\": 0");
        }
        assertPacketsTraced(data);
    }

    @Test
    void packetsOfACopyAreTracedAndFaultsInjected() throws Exception {
        byte[] content = new byte[600_000];
        new Random(9).nextBytes(content);
        Path source = Files.write(folder.resolve("source"), content);
        Path target = folder.resolve("target");
        String port = ToolTestSupport.port();
        try (ToolProcess server = server("rcopy" + port)) {
            int status = -1;
            for (int tries = 0; tries < 20 && status != 0 && server.isAlive(); tries++) {
                clientOut.clear();
                try (ToolProcess client = client("rcopy " + source + " 127.0.0.1:" + target + port)) {
                    status = client.await(TIMEOUT_SECONDS);
                }
            }
            assertThat(status).as(clientErr + " " + serverErr).isZero();
            server.terminate();
            server.await(TIMEOUT_SECONDS);
        }
        assertThat(target).hasBinaryContent(content);
        assertThat(String.join("\n", clientOut))
                .contains("\"tool\": \"rcopy\"", "\"bytes\": 600000", "\"elapsedSeconds\"", "\"status\": 0");
        assertThat(String.join("\n", serverOut)).contains("\"tool\": \"rcopy\"", "\"files\": 1", "\"bytes\": 600000");
        assertPacketsTraced(Opcode.RC_WRITE_MIDDLE);
    }
}
