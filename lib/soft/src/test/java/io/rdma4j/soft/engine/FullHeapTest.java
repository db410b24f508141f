package io.rdma4j.soft.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.fixture.ChildProcess;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A full heap ends no thread, and no thread stops the others, even if the heap is full at the worst time. */
@Timeout(60)
class FullHeapTest {
    private static void completes(String what, int calls) throws IOException, InterruptedException {
        try (ChildProcess process = new ChildProcess(FullHeapProcess.class, List.of("-Xmx16m"), what)) {
            assertThat(process.expect("=")).containsExactly(String.valueOf(calls));
        }
    }

    /** Java allocates even constant strings of the report when they are first used. */
    @Test
    void sharedThreadContinuesWhenItCannotHandleAFault() throws IOException, InterruptedException {
        completes("fault", 2);
    }

    /** Otherwise it would remain the leader after its wait has failed, and no thread would drive the engine. */
    @Test
    void threadAllocatesNothingBetweenBecomingTheLeaderAndLeading() throws IOException, InterruptedException {
        completes("lead", 4);
    }

    /** Otherwise the completion queue of the event could never be closed. */
    @Test
    void eventIsAcknowledgedWithoutMemory() throws IOException, InterruptedException {
        completes("acknowledge", 0);
    }

    /** Otherwise a thread would wait for an event whose completion is in the queue. */
    @Test
    void eventOfACompletionIsReportedWithoutMemory() throws IOException, InterruptedException {
        completes("report", 40);
    }
}
