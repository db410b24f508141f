package io.rdma4j.fuzz;

/**
 * Checks laws. A message is built only on a violation, because a target runs some hundred thousand times per second.
 */
final class Law {
    private Law() {}

    static void holds(boolean condition, String law) {
        if (!condition) {
            throw new AssertionError(law);
        }
    }

    static void equal(long actual, long expected, String law) {
        if (actual != expected) {
            throw new AssertionError(law + ": " + actual + ", not " + expected);
        }
    }

    static void atMost(long actual, long limit, String law) {
        if (actual > limit) {
            throw new AssertionError(law + ": " + actual + ", more than " + limit);
        }
    }
}
