package io.rdma4j.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.RdmaException;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Stacks that a program creates for itself. */
class SoftStackTest {
    private static final InetAddress LOOPBACK = InetAddress.ofLiteral("127.0.0.1");

    @Test
    void stacksOfOneProcessHaveDevicesOfTheirOwn() {
        try (SoftStack one = SoftStack.create();
                SoftStack other = SoftStack.create()) {
            Device first = one.deviceOf(LOOPBACK).orElseThrow();
            Device second = other.deviceOf(LOOPBACK).orElseThrow();
            assertThat(first.name()).isEqualTo(second.name());
            assertThat(first.guid()).isNotEqualTo(second.guid());
            try (DeviceContext context = first.open();
                    DeviceContext another = second.open()) {
                assertThat(context.gids(1)).contains(Gid.of(LOOPBACK));
                assertThat(another.gids(1)).contains(Gid.of(LOOPBACK));
            }
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
    void closingAStackReleasesItsThreadsAndDescriptors() throws IOException {
        useOne(); // loads what is loaded once
        int threads = engineThreads();
        long descriptors = descriptors();
        for (int i = 0; i < 20; i++) {
            useOne();
        }
        assertThat(engineThreads()).isLessThanOrEqualTo(threads);
        assertThat(descriptors()).isLessThanOrEqualTo(descriptors + 2); // the run directory's lock files stay open
    }

    private static void useOne() {
        try (SoftStack stack = SoftStack.create();
                DeviceContext context = stack.deviceOf(LOOPBACK).orElseThrow().open();
                ProtectionDomain domain = context.createProtectionDomain()) {
            assertThat(domain).isNotNull();
            stack.internals().engine().openPort(InetAddress.ofLiteral("127.0.83.1"));
        }
    }

    private static int engineThreads() {
        return (int) Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("rdma4j-"))
                .count();
    }

    private static long descriptors() throws IOException {
        try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
            return List.copyOf(open.toList()).size();
        }
    }
}
