package io.rdma4j.programs;

/**
 * How long the parts of a run take.
 *
 * @param warmUpMillis exchanges that are not measured
 * @param measureMillis exchanges that are measured
 * @param idleMillis open connections without exchanges
 */
record Pace(long warmUpMillis, long measureMillis, long idleMillis) {
    static final Pace DEFAULT = new Pace(15_000, 4000, 5000);
    static final Pace QUICK = new Pace(500, 1000, 1000);

    /** Returns this pace with another time before the measurement. */
    Pace withWarmUp(long millis) {
        return new Pace(millis, measureMillis, idleMillis);
    }
}
