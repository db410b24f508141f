package io.rdma4j.fuzz;

/** Says what does not hold. The message is made only then, since a target runs some hundred thousand times a second. */
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
