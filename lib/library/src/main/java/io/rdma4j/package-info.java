/**
 * Connections, listeners and shared memory: the API for new programs (decision 062).
 *
 * <p>A server {@linkplain io.rdma4j.Listener listens} and {@linkplain io.rdma4j.ConnectionRequest accepts} connections; a client
 * {@linkplain io.rdma4j.Connection#to connects}. Either side {@linkplain io.rdma4j.Exposed exposes} memory, which the other
 * reads, writes and changes with atomic operations, without involving a thread of the owner. {@link io.rdma4j.Message}s are
 * received in order from memory that is posted in advance. {@link io.rdma4j.Datagrams} sends to any number of peers and to
 * multicast groups.
 *
 * {@snippet :
 * try (Exposed table = Exposed.of(Arena.ofAuto().allocate(4096), Access.READ, Access.WRITE);
 *         Listener listener = Listener.bind(new InetSocketAddress(7471))) {
 *     Connection client = listener.accept().privateData(table).accept();
 * }
 * try (Connection server = Connection.to("server.example", 7471).connect();
 *         Buffer buffer = server.allocate(64)) {
 *     server.write(buffer, server.peer().memory().slice(0, 64));
 * }
 * }
 *
 * <p>Rules for all types:
 *
 * <ul>
 *   <li>A call that returns has succeeded. A call that fails throws an {@link io.rdma4j.verbs.RdmaException}, of a subclass for each
 *       cause: {@link io.rdma4j.cm.ConnectionRejectedException}, {@link io.rdma4j.verbs.RdmaTimeoutException}, {@link
 *       io.rdma4j.verbs.DisconnectedException}, {@link io.rdma4j.verbs.ClosedException}, {@link io.rdma4j.verbs.RemoteAccessException}, {@link
 *       io.rdma4j.verbs.WorkRequestException}, {@link io.rdma4j.verbs.InterruptedRdmaException}.
 *   <li>Each call that waits ends when its connection or listener ends, and can have a timeout.
 *   <li>Objects are thread safe unless stated otherwise. Closing is possible from any thread, and closing twice has no effect.
 * </ul>
 *
 * <p>The layer uses only {@link io.rdma4j.cm} and {@link io.rdma4j.verbs}, which programs ported from C use directly. {@link
 * io.rdma4j.Connection#id} and {@link io.rdma4j.Connection#queuePair} return the objects below.
 */
@org.jspecify.annotations.NullMarked
package io.rdma4j;
