package io.rdma4j.bench.plan;

/**
 * How long to measure.
 *
 * @param name of the option: {@code quick}, {@code default}, {@code full}
 * @param level how much is measured: 0 what matters most, 1 what is quoted, 2 all sizes
 * @param longestWarmUpMillis before the clock counts, at most
 * @param measureMillis while it counts
 * @param repetitions of everything
 * @param budgetSeconds no repetition is begun that would end after this
 * @param limitSeconds the longest that one experiment may take
 */
public record Pace(
        String name,
        int level,
        int longestWarmUpMillis,
        int measureMillis,
        int repetitions,
        int budgetSeconds,
        int limitSeconds) {
    /** A look: under two minutes. */
    public static final Pace QUICK = new Pace("quick", 0, 2500, 300, 3, 105, 10);

    /** What is quoted: under half an hour. */
    public static final Pace DEFAULT = new Pace("default", 1, 8000, 400, 5, 1740, 25);

    /** All sizes: under an hour. */
    public static final Pace FULL = new Pace("full", 2, 10000, 1000, 5, 3500, 30);

    /** The same with another number of repetitions. */
    public Pace withRepetitions(int number) {
        return new Pace(name, level, longestWarmUpMillis, measureMillis, number, budgetSeconds, limitSeconds);
    }

    /** The same with a longer limit. */
    Pace withLimit(int seconds) {
        return new Pace(name, level, longestWarmUpMillis, measureMillis, repetitions, budgetSeconds, seconds);
    }
}
