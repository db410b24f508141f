package io.rdma4j.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rdma4j.fixture.ChildProcess;
import io.rdma4j.fixture.TestEndpoint;
import io.rdma4j.link.Link;
import io.rdma4j.link.decorator.LinkOptions;
import io.rdma4j.verbs.RemoteMemory;
import io.rdma4j.verbs.WorkCompletion;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Packets between processes of this host go through shared memory, and none of it is left when a process ends. */
@Timeout(60)
class SharedMemoryTest {
    private static final long PATIENCE_NANOS = 10_000_000_000L;

    private final String address = TestAddresses.loopback().getHostAddress();

    @TempDir
    @SuppressWarnings("NullAway.Init")
    Path folder;

    @BeforeEach
    void needsSystemCallsAndSharedMemory() {
        assumeTrue(Files.exists(Path.of("/proc/self/maps"))
                && Link.class.getModule().isNativeAccessEnabled()
                && LinkOptions.fromSystemProperties().sharedMemory());
    }

    private @org.jspecify.annotations.Nullable TestEndpoint opened;

    @AfterEach
    void close() {
        if (opened != null) {
            opened.close();
        }
    }

    private TestEndpoint endpoint() throws IOException {
        TestEndpoint endpoint = new TestEndpoint(InetAddress.getByName(address));
        opened = endpoint;
        return endpoint;
    }

    private static RemoteMemory connect(TestEndpoint own, ChildProcess child, String address)
            throws IOException, InterruptedException {
        String[] of = child.expect("ready");
        child.send("connect " + own.queuePair.number() + " " + own.region.address() + " " + own.region.remoteKey());
        child.expect("connected");
        own.connect(InetAddress.getByName(address), Integer.parseInt(of[0]), own.psn);
        return new RemoteMemory(Long.parseLong(of[1]), Integer.parseInt(of[2]), 8);
    }

    /** Writes to the other process and reads back, {@code count} times. */
    private static void exchange(TestEndpoint own, RemoteMemory remote, int count) {
        for (int i = 1; i <= count; i++) {
            own.memory.set(ValueLayout.JAVA_LONG, 0, i);
            own.queuePair.postWrite(i, own.region, 0, 8, remote);
            own.queuePair.postRead(-i, own.region, 8, 8, remote);
            assertThat(own.completion().isSuccess()).isTrue();
            assertThat(own.completion().isSuccess()).isTrue();
            assertThat(own.memory.get(ValueLayout.JAVA_LONG, 8)).isEqualTo(i);
        }
    }

    private static long counter(TestEndpoint endpoint, String name) {
        return endpoint.context.counters().getOrDefault(name, -1L);
    }

    @Test
    void packetsToAnotherProcessGoThroughMemory() throws IOException, InterruptedException {
        try (ChildProcess child = new ChildProcess(PeerProcess.class, List.of(), address)) {
            TestEndpoint own = endpoint();
            long sent = counter(own, "process_memory_sent_pkts");
            long received = counter(own, "process_memory_rcvd_pkts");
            exchange(own, connect(own, child, address), 100);
            assertThat(counter(own, "process_memory_sent_pkts") - sent).isBetween(200L, 400L);
            assertThat(counter(own, "process_memory_rcvd_pkts") - received).isBetween(100L, 400L);
            assertThat(counter(own, "process_memory_drops")).isZero();
        }
    }

    @Test
    void processWithoutSharedMemoryIsReachedByUdp() throws IOException, InterruptedException {
        try (ChildProcess child = new ChildProcess(PeerProcess.class, List.of("-Drdma4j.shared-memory=off"), address)) {
            TestEndpoint own = endpoint();
            long sent = counter(own, "process_memory_sent_pkts");
            exchange(own, connect(own, child, address), 10);
            assertThat(counter(own, "process_memory_sent_pkts")).isEqualTo(sent);
        }
    }

    @Test
    void killedProcessLeavesNeitherMappingsNorDescriptors() throws Exception {
        TestEndpoint own = endpoint();
        long mappings = mappings();
        long descriptors;
        try (ChildProcess child = new ChildProcess(PeerProcess.class, List.of(), address)) {
            RemoteMemory remote = connect(own, child, address);
            descriptors = descriptors();
            exchange(own, remote, 10);
            assertThat(mappings()).isEqualTo(mappings + 2);
            own.queuePair.postWrite(1, own.region, 0, 8, remote);
            child.kill();
        }
        WorkCompletion last = own.completion();
        assertThat(last.id()).isEqualTo(1);
        long giveUp = System.nanoTime() + PATIENCE_NANOS;
        while ((mappings() > mappings || descriptors() > descriptors) && System.nanoTime() - giveUp < 0) {
            Thread.sleep(20);
        }
        assertThat(mappings()).isEqualTo(mappings);
        assertThat(descriptors()).isLessThanOrEqualTo(descriptors);
    }

    @Test
    void nextProcessRemovesTheSocketsOfAKilledOne() throws Exception {
        Path run = folder.resolve("run");
        try (ChildProcess child = new ChildProcess(PeerProcess.class, List.of("-Drdma4j.run.dir=" + run), address)) {
            String[] of = child.expect("ready");
            child.send("connect " + of[0] + " " + of[1] + " " + of[2]); // to itself: opens the port
            child.expect("connected");
            assertThat(ringSockets(run)).hasSize(1);
            child.kill();
        }
        assertThat(ringSockets(run)).hasSize(1);
        assertThat(reportSockets(run)).hasSize(1);
        try (SoftStack stack = SoftStack.builder().runDirectory(run).build();
                var context = stack.devices().getFirst().open()) {
            assertThat(context.device().name()).isNotEmpty();
            assertThat(ringSockets(run)).isEmpty();
            assertThat(reportSockets(run))
                    .as("sockets for reports, of this stack alone")
                    .hasSize(1);
        }
    }

    private static List<String> ringSockets(Path run) throws IOException {
        return files(run, name -> name.endsWith(".ring"));
    }

    private static List<String> reportSockets(Path run) throws IOException {
        return files(run, name -> name.startsWith("report-"));
    }

    private static List<String> files(Path run, Predicate<String> isWanted) throws IOException {
        try (Stream<Path> files = Files.list(run)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(isWanted)
                    .toList();
        }
    }

    private static long mappings() throws IOException {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
            return lines.filter(line -> line.contains("rdma4j-ring")).count();
        }
    }

    private static long descriptors() throws IOException {
        try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
            return files.count();
        }
    }
}
