package io.rdma4j.transport;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** A responder remembers recent READs and atomics in order to answer duplicates. */
final class ReadAtomicResourcesTest {
    private static final int DEPTH = 4;

    private final ReadAtomicResources remembered = new ReadAtomicResources(DEPTH);

    private static ReadAtomicResources.Resource add(ReadAtomicResources resources, long sequence) {
        ReadAtomicResources.Resource r = resources.allocate();
        r.firstSequence = sequence;
        r.endSequence = sequence + 1;
        r.sentEnd = sequence;
        resources.activate(r, sequence, 1);
        return r;
    }

    private static void complete(ReadAtomicResources resources, ReadAtomicResources.Resource r) {
        r.sentEnd = r.endSequence;
        resources.deactivate(r);
    }

    @Test
    void requestIsRememberedUntilAsManyAsTheDepthFollow() {
        for (long sequence = 0; sequence < 3 * DEPTH; sequence++) {
            complete(remembered, add(remembered, sequence));
            for (long other = 0; other < 3 * DEPTH; other++) {
                assertThat(remembered.find(other) != null).isEqualTo(other <= sequence && other > sequence - DEPTH);
            }
        }
    }

    @Test
    void roomIsAvailableWhileFewerThanTheDepthAreUsedOrTheOldestIsAnswered() {
        ReadAtomicResources.Resource first = add(remembered, 0);
        for (long sequence = 1; sequence < DEPTH; sequence++) {
            assertThat(remembered.hasRoom()).isTrue();
            add(remembered, sequence);
        }
        assertThat(remembered.hasRoom()).isFalse();
        complete(remembered, first);
        assertThat(remembered.hasRoom()).isTrue();
        assertThat(remembered.allocate()).isSameAs(first);
    }

    @Test
    void responsesKeepTheOrderOfTheirRequestsWhenTheDepthChanges() {
        ReadAtomicResources.Resource completed = add(remembered, 0);
        ReadAtomicResources.Resource pending = add(remembered, 1);
        ReadAtomicResources.Resource last = add(remembered, 2);
        complete(remembered, completed);
        ReadAtomicResources deeper = new ReadAtomicResources(2 * DEPTH, remembered);
        assertThat(deeper.current()).isSameAs(pending);
        complete(deeper, pending);
        assertThat(deeper.current()).isSameAs(last);
        complete(deeper, last);
        assertThat(deeper.current()).isNull();
    }

    @Test
    void greaterDepthKeepsAllRequestsAndHoldsMore() {
        for (long sequence = 0; sequence < DEPTH + 2; sequence++) {
            complete(remembered, add(remembered, sequence));
        }
        ReadAtomicResources deeper = new ReadAtomicResources(2 * DEPTH, remembered);
        for (long sequence = DEPTH + 2; sequence < 2 * DEPTH + 2; sequence++) {
            assertThat(deeper.hasRoom()).isTrue();
            add(deeper, sequence);
        }
        for (long sequence = 0; sequence < 2 * DEPTH + 2; sequence++) {
            assertThat(deeper.find(sequence) != null).isEqualTo(sequence >= 2);
        }
    }

    @Test
    void smallerDepthKeepsTheNewestRequests() {
        for (long sequence = 0; sequence < DEPTH; sequence++) {
            complete(remembered, add(remembered, sequence));
        }
        ReadAtomicResources shallower = new ReadAtomicResources(DEPTH / 2, remembered);
        for (long sequence = 0; sequence < DEPTH; sequence++) {
            assertThat(shallower.find(sequence) != null).isEqualTo(sequence >= DEPTH / 2);
        }
        assertThat(new ReadAtomicResources(0, remembered).isEnabled()).isFalse();
    }
}
