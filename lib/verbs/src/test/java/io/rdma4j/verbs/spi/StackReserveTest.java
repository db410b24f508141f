package io.rdma4j.verbs.spi;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that a thread that passes the check can call methods that need 16 KiB of stack. */
class StackReserveTest {
    @Test
    void threadThatPassesHasStackLeft() throws InterruptedException {
        for (int i = 0; i < 100_000; i++) { // until the check is compiled
            StackReserve.require();
        }
        StackReserveProcess.main(new String[] {"4"});
    }

    @ParameterizedTest
    @ValueSource(strings = {"-Xint", "-XX:TieredStopAtLevel=1", "-XX:-TieredCompilation", "-XX:+TieredCompilation"})
    void threadThatPassesHasStackLeftFromTheFirstCheckOn(String compilers) throws IOException, InterruptedException {
        String path = folder(StackReserve.class) + File.pathSeparator + folder(StackReserveProcess.class);
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        Process process = new ProcessBuilder(java, compilers, "-cp", path, StackReserveProcess.class.getName(), "40")
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), UTF_8);
        assertThat(output).isEmpty();
        assertThat(process.waitFor()).isZero();
    }

    private static String folder(Class<?> type) {
        String name = "/" + type.getName().replace('.', '/') + ".class";
        String text = Objects.requireNonNull(type.getResource(name)).toString();
        return Path.of(URI.create(text.substring(0, text.length() - name.length())))
                .toString();
    }

    @Test
    void virtualThreadPasses() throws InterruptedException, ExecutionException {
        FutureTask<Boolean> task = new FutureTask<>(StackReserve::require, true);
        Thread.ofVirtual().start(task).join();
        assertThat(task.get()).isTrue();
    }
}
