package io.rdma4j.transport;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The message sequence numbers that a response may carry. */
class MsnValidatorTest {
    private static final int MASK = 0xff_ffff;

    private final MsnValidator count = new MsnValidator();

    @Test
    void numbersFromCompletedToStartedMessagesArePlausible() {
        count.onBegun(5);
        count.onDone(2);
        count.observe(2);
        count.onDone(1);
        for (int number = 0; number < 10; number++) {
            assertThat(count.isPlausible(number)).as("number %d", number).isEqualTo(number >= 3 && number <= 5);
        }
        assertThat(count.isPlausible(MASK)).isFalse();
    }

    @Test
    void numbersWrapAroundToZero() {
        count.onBegun(MASK);
        count.onDone(MASK);
        count.observe(MASK);
        count.onBegun(3);
        for (int number : new int[] {MASK, 0, 1, 2}) {
            assertThat(count.isPlausible(number)).as("number %d", number).isTrue();
        }
        assertThat(count.isPlausible(3)).isFalse();
        assertThat(count.isPlausible(MASK - 1)).isFalse();
    }

    @Test
    void everyNumberIsPlausibleUntilAMessageHasCompleted() {
        count.onBegun(1);
        count.observe(17);
        assertThat(count.isPlausible(18)).isTrue();
        count.onDone(1);
        count.observe(1);
        assertThat(count.isPlausible(18)).isFalse();
    }

    @Test
    void everyNumberOfAPeerThatDoesNotCountIsPlausible() {
        count.onBegun(2);
        count.onDone(1);
        count.observe(0);
        count.onDone(1);
        count.observe(2);
        assertThat(count.isPlausible(0)).isTrue();
        assertThat(count.isPlausible(1000)).isTrue();
    }

    @Test
    void resetDiscardsAllCounts() {
        count.onBegun(9);
        count.onDone(9);
        count.observe(9);
        count.reset();
        count.onBegun(1);
        count.onDone(1);
        count.observe(1);
        assertThat(count.isPlausible(1)).isTrue();
        assertThat(count.isPlausible(9)).isFalse();
    }
}
