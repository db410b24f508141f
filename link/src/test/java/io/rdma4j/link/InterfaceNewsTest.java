package io.rdma4j.link;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

@Timeout(60)
@EnabledOnOs(OS.LINUX)
class InterfaceNewsTest {
    private static final long LONG_NANOS = SECONDS.toNanos(30);
    private static final long QUIET_NANOS = SECONDS.toNanos(1) / 10;

    /** Runs in a network namespace of its own: changes what it has, and says what it heard of. */
    static final class Main {
        /** More than the socket of the news has room for. */
        private static final int MANY = 3000;

        private Main() {}

        public static void main(String[] args) throws IOException, InterruptedException {
            try (InterfaceNews news = LinkSets.interfaceNews()) {
                if (news == null || run("ip link set lo up") != 0) {
                    System.out.println("not here");
                    return;
                }
                say("up", news);
                run("ip addr add 192.0.2.1/32 dev lo");
                say("address", news);
                String batch = String.join(
                        "\n",
                        IntStream.range(0, MANY)
                                .mapToObj(i -> "addr add 10.1." + i / 250 + "." + i % 250 + "/32 dev lo")
                                .toList());
                Process ip = new ProcessBuilder("ip", "-batch", "-").start();
                ip.getOutputStream().write(batch.getBytes(StandardCharsets.UTF_8));
                ip.getOutputStream().close();
                ip.waitFor();
                say("many", news);
            }
        }

        /** Whether there are news; then waits until there are no more, which would be never if they were not taken. */
        private static void say(String what, InterfaceNews news) {
            boolean heard = news.await(LONG_NANOS);
            System.out.println(what + " " + heard);
            boolean more;
            do {
                more = news.await(QUIET_NANOS);
            } while (more);
        }

        private static int run(String command) throws IOException, InterruptedException {
            return new ProcessBuilder(command.split(" ", -1)).start().waitFor();
        }
    }

    @Test
    void changesAreToldAndAnOverflowIsNews() throws Exception {
        List<String> told =
                ChildJava.run(List.of("unshare", "-rn"), List.of("--enable-native-access=ALL-UNNAMED"), Main.class);
        Assumptions.assumeTrue(told.getFirst().startsWith("up"), told.toString());
        assertThat(told).containsExactly("up true", "address true", "many true");
    }

    @Test
    void closingEndsAWaitAndAllThatFollow() throws Exception {
        InterfaceNews news = LinkSets.interfaceNews();
        Assumptions.assumeTrue(news != null, "nobody tells here");
        CompletableFuture<Boolean> wait = CompletableFuture.supplyAsync(() -> {
            boolean heard;
            do {
                heard = news.await(LONG_NANOS); // another program may change what this machine has
            } while (heard);
            return heard;
        });
        Thread.sleep(50); // also right if the wait begins after the end
        news.close();
        assertThat(wait.get(30, SECONDS)).isFalse();
        news.close();
        assertThat(news.await(LONG_NANOS)).isFalse();
    }

    @Test
    void nioDoesNotAskTheKernel() {
        String before = System.setProperty(LinkSets.KIND_PROPERTY, "nio");
        try {
            assertThat(LinkSets.interfaceNews()).isNull();
        } finally {
            if (before == null) {
                System.clearProperty(LinkSets.KIND_PROPERTY);
            } else {
                System.setProperty(LinkSets.KIND_PROPERTY, before);
            }
        }
    }
}
