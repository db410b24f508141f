package io.rdma4j.bench.plan;

/**
 * How long to measure.
 *
 * @param name of the option: {@code quick}, {@code default}, {@code full}
 * @param warmUpMillis before the clock counts
 * @param measureMillis while it counts
 * @param repetitions of everything
 * @param budgetSeconds no repetition is begun that would end after this
 */
public record Pace(String name, int warmUpMillis, int measureMillis, int repetitions, int budgetSeconds) {
    /** A look: under two minutes. */
    public static final Pace QUICK = new Pace("quick", 500, 300, 3, 110);

    /** What is quoted: under ten minutes. */
    public static final Pace DEFAULT = new Pace("default", 900, 500, 5, 570);

    /** All sizes: under an hour. */
    public static final Pace FULL = new Pace("full", 1500, 1000, 5, 3500);

    /** The longest that one experiment may take, in seconds. */
    public int limitSeconds() {
        return 30;
    }

    /** The same with another number of repetitions. */
    public Pace withRepetitions(int number) {
        return new Pace(name, warmUpMillis, measureMillis, number, budgetSeconds);
    }
}
