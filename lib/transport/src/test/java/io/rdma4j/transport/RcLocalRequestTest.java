package io.rdma4j.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.SendOpcode;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Local requests (bind, invalidate) keep their place between requests that are sent again. */
class RcLocalRequestTest {
    private static final int PAGE = 1024;
    private static final long SECOND = 1_000_000_000L;

    private final Pair pair;
    private final MemoryRegion from;
    private final MemoryRegion to;
    private boolean isLosing = true;

    RcLocalRequestTest() {
        Pair.Options options = new Pair.Options();
        options.requests = 4;
        options.tailLossProbes = true;
        pair = new Pair(options);
        pair.wire = w -> isLosing ? List.of() : List.of(Pair.LATENCY_NANOS);
        pair.a.queuePair.rateLimit(125_000); // a packet of 1 KiB each 9 ms
        from = pair.a.register(8 * PAGE);
        to = pair.b.register(8 * PAGE);
        for (int i = 0; i < 8; i++) {
            from.memory().set(ValueLayout.JAVA_BYTE, (long) i * PAGE, (byte) ('0' + i));
        }
    }

    /** Writes a page and its number. */
    private void write(int page) {
        SendRequest r = pair.a.claim(page, SendOpcode.RDMA_WRITE);
        r.list.add(from, (long) page * PAGE, PAGE);
        r.remoteKey = to.key();
        r.remoteAddress = to.address() + (long) page * PAGE;
        pair.a.publish(r);
    }

    private void bind(int id) {
        MemoryWindow window = pair.a.memory.allocateWindow(false, Pair.PD);
        SendRequest r = pair.a.claim(id, SendOpcode.BIND_MEMORY_WINDOW);
        r.window = window;
        r.remoteKey = window.key() + 1;
        pair.a.queuePair.sendQueue().publish();
    }

    /**
     * The acknowledgement of a packet that is sent again completes the local request after it before the requester has passed
     * that request again. The slots of both are then used for new requests.
     */
    @Test
    void acknowledgementThatCompletesALocalRequestLeavesNoTraceOfItsSlot() {
        write(1);
        bind(2);
        write(3);
        write(4);
        long until = pair.now + 40_000_000; // all are sent, and lost
        pair.run(until);
        assertThat(pair.a.done).isEmpty();
        isLosing = false;
        for (int i = 0; i < 10_000 && pair.a.done.isEmpty(); i++) {
            until += 100_000;
            pair.run(until);
        }
        assertThat(pair.a.ids(false)).containsExactly(1L, 2L);
        write(5);
        write(6);
        pair.run(pair.now + 10 * SECOND);
        assertThat(pair.a.statuses(false)).containsOnly(CompletionStatus.SUCCESS);
        assertThat(pair.a.ids(false)).containsExactly(1L, 2L, 3L, 4L, 5L, 6L);
        for (int page : new int[] {1, 3, 4, 5, 6}) {
            assertThat(to.memory().get(ValueLayout.JAVA_BYTE, (long) page * PAGE))
                    .isEqualTo((byte) ('0' + page));
        }
    }
}
