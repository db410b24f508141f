package io.rdma4j.testkit.simulation;

/**
 * What one side of a connection tells the other, in a REQ or REP or directly.
 *
 * @param high address, upper half
 * @param low address, lower half
 * @param queuePairNumber number of its queue pair
 * @param startingPsn first PSN that it sends with
 * @param servedReads READs and atomics that it serves at once
 */
record ConnectionTerms(long high, long low, int queuePairNumber, int startingPsn, int servedReads) {}
