package io.rdma4j.soft.warmup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.rdma4j.link.decorator.LinkOptions;
import io.rdma4j.soft.SoftStack;
import io.rdma4j.verbs.Device;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The warm-up of a process. */
class WarmUpTest {
    private static final Duration SHORT = Duration.ofMillis(300);

    /** Returns the threads of devices, without those of {@code known}. */
    private static List<Thread> threadsExcept(List<Thread> known) {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("rdma4j") && !known.contains(thread))
                .toList();
    }

    /** Runs a warm-up that creates its directory in a folder, unless the user has a directory of the session. */
    private static void warmUpIn(Path folder) {
        String temporary = System.getProperty("java.io.tmpdir");
        System.setProperty("java.io.tmpdir", folder.toString());
        try {
            SoftStack.warmUp(SHORT);
        } finally {
            System.setProperty("java.io.tmpdir", temporary);
        }
    }

    @Test
    void warmUpLeavesNothing(@TempDir Path folder) throws Exception {
        List<Thread> before = threadsExcept(List.of()); // of earlier tests: they may end at any time
        warmUpIn(folder);
        try (Stream<Path> left = Files.walk(folder, 2)) {
            assertThat(left.filter(path -> path.getFileName().toString().matches("[0-9]{19}")))
                    .isEmpty();
        }
        for (int i = 0; i < 100 && !threadsExcept(before).isEmpty(); i++) {
            Thread.sleep(20); // a thread may still be ending
        }
        assertThat(threadsExcept(before)).isEmpty();
    }

    @Test
    void theOptionsOfTheProcessDoNotApply(@TempDir Path folder) {
        Path capture = folder.resolve("capture.pcapng");
        System.setProperty(LinkOptions.CAPTURE_PROPERTY, capture.toString());
        System.setProperty(LinkOptions.FAULT_PROPERTY, "loss=100%");
        try {
            SoftStack.warmUp(SHORT);
        } finally {
            System.clearProperty(LinkOptions.CAPTURE_PROPERTY);
            System.clearProperty(LinkOptions.FAULT_PROPERTY);
        }
        assertThat(capture).doesNotExist();
    }

    @Test
    void impossibleWarmUpIsNotAnError(@TempDir Path folder) throws IOException {
        Path file = Files.createFile(folder.resolve("file"));
        warmUpIn(file);
    }

    @Test
    void aNegativeLimitIsRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> SoftStack.warmUp(Duration.ofMillis(-1)))
                .withMessageContaining("PT-0.001S");
    }

    @Test
    void privateStacksHaveOneAddressThatNoOtherStackHas() {
        try (PrivateStacks stacks = new PrivateStacks();
                PrivateStacks others = new PrivateStacks()) {
            assertThat(stacks.address().isLoopbackAddress()).isTrue();
            assertThat(stacks.first().devices()).hasSize(1);
            assertThat(stacks.first().deviceOf(stacks.address()).map(Device::name))
                    .isEqualTo(stacks.second().deviceOf(stacks.address()).map(Device::name));
            assertThat(stacks.first().deviceOf(others.address())).isEmpty();
        }
    }

    @Test
    void compilersAreQuietAfterAWhileWithoutNewCode() throws InterruptedException {
        CompilerActivity compilers = new CompilerActivity();
        assertThat(compilers.isQuiet()).isFalse();
        if (Files.isDirectory(Path.of("/proc/self/task"))) {
            for (int i = 0; i < 300 && !compilers.isQuiet(); i++) {
                Thread.sleep(20);
                boolean _ = compilers.isBusy();
            }
            assertThat(compilers.isQuiet()).isTrue();
        }
    }
}
