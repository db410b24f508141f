package io.rdma4j.tools.cmtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.tools.ToolTestSupport;
import io.rdma4j.tools.command.ToolProcess;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests cmtime with more connections than fit into the heap, in processes with a small heap. */
@Timeout(120)
class CmtimeMemoryTest {
    private static final Map<String, String> SMALL_HEAP = Map.of("JAVA_TOOL_OPTIONS", "-Xmx24m");
    private static final long LIMIT_SECONDS = 60;

    private final List<String> lines = new CopyOnWriteArrayList<>();
    private final String address = ToolTestSupport.loopback();
    private final String port = ToolTestSupport.port();

    private ToolProcess start(String words) {
        return ToolProcess.startWithInput(List.of((words + port).split(" +")), SMALL_HEAP, lines::add, lines::add);
    }

    private void requireRefused(ToolProcess process) throws InterruptedException {
        assertThat(process.await(LIMIT_SECONDS)).as("%s", lines).isEqualTo(1);
        assertThat(lines).noneMatch(line -> line.contains("defect")).anyMatch(line -> line.contains("a smaller -c"));
    }

    @Test
    void moreConnectionsThanTheHeapHoldsAreReported() throws InterruptedException {
        String words = "cmtime -c 1000000 -b " + address + " -C " + address;
        try (ToolProcess server = start(words + " -L")) {
            ToolTestSupport.await(lines, "OOB root");
            try (ToolProcess client = start(words)) {
                requireRefused(client);
                requireRefused(server);
            }
        }
    }

    @Test
    void moreConnectionsOfTheClassicFormThanTheHeapHoldsAreReported() throws InterruptedException {
        try (ToolProcess client = start("cmtime --classic -c 1000000 -s " + address)) {
            requireRefused(client);
        }
    }
}
