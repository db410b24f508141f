package io.rdma4j.tools.messages;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.tools.ToolTestSupport;
import io.rdma4j.tools.command.ToolProcess;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests ucmatose, udaddy and mckey with too little memory. */
@Timeout(120)
class ShortMemoryTest {
    private static final long SECONDS = 60;

    /** Lets an allocation of more than 200 MB fail. */
    private static final String LITTLE_MEMORY =
            "-XX:+UnlockDiagnosticVMOptions -XX:NativeMemoryTracking=summary -XX:MallocLimit=other:200m:oom";

    private static final String LITTLE_HEAP = "-Xmx32m";

    private final List<String> out = new CopyOnWriteArrayList<>();
    private final List<String> err = new CopyOnWriteArrayList<>();
    private final List<String> peer = new CopyOnWriteArrayList<>();
    private final String port = ToolTestSupport.port();

    private ToolProcess start(String words, String javaOptions) {
        return ToolProcess.startWithInput(
                List.of(words.split(" ")), Map.of("JAVA_TOOL_OPTIONS", javaOptions), out::add, err::add);
    }

    private void requireSentence(String line, String explanation) {
        assertThat(out).as(err.toString()).contains(line);
        assertThat(err)
                .noneMatch(each -> each.contains("defect"))
                .filteredOn(each -> each.contains(explanation))
                .hasSize(1);
    }

    @Test
    void aServerReportsALackOfMemoryForItsMessages() throws InterruptedException {
        String words = "ucmatose -b 127.0.0.1" + port;
        try (ToolProcess server = start(words + " -S 2000000000", LITTLE_MEMORY)) {
            ToolTestSupport.await(out, "starting server");
            while (server.isAlive()) {
                try (ToolProcess client = ToolTestSupport.process("ucmatose -s 127.0.0.1" + port, peer)) {
                    client.await(SECONDS);
                }
                server.await(1);
            }
            assertThat(server.await(SECONDS)).as("%s %s %s", out, err, peer).isEqualTo(255);
        }
        requireSentence("failed message allocation", "use a smaller -S");
        assertThat(out).contains("cmatose: failed to create messages: -1", "return status -1");
    }

    @Test
    void aClientReportsALackOfMemoryForItsMessages() throws InterruptedException {
        try (ToolProcess server = ToolTestSupport.process("ucmatose -b 127.0.0.1" + port, peer)) {
            ToolTestSupport.await(peer, "starting server");
            Thread.sleep(200); // it listens just after the line
            try (ToolProcess client = start("ucmatose -s 127.0.0.1 -S 2000000000" + port, LITTLE_MEMORY)) {
                assertThat(client.await(SECONDS)).as("%s %s %s", out, err, peer).isEqualTo(255);
            }
            server.terminate();
        }
        requireSentence("failed message allocation", "use a smaller -S");
        assertThat(out).contains("cmatose: failed to create messages: -1", "return status -1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"ucmatose -s 127.0.0.1", "udaddy -s 127.0.0.1", "mckey -m 239.1.1.1 -b 127.0.0.1"})
    void moreConnectionsThanTheHeapHoldsAreReported(String words) throws InterruptedException {
        try (ToolProcess tool = start(words + " -c 100000", LITTLE_HEAP)) {
            assertThat(tool.await(SECONDS)).as("%s %s", out, err).isEqualTo(1);
        }
        String name = words.startsWith("ucmatose") ? "cmatose" : words.substring(0, words.indexOf(' '));
        requireSentence(name + ": unable to allocate memory for test nodes", "use a smaller -c");
        assertThat(out).endsWith("test complete", "return status 1");
    }
}
