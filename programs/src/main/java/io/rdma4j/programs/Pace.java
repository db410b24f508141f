package io.rdma4j.programs;

/**
 * How long the parts of a run take.
 *
 * @param warmUpMillis exchanges that are not measured
 * @param measureMillis exchanges that are measured
 * @param idleMillis open connections without exchanges
 */
record Pace(long warmUpMillis, long measureMillis, long idleMillis) {
    static final Pace DEFAULT = new Pace(8000, 4000, 5000);
    static final Pace QUICK = new Pace(500, 1000, 1000);
}
