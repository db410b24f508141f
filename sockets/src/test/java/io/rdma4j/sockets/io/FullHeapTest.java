package io.rdma4j.sockets.io;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionManager;
import io.rdma4j.sockets.TestClassPath;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A full heap loses nothing that a connection depends on. */
@Timeout(60)
class FullHeapTest {
    /** In a process of its own: prints what becomes of connections whose events find a heap that is or gets full. */
    static final class Events {
        private static final Object[] NONE = {};

        private static volatile Object[] full = NONE;

        private Events() {}

        public static void main(String[] arguments) throws InterruptedException {
            ConnectionService service = new ConnectionService(ConnectionManager.ofProcess());
            for (boolean fills : new boolean[] {false, true}) { // the first one loads the classes
                Filling target = new Filling(fills);
                CmId id = service.createId(target);
                id.resolveAddress(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 0), Duration.ofSeconds(2));
                boolean failed = target.failed.await(20, TimeUnit.SECONDS);
                full = NONE;
                System.out.println(failed ? "failed" : "lost");
            }
            System.exit(0);
        }

        private static final class Filling implements ConnectionService.Target {
            private final OutOfMemoryError fault = new OutOfMemoryError("of an event");
            private final boolean fills;
            private final CountDownLatch failed = new CountDownLatch(1);

            private Filling(boolean fills) {
                this.fills = fills;
            }

            @Override
            public void onEvent(CmEvent event) {
                if (fills) {
                    fill();
                }
                throw fault;
            }

            @Override
            public void onFailure(CmEvent event, Throwable why) {
                full = NONE;
                failed.countDown();
            }
        }

        private static void fill() {
            int length = 1 << 20;
            while (length > 0) {
                try {
                    Object[] next = new Object[length];
                    next[0] = full;
                    full = next;
                } catch (OutOfMemoryError noMore) {
                    length /= 2;
                }
            }
        }
    }

    @Test
    void failureOfAConnectionIsNotLost() throws Exception {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--enable-native-access=ALL-UNNAMED",
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-Xmx24m",
                        "-cp",
                        TestClassPath.of(FullHeapTest.class),
                        Events.class.getName())
                .redirectErrorStream(true)
                .start();
        assertThat(process.inputReader().lines()).containsExactly("failed", "failed");
    }
}
