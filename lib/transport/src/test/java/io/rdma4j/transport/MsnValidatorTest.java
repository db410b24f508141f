package io.rdma4j.transport;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The message sequence numbers that a response may carry. */
class MsnValidatorTest {
    private static final int MASK = 0xff_ffff;

    private final MsnValidator validator = new MsnValidator();

    @Test
    void numbersFromCompletedToStartedMessagesArePlausible() {
        validator.onBegun(5);
        validator.onDone(2);
        validator.observe(2);
        validator.onDone(1);
        for (int number = 0; number < 10; number++) {
            assertThat(validator.isPlausible(number)).as("number %d", number).isEqualTo(number >= 3 && number <= 5);
        }
        assertThat(validator.isPlausible(MASK)).isFalse();
    }

    @Test
    void numbersWrapAroundToZero() {
        validator.onBegun(MASK);
        validator.onDone(MASK);
        validator.observe(MASK);
        validator.onBegun(3);
        for (int number : new int[] {MASK, 0, 1, 2}) {
            assertThat(validator.isPlausible(number)).as("number %d", number).isTrue();
        }
        assertThat(validator.isPlausible(3)).isFalse();
        assertThat(validator.isPlausible(MASK - 1)).isFalse();
    }

    @Test
    void everyNumberIsPlausibleUntilAMessageHasCompleted() {
        validator.onBegun(1);
        validator.observe(17);
        assertThat(validator.isPlausible(18)).isTrue();
        validator.onDone(1);
        validator.observe(1);
        assertThat(validator.isPlausible(18)).isFalse();
    }

    @Test
    void everyNumberOfAPeerThatDoesNotCountIsPlausible() {
        validator.onBegun(2);
        validator.onDone(1);
        validator.observe(0);
        validator.onDone(1);
        validator.observe(2);
        assertThat(validator.isPlausible(0)).isTrue();
        assertThat(validator.isPlausible(1000)).isTrue();
    }

    @Test
    void resetDiscardsAllCounts() {
        validator.onBegun(9);
        validator.onDone(9);
        validator.observe(9);
        validator.reset();
        validator.onBegun(1);
        validator.onDone(1);
        validator.observe(1);
        assertThat(validator.isPlausible(1)).isTrue();
        assertThat(validator.isPlausible(9)).isFalse();
    }
}
