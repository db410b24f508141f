package io.rdma4j.tools;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.fixture.RoceCapture;
import io.rdma4j.tools.command.ToolProcess;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests that every tool ends silently at SIGINT and SIGTERM: during its start, while it waits for its peer, and during
 * the traffic. Two cases run at a time.
 *
 * <p>In the command lines, ADDRESS is a loopback address and PORT a port, both different in each case, and FOLDER a
 * temporary directory.
 */
@EnabledOnOs(
        value = {OS.LINUX, OS.MAC},
        disabledReason = "sends signals")
@Timeout(120)
class SignalProcessTest {
    private static final int SIGINT_STATUS = 130;
    private static final int SIGTERM_STATUS = 143;
    private static final long LIMIT_SECONDS = 10;
    private static final long TRAFFIC_BYTES = 20_000;

    /** The command lines of servers, each after the text that the server prints before it waits for a client. */
    static final List<String> SERVERS = List.of(
            "rdma_listen | rping -s -d -a ADDRESS -p PORT",
            "rdma_listen | rping -s -d -P -a ADDRESS -p PORT",
            "starting server | ucmatose -b ADDRESS -p PORT",
            "starting server | udaddy -b ADDRESS",
            "receiving data | mckey -m 239.77.1.1 -b ADDRESS",
            "start | rdma_server -p PORT",
            "start | rdma_xserver -p PORT",
            "start | rdma_xserver -p PORT -c x",
            "usec/xfer | rstream -b ADDRESS -p PORT",
            "usec/xfer | rstream -T b -b ADDRESS -p PORT",
            "usec/xfer | rstream -T a -b ADDRESS -p PORT",
            "usec/xfer | rstream -T s -b ADDRESS -p PORT",
            "usec/xfer | rstream -T f -b ADDRESS -p PORT",
            "usec/xfer | riostream -b ADDRESS -p PORT",
            " | udpong -b ADDRESS -p PORT",
            " | udpong -T s -b ADDRESS -p PORT",
            " | rcopy -p PORT",
            "OOB root | cmtime -L -b ADDRESS -C ADDRESS -p PORT",
            "OOB root | cmtime -L -S 1 -b ADDRESS -C ADDRESS -p PORT",
            " | cmtime --classic -p PORT",
            "local address | ibv_rc_pingpong --device ADDRESS -p PORT",
            "local address | ibv_uc_pingpong --device ADDRESS -p PORT",
            "local address | ibv_ud_pingpong --device ADDRESS -p PORT",
            "local address | ibv_srq_pingpong --device ADDRESS -p PORT",
            " | ibv_xsrq_pingpong --device ADDRESS -p PORT",
            "Waiting for client | ib_send_lat -p PORT",
            "Waiting for client | ib_write_bw -p PORT",
            "Waiting for client | ib_read_bw -R -p PORT");

    /** Clients whose peer does not respond. */
    static final List<String> CLIENTS = List.of(
            "rping -c -d -a ADDRESS -p PORT",
            "ucmatose -s ADDRESS -p PORT",
            "udaddy -s ADDRESS",
            "rdma_client -s ADDRESS -p PORT",
            "rdma_xclient -s ADDRESS -p PORT",
            "rdma_xclient -s ADDRESS -p PORT -c x",
            "rstream --no-warm-up -s ADDRESS -p PORT",
            "rstream --no-warm-up -T b -s ADDRESS -p PORT",
            "rstream --no-warm-up -T a -s ADDRESS -p PORT",
            "riostream --no-warm-up -s ADDRESS -p PORT",
            "rcopy FOLDER/source ADDRESS:FOLDER/target -p PORT",
            "ib_read_bw --no-warm-up -R -p PORT ADDRESS");

    /** The command lines of a server and of a client that exchange messages for several seconds. */
    static final List<String> PAIRS = List.of(
            "rping -s -a ADDRESS -p PORT | rping -c -v -a ADDRESS -p PORT",
            "rping -s -P -a ADDRESS -p PORT | rping -c -V -a ADDRESS -p PORT",
            "ucmatose -b ADDRESS -p PORT -c 200 -C 100 -S 20000 | ucmatose -s ADDRESS -p PORT -c 200 -C 100 -S 20000",
            "rstream --no-warm-up -b ADDRESS -p PORT -I 1000000 | rstream --no-warm-up -s ADDRESS -p PORT -I 1000000",
            "rstream --no-warm-up -T b -b ADDRESS -p PORT -I 1000000 | rstream --no-warm-up -T b -s ADDRESS -p PORT -I 1000000",
            "rstream --no-warm-up -T a -b ADDRESS -p PORT -I 1000000 | rstream --no-warm-up -T a -s ADDRESS -p PORT -I 1000000",
            "riostream --no-warm-up -b ADDRESS -p PORT -I 1000000 | riostream --no-warm-up -s ADDRESS -p PORT -I 1000000",
            "udpong --no-warm-up -b ADDRESS -p PORT | udpong --no-warm-up -s ADDRESS -p PORT -C 100000000",
            "udpong --no-warm-up -b ADDRESS -p PORT | udpong --no-warm-up -s ADDRESS -p PORT -T e -C 100000000",
            "rcopy -p PORT | rcopy FOLDER/source 127.0.0.1:FOLDER/target -p PORT",
            "cmtime --no-warm-up -L -b ADDRESS -C ADDRESS -p PORT -c 5000 | cmtime --no-warm-up -b ADDRESS -C ADDRESS -p PORT -c 5000",
            "cmtime --no-warm-up --classic -p PORT -c 5000 | cmtime --no-warm-up --classic -s 127.0.0.1 -p PORT -c 5000",
            "ibv_rc_pingpong --device ADDRESS -p PORT -n 100000000 | ibv_rc_pingpong --device ADDRESS -p PORT -n 100000000 127.0.0.1",
            "ibv_rc_pingpong --device ADDRESS -e -p PORT -n 100000000 | ibv_rc_pingpong --device ADDRESS -e -p PORT -n 100000000 127.0.0.1",
            "ibv_uc_pingpong --device ADDRESS -p PORT -n 100000000 | ibv_uc_pingpong --device ADDRESS -p PORT -n 100000000 127.0.0.1",
            "ibv_ud_pingpong --device ADDRESS -p PORT -n 100000000 | ibv_ud_pingpong --device ADDRESS -p PORT -n 100000000 127.0.0.1",
            "ibv_srq_pingpong --device ADDRESS -p PORT -n 100000000 | ibv_srq_pingpong --device ADDRESS -p PORT -n 100000000 127.0.0.1",
            "ibv_xsrq_pingpong --device ADDRESS -p PORT -n 30000 | ibv_xsrq_pingpong --device ADDRESS -p PORT -n 30000 127.0.0.1",
            "ib_send_lat --no-warm-up -p PORT -n 3000000 | ib_send_lat --no-warm-up -p PORT -n 3000000 127.0.0.1",
            "ib_write_bw --no-warm-up -p PORT -D 60 | ib_write_bw --no-warm-up -p PORT -D 60 127.0.0.1",
            "ib_read_bw --no-warm-up -R -p PORT -D 60 | ib_read_bw --no-warm-up -R -p PORT -D 60 127.0.0.1");

    /**
     * A case with a command line that cannot specify an address holds this lock. Such a case uses all addresses of the
     * host. Concurrent cases would share the devices of these addresses, and would take over or lose the device's port
     * when a process ends.
     */
    private static final Lock HOST_ADDRESSES = new ReentrantLock();

    @TempDir
    private Path folder = Path.of("");

    private final String address = ToolTestSupport.loopback();
    private final int port = ToolTestSupport.portNumber();
    private final List<String> out = new CopyOnWriteArrayList<>();
    private final List<String> err = new CopyOnWriteArrayList<>();
    private final List<String> peerOut = new CopyOnWriteArrayList<>();
    private final List<String> peerErr = new CopyOnWriteArrayList<>();

    @BeforeAll
    static void requireSigint() throws IOException {
        ToolTestSupport.requireSigint();
    }

    private String words(String line) throws IOException {
        if (line.contains("FOLDER/source") && !Files.exists(folder.resolve("source"))) {
            try (RandomAccessFile source =
                    new RandomAccessFile(folder.resolve("source").toFile(), "rw")) {
                source.setLength(2_000_000_000);
            }
        }
        return line.replace("ADDRESS", address)
                .replace("PORT", String.valueOf(port))
                .replace("FOLDER", folder.toString());
    }

    private static List<String> split(String... parts) {
        List<String> words = new ArrayList<>();
        for (String part : parts) {
            words.addAll(List.of(part.strip().split(" +")));
        }
        return words;
    }

    /** Requires that the process exits soon after SIGINT with the status of the signal, and prints no error. */
    private void requireSilentEnd(ToolProcess process) throws IOException, InterruptedException {
        int errors = err.size();
        ToolTestSupport.interrupt(process);
        assertThat(process.await(LIMIT_SECONDS)).as("%s %s", out, err).isEqualTo(SIGINT_STATUS);
        assertThat(err.subList(errors, err.size())).isEmpty();
    }

    private void requireNoIncompleteFile() throws IOException {
        assertThat(names()).noneMatch(name -> name.startsWith(".rcopy-") || name.equals("target"));
    }

    private List<String> names() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString()).toList();
        }
    }

    /** Requires exactly one complete document of an interrupted run. */
    private void requireDocument() {
        String document = String.join("\n", out);
        assertThat(document).startsWith("{").endsWith("\"status\": null,\n  \"reason\": null\n}");
        assertThat(out).filteredOn(line -> line.equals("{")).hasSize(1);
    }

    /** Waits for a text in the output, unless the tool prints none. */
    private void awaitText(String text) throws InterruptedException {
        if (!text.isEmpty()) {
            ToolTestSupport.await(out, text);
        }
    }

    /** Runs a case. It runs alone if it uses all addresses of this host. */
    private static void run(String line, Case test) throws Exception {
        Lock lock = line.contains("ADDRESS") ? new ReentrantLock() : HOST_ADDRESSES;
        lock.lock();
        try {
            test.run();
        } finally {
            lock.unlock();
        }
    }

    /** A case of a test. */
    private interface Case {
        void run() throws Exception;
    }

    /** Waits until the process has opened a socket, which a tool does just before it listens or connects. */
    private static void awaitSocket(ToolProcess process) throws IOException, InterruptedException {
        Path descriptors = Path.of("/proc", String.valueOf(process.pid()), "fd");
        if (Files.isDirectory(descriptors)) {
            boolean hasHadSocket = false;
            while (process.isAlive() && !(hasHadSocket && hasSocket(descriptors))) {
                // A process that has just been started still has the sockets of this process.
                hasHadSocket = hasSocket(descriptors);
                Thread.sleep(hasHadSocket ? 100 : 10);
            }
        } else {
            Thread.sleep(1500); // long enough for a start, since nothing shows the sockets of another process
        }
    }

    private static boolean hasSocket(Path descriptors) throws IOException {
        try (Stream<Path> files = Files.list(descriptors)) {
            return files.anyMatch(SignalProcessTest::isSocket);
        } catch (NoSuchFileException hasEnded) {
            return false;
        }
    }

    private static boolean isSocket(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString().startsWith("socket:");
        } catch (IOException closed) {
            return false;
        }
    }

    /** Requires that the peer of an interrupted process ends, at the latest when it is terminated. */
    private void requireEnd(ToolProcess peer) throws InterruptedException {
        if (peer.await(1) < 0) {
            peer.terminate();
        }
        assertThat(peer.await(LIMIT_SECONDS)).as("%s %s", peerOut, peerErr).isNotNegative();
    }

    private static String part(String line, int index) {
        return line.split("\\|", -1)[index].strip();
    }

    /** Returns the first server of each tool. */
    static List<String> tools() {
        Set<String> names = new HashSet<>();
        return SERVERS.stream()
                .filter(line -> names.add(part(line, 1).split(" ", 2)[0]))
                .toList();
    }

    @ParameterizedTest
    @Execution(ExecutionMode.CONCURRENT)
    @MethodSource("tools")
    void aServerEndsDuringItsStart(String line) throws Exception {
        run(line, () -> endDuringStart(split(words(part(line, 1)), "--json")));
    }

    private void endDuringStart(List<String> words) throws Exception {
        int status = statusOfInterruptedStart(words);
        for (int i = 0; i < 10 && hasEndedBeforeMain(); i++) {
            out.clear();
            err.clear();
            status = statusOfInterruptedStart(words);
        }
        assertThat(status).as("%s %s", out, err).isEqualTo(SIGINT_STATUS);
        assertThat(err).noneMatch(text -> text.contains("Exception") || text.contains("defect"));
        if (!out.isEmpty()) {
            requireDocument();
        }
    }

    private int statusOfInterruptedStart(List<String> words) throws Exception {
        try (ToolProcess server = ToolProcess.start(words, out::add, err::add)) {
            Thread.sleep(ThreadLocalRandom.current().nextInt(50, 700)); // any time
            ToolTestSupport.interrupt(server);
            return server.await(LIMIT_SECONDS);
        }
    }

    /**
     * Returns whether the signal arrived while Java was initializing, before any code of the tool. In this case Java
     * prints a message on standard output, on standard error or on both, and may return status 1.
     */
    private boolean hasEndedBeforeMain() {
        return out.stream().anyMatch(text -> text.contains("Runtime.exit(130) logging failed"))
                || err.stream().anyMatch(text -> text.contains("Error occurred during initialization of VM"));
    }

    @ParameterizedTest
    @Execution(ExecutionMode.CONCURRENT)
    @FieldSource("SERVERS")
    void aServerEndsWhileItWaits(String line) throws Exception {
        run(line, () -> {
            try (ToolProcess server = ToolTestSupport.process(words(part(line, 1)), out, err)) {
                awaitText(part(line, 0));
                awaitSocket(server);
                assertThat(server.isAlive()).as("%s %s", out, err).isTrue();
                requireSilentEnd(server);
            }
        });
    }

    @ParameterizedTest
    @Execution(ExecutionMode.CONCURRENT)
    @FieldSource("CLIENTS")
    void aClientEndsWhileItConnects(String line) throws Exception {
        try (ToolProcess client = ToolTestSupport.process(words(line) + " --fault loss=100%", out, err)) {
            awaitSocket(client); // it repeats its request for seconds
            assertThat(client.isAlive()).as("%s %s", out, err).isTrue();
            requireSilentEnd(client);
        }
    }

    private static long sizeOf(Path file) throws IOException {
        return Files.exists(file) ? Files.size(file) : 0;
    }

    /** Starts the client and waits for its traffic. Restarts a client that connects before its server listens. */
    private ToolProcess startClient(String line, List<String> clientOut, List<String> clientErr) throws Exception {
        Path capture = folder.resolve("capture.pcapng");
        String words = words(line) + " --pcap " + capture;
        ToolProcess client = ToolTestSupport.process(words, clientOut, clientErr);
        for (int i = 0; i < 3000 && sizeOf(capture) < TRAFFIC_BYTES; i++) {
            if (!client.isAlive()) {
                clientOut.clear();
                clientErr.clear();
                client = ToolTestSupport.process(words, clientOut, clientErr);
            }
            Thread.sleep(10);
        }
        return client;
    }

    @ParameterizedTest
    @Execution(ExecutionMode.CONCURRENT)
    @FieldSource("PAIRS")
    void aClientEndsDuringTraffic(String line) throws Exception {
        run(line, () -> endClientDuringTraffic(line));
    }

    private void endClientDuringTraffic(String line) throws Exception {
        try (ToolProcess server = ToolTestSupport.process(words(part(line, 0)), peerOut, peerErr)) {
            awaitSocket(server);
            try (ToolProcess client = startClient(part(line, 1), out, err)) {
                assertThat(client.isAlive()).as("%s %s", out, err).isTrue();
                requireSilentEnd(client);
            }
            RoceCapture.read(folder.resolve("capture.pcapng"));
            requireEnd(server);
        }
        requireNoIncompleteFile();
        assertThat(peerErr).noneMatch(text -> text.contains("Exception") || text.contains("defect"));
    }

    @ParameterizedTest
    @Execution(ExecutionMode.CONCURRENT)
    @FieldSource("PAIRS")
    void aServerEndsDuringTraffic(String line) throws Exception {
        run(line, () -> endServerDuringTraffic(line));
    }

    private void endServerDuringTraffic(String line) throws Exception {
        try (ToolProcess server = ToolTestSupport.process(words(part(line, 0)) + " --json", out, err)) {
            awaitSocket(server);
            try (ToolProcess client = startClient(part(line, 1), peerOut, peerErr)) {
                assertThat(client.isAlive()).as("%s %s", peerOut, peerErr).isTrue();
                ToolTestSupport.interrupt(server);
                assertThat(server.await(LIMIT_SECONDS)).as("%s %s", out, err).isEqualTo(SIGINT_STATUS);
                requireDocument();
                // The server may print its progress until the signal, but no explanation of a failure.
                String tool = line.split(" ", 2)[0];
                assertThat(err).noneMatch(text -> text.contains(tool + ": ") || text.contains("Exception"));
                requireEnd(client);
            }
        }
        requireNoIncompleteFile();
        assertThat(peerErr).noneMatch(text -> text.contains("Exception") || text.contains("defect"));
    }

    @ParameterizedTest
    @Execution(ExecutionMode.CONCURRENT)
    @CsvSource({"demo, ping data", "sim --runs 1000000, ''"})
    void aToolWithoutAPeerEnds(String words, String text) throws Exception {
        try (ToolProcess process = ToolTestSupport.process(words, out, err)) {
            awaitText(text);
            Thread.sleep(500); // sim prints nothing
            requireSilentEnd(process);
        }
    }

    @ParameterizedTest
    @Execution(ExecutionMode.CONCURRENT)
    @ValueSource(
            strings = {"rping -s -P -a ADDRESS -p PORT", "rcopy -p PORT", "ibv_rc_pingpong --device ADDRESS -p PORT"})
    void sigtermHasItsOwnStatus(String line) throws Exception {
        run(line, () -> {
            try (ToolProcess server = ToolProcess.start(split(words(line), "--json"), out::add, err::add)) {
                awaitSocket(server);
                server.terminate();
                assertThat(server.await(LIMIT_SECONDS)).as("%s %s", out, err).isEqualTo(SIGTERM_STATUS);
            }
            requireDocument();
        });
    }
}
