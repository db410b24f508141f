/** Packets as text, for traces and messages. */
package io.rdma4j.wire.dissector;
