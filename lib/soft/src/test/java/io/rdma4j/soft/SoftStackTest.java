package io.rdma4j.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.soft.device.RunningStack;
import io.rdma4j.soft.device.StackAccess;
import io.rdma4j.value.Gid;
import io.rdma4j.value.PortSpace;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Stacks that a program creates itself. */
class SoftStackTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(5);
    private static final InetAddress LOOPBACK = InetAddress.ofLiteral("127.0.0.1");

    @Test
    void stacksOfOneProcessHaveSeparateDevices() {
        try (SoftStack one = SoftStack.create();
                SoftStack other = SoftStack.create()) {
            Device first = one.deviceOf(LOOPBACK).orElseThrow();
            Device second = other.deviceOf(LOOPBACK).orElseThrow();
            assertThat(first.name()).isEqualTo(second.name());
            assertThat(first.guid()).isEqualTo(second.guid());
            try (DeviceContext context = first.open();
                    DeviceContext another = second.open()) {
                assertThat(context.gids(1)).contains(Gid.of(LOOPBACK));
                assertThat(another.gids(1)).contains(Gid.of(LOOPBACK));
            }
        }
    }

    @Test
    void stacksOfOneProcessConnectToEachOther() throws Exception {
        try (SoftStack one = SoftStack.create();
                SoftStack other = SoftStack.create();
                CmId listener = one.connectionManager().createId(PortSpace.TCP);
                CmId client = other.connectionManager().createId(PortSpace.TCP)) {
            listener.bindAddress(new InetSocketAddress("127.0.83.2", 0));
            listener.listen(1);
            CompletableFuture<CmEvent.Type> served = CompletableFuture.supplyAsync(() -> serve(listener));
            client.resolveAddress(new InetSocketAddress("127.0.83.2", listener.sourcePort()), TIMEOUT);
            client.resolveRoute(TIMEOUT);
            client.createQueuePair(QueuePairInitAttributes.of(new QueuePairCapabilities(4, 4, 1, 1, 0)));
            client.connect(ConnectionParameters.defaults());
            assertThat(served.get(30, TimeUnit.SECONDS)).isEqualTo(CmEvent.Type.ESTABLISHED);
            assertThat(client.event()).extracting(CmEvent::type).isEqualTo(CmEvent.Type.ESTABLISHED);
        }
    }

    private static CmEvent.Type serve(CmId listener) {
        try (CmId connection = listener.getRequest()) {
            connection.createQueuePair(QueuePairInitAttributes.of(new QueuePairCapabilities(4, 4, 1, 1, 0)));
            connection.accept(ConnectionParameters.defaults());
            return Objects.requireNonNull(connection.event()).type();
        }
    }

    @Test
    void aClosedStackOpensNothing() {
        SoftStack stack = SoftStack.create();
        Device device = stack.deviceOf(LOOPBACK).orElseThrow();
        stack.close();
        stack.close();
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(device::open)
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL))
                .withMessageContaining("closed");
    }

    @Test
    void closingAStackReleasesItsThreadsAndDescriptors() throws IOException, InterruptedException {
        useOne(); // loads classes and data that are loaded once
        long descriptors = descriptors();
        for (int i = 0; i < 20; i++) {
            for (Thread started : useOne()) {
                assertThat(started.join(Duration.ofSeconds(10)))
                        .as("%s ends", started)
                        .isTrue();
            }
        }
        assertThat(descriptors()).isLessThanOrEqualTo(descriptors);
    }

    /** Opens a stack and a port of it, and returns the threads that this started. */
    private static Set<Thread> useOne() {
        Set<Thread> before = Thread.getAllStackTraces().keySet();
        try (SoftStack stack = SoftStack.create();
                DeviceContext context = stack.deviceOf(LOOPBACK).orElseThrow().open();
                ProtectionDomain domain = context.createProtectionDomain()) {
            assertThat(domain).isNotNull();
            RunningStack running = StackAccess.devices(stack).running();
            running.ports().open(running.engines().main(), InetAddress.ofLiteral("127.0.83.1"));
            Set<Thread> started = new HashSet<>(Thread.getAllStackTraces().keySet());
            started.removeAll(before);
            started.removeIf(thread -> !thread.getName().startsWith("rdma4j-"));
            assertThat(started).hasSizeGreaterThanOrEqualTo(2);
            return started;
        }
    }

    private static long descriptors() throws IOException {
        try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
            return List.copyOf(open.toList()).size();
        }
    }
}
