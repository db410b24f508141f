package io.rdma4j.transport;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Rings whose places are filled when they are used first. */
final class LazyRingTest {
    @ParameterizedTest
    @CsvSource({"0, 1", "1, 1", "2, 2", "3, 4", "4, 4", "5, 8", "1025, 2048"})
    void thereAreAsManyPlacesAsTheNextPowerOfTwo(int capacity, int count) {
        assertThat(new LazyRing<String>(capacity).count()).isEqualTo(count);
    }

    @Test
    void placesAreEmptyUntilSomethingIsPutThere() {
        LazyRing<String> places = new LazyRing<>(4);
        for (long number = 0; number < 8; number++) {
            assertThat(places.at(number)).isNull();
        }
        places.put(2, "two");
        assertThat(places.at(1)).isNull();
        assertThat(places.at(2)).isEqualTo("two");
        places.put(2, null);
        assertThat(places.at(2)).isNull();
    }

    @Test
    void numbersThatAreACountApartShareAPlace() {
        LazyRing<String> places = new LazyRing<>(4);
        long far = (1L << 32) - 3;
        places.put(far, "one");
        assertThat(places.at(1)).isEqualTo("one");
        assertThat(places.at(far + 4)).isEqualTo("one");
        assertThat(places.at(far + 1)).isNull();
    }
}
