/**
 * The RDMA connection manager. In C, librdmacm is the counterpart. An {@link io.rdma4j.cm.EventChannel} delivers the
 * {@link io.rdma4j.cm.CmEvent}s of its {@link io.rdma4j.cm.CmId}s. An identifier without a channel is synchronous.
 *
 * <p>A client calls {@link io.rdma4j.cm.CmId#resolveAddress}, {@link io.rdma4j.cm.CmId#resolveRoute}, {@link
 * io.rdma4j.cm.CmId#createQueuePair} and {@link io.rdma4j.cm.CmId#connect}. A server calls {@link
 * io.rdma4j.cm.CmId#bindAddress} and {@link io.rdma4j.cm.CmId#listen}. For each {@code CONNECT_REQUEST} it calls {@code
 * createQueuePair} and {@link io.rdma4j.cm.CmId#accept} on the event's identifier. Both sides end with {@link
 * io.rdma4j.cm.CmId#disconnect} and {@link io.rdma4j.cm.CmId#close}.
 *
 * <p>{@link io.rdma4j.verbs} describes the outcomes of waiting calls, and the exceptions that calls throw.
 */
package io.rdma4j.cm;
