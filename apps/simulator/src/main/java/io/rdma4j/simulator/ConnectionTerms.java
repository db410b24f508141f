package io.rdma4j.simulator;

/**
 * The parameters that one side of a connection sends to the other, in a REQ, in a REP or directly.
 *
 * @param high upper half of the address
 * @param low lower half of the address
 * @param queuePairNumber number of the queue pair
 * @param startingPsn first PSN of the packets it sends
 * @param servedReads READs and atomics that it serves at a time
 */
record ConnectionTerms(long high, long low, int queuePairNumber, int startingPsn, int servedReads) {}
