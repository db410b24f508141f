package io.rdma4j.acceptance;

/**
 * The outcome of a test.
 *
 * @param verdict passed, failed, slow, or not run
 * @param measured the measured figure, in the terms of the required figure; or the reason why the test did not run
 */
public record Outcome(Verdict verdict, String measured) {
    /** The verdict on a test. */
    public enum Verdict {
        /** The required figure was reached. */
        PASSED,
        /** Something failed, or a figure that does not depend on time was not reached. */
        FAILED,
        /**
         * Everything was correct, but a time or a rate was not reached, which also depends on the machine and its load.
         */
        SLOW,
        /** This machine cannot run the test. Never treated as passed. */
        CANNOT
    }

    /** Returns PASSED if the figure was reached, otherwise FAILED. */
    public static Outcome of(boolean reached, String measured) {
        return new Outcome(reached ? Verdict.PASSED : Verdict.FAILED, measured);
    }

    /** Returns FAILED if something was incorrect, otherwise PASSED or SLOW. */
    public static Outcome of(boolean correct, boolean fast, String measured) {
        return new Outcome(!correct ? Verdict.FAILED : fast ? Verdict.PASSED : Verdict.SLOW, measured);
    }

    /** Returns FAILED with a figure or a reason. */
    public static Outcome failed(String measured) {
        return new Outcome(Verdict.FAILED, measured);
    }

    /** Returns CANNOT with the reason why this machine cannot run the test. */
    public static Outcome cannot(String reason) {
        return new Outcome(Verdict.CANNOT, reason);
    }
}
