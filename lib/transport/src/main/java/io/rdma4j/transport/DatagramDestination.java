package io.rdma4j.transport;

/**
 * The destination of a datagram: addresses in the form that the driver of the queue pair uses. The queue pair only
 * passes it from the work request to the code that sends the packet ({@link UdQueuePair#destination}).
 */
public interface DatagramDestination {}
