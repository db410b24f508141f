package io.rdma4j.transport;

/**
 * Where a datagram goes: addresses, as the driver of the queue pair knows them. The queue pair only hands it from the work
 * request to whoever sends the packet ({@link UdQueuePair#destination}).
 */
public interface DatagramDestination {}
