package io.rdma4j.fuzz;

/**
 * Checks invariants. A message is built only on a violation, because a target runs some hundred thousand times per second.
 */
public final class Invariant {
    private Invariant() {}

    /** Throws {@link AssertionError} with the name of the invariant if a condition is false. */
    public static void holds(boolean condition, String invariant) {
        if (!condition) {
            throw new AssertionError(invariant);
        }
    }

    static void equal(long actual, long expected, String invariant) {
        if (actual != expected) {
            throw new AssertionError(invariant + ": " + actual + ", not " + expected);
        }
    }

    static void atMost(long actual, long limit, String invariant) {
        if (actual > limit) {
            throw new AssertionError(invariant + ": " + actual + ", more than " + limit);
        }
    }
}
