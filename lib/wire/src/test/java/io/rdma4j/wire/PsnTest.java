package io.rdma4j.wire;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PsnTest {
    private static final int HALF = 1 << 23;
    private static final int LAST = 0xff_ffff;

    @Test
    void numbersWrapAround() {
        assertThat(Psn.next(LAST)).isZero();
        assertThat(Psn.next(HALF - 1)).isEqualTo(HALF);
        assertThat(Psn.plus(LAST, 1)).isZero();
        assertThat(Psn.plus(0, -1)).isEqualTo(LAST);
        assertThat(Psn.plus(HALF, HALF)).isZero();
        assertThat(Psn.plus(5, Psn.COUNT)).isEqualTo(5);
        assertThat(Psn.plus(1, Integer.MIN_VALUE)).isEqualTo(1);
    }

    @Test
    void distanceIsTheShorterOneModuloTheNumberOfPsns() {
        assertThat(Psn.distance(0, LAST)).isEqualTo(1);
        assertThat(Psn.distance(LAST, 0)).isEqualTo(-1);
        assertThat(Psn.distance(HALF - 1, 0)).isEqualTo(HALF - 1);
        assertThat(Psn.distance(HALF, 0)).isEqualTo(-HALF);
        assertThat(Psn.distance(0, HALF)).isEqualTo(-HALF);
        assertThat(Psn.distance(0, HALF + 1)).isEqualTo(HALF - 1);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, HALF - 2, HALF - 1, HALF, HALF + 1, LAST - 1, LAST})
    void orderHoldsAroundEveryWrap(int psn) {
        for (int distance : new int[] {1, 2, 100, HALF - 1}) {
            int later = Psn.plus(psn, distance);
            assertThat(later).isBetween(0, LAST);
            assertThat(Psn.distance(later, psn)).isEqualTo(distance);
            assertThat(Psn.distance(psn, later)).isEqualTo(-distance);
            assertThat(Psn.isAfter(later, psn)).isTrue();
            assertThat(Psn.isBefore(psn, later)).isTrue();
            assertThat(Psn.isBefore(later, psn)).isFalse();
            assertThat(Psn.isAfter(psn, later)).isFalse();
        }
        assertThat(Psn.distance(psn, psn)).isZero();
        assertThat(Psn.isBefore(psn, psn)).isFalse();
        assertThat(Psn.isAfter(psn, psn)).isFalse();
    }
}
