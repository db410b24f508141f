package io.rdma4j.bench.plan;

/**
 * The duration of a run and of its measurements.
 *
 * @param name name of the option: {@code quick}, {@code default}, {@code full}
 * @param level the rows that are measured: 0 for the most important ones, 1 for the published ones, 2 for all sizes
 * @param longestWarmUpMillis maximum warm-up time
 * @param measureMillis measuring time
 * @param repetitions number of repetitions of all experiments
 * @param budgetSeconds no repetition is started that would end after this time
 * @param limitSeconds time limit of one experiment
 */
public record Pace(
        String name,
        int level,
        int longestWarmUpMillis,
        int measureMillis,
        int repetitions,
        int budgetSeconds,
        int limitSeconds) {
    /** The most important rows: under two minutes. */
    public static final Pace QUICK = new Pace("quick", 0, 2500, 300, 3, 105, 10);

    /** The published rows: under half an hour. */
    public static final Pace DEFAULT = new Pace("default", 1, 8000, 400, 5, 1740, 25);

    /** All sizes: under an hour. */
    public static final Pace FULL = new Pace("full", 2, 10000, 1000, 5, 3500, 30);

    /** Returns this pace with another number of repetitions. */
    public Pace withRepetitions(int number) {
        return new Pace(name, level, longestWarmUpMillis, measureMillis, number, budgetSeconds, limitSeconds);
    }

    /** Returns this pace with another time limit. */
    Pace withLimit(int seconds) {
        return new Pace(name, level, longestWarmUpMillis, measureMillis, repetitions, budgetSeconds, seconds);
    }
}
