/**
 * The RDMA connection manager: what librdmacm is in C. An {@link io.rdma4j.cm.EventChannel} delivers the {@link
 * io.rdma4j.cm.CmEvent}s of its {@link io.rdma4j.cm.CmId}s; an identifier without a channel is synchronous.
 *
 * <p>A client calls {@link io.rdma4j.cm.CmId#resolveAddress}, {@link io.rdma4j.cm.CmId#resolveRoute}, {@link
 * io.rdma4j.cm.CmId#createQueuePair} and {@link io.rdma4j.cm.CmId#connect}; a server {@link
 * io.rdma4j.cm.CmId#bindAddress}, {@link io.rdma4j.cm.CmId#listen}, and for each {@code CONNECT_REQUEST} {@code
 * createQueuePair} and {@link io.rdma4j.cm.CmId#accept} on the event's identifier; both end with {@link
 * io.rdma4j.cm.CmId#disconnect} and {@link io.rdma4j.cm.CmId#close}.
 */
package io.rdma4j.cm;
