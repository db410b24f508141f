/**
 * Waiting for completion channels, asynchronous events, event channels of the connection manager, sockets and
 * selectors. A waiting thread drives the device meanwhile (decision 035).
 */
@org.jspecify.annotations.NullMarked
package io.rdma4j.verbs.wait;
