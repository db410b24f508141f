package io.rdma4j.faults;

/**
 * How a test ended.
 *
 * @param verdict passed, failed, slow, or not run
 * @param measured the figure that was measured, in the words of the figure that was asked; or why it was not run
 */
public record Outcome(Verdict verdict, String measured) {
    /** What became of it. */
    public enum Verdict {
        /** The figure was reached. */
        PASSED,
        /** Something went wrong, or a figure was not reached that has nothing to do with time. */
        FAILED,
        /** Nothing went wrong, but a time or a rate was not reached: also a matter of the machine, and of what else it does. */
        SLOW,
        /** This machine cannot run it. Never counted as passed. */
        CANNOT
    }

    /** The figure was reached, or not. */
    public static Outcome of(boolean reached, String measured) {
        return new Outcome(reached ? Verdict.PASSED : Verdict.FAILED, measured);
    }

    /** All was right or not, and was as fast as asked or not. */
    public static Outcome of(boolean right, boolean fast, String measured) {
        return new Outcome(!right ? Verdict.FAILED : fast ? Verdict.PASSED : Verdict.SLOW, measured);
    }

    /** The figure was not reached. */
    public static Outcome failed(String measured) {
        return new Outcome(Verdict.FAILED, measured);
    }

    /** This machine lacks something. */
    public static Outcome cannot(String why) {
        return new Outcome(Verdict.CANNOT, why);
    }
}
