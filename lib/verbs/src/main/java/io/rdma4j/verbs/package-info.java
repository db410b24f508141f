/**
 * The verbs: devices, memory regions, queue pairs and completion queues. In C, libibverbs is the counterpart.
 *
 * <p>A program opens a {@link io.rdma4j.verbs.Device}, creates a {@link io.rdma4j.verbs.ProtectionDomain}, registers
 * memory in it as a {@link io.rdma4j.verbs.MemoryRegion}, and creates a {@link io.rdma4j.verbs.QueuePair} that reports
 * to a {@link io.rdma4j.verbs.CompletionQueue}. It posts work requests to the queue pair and polls the queue for their
 * completions. The connection manager in {@code io.rdma4j.cm} connects queue pairs. Opcodes, statuses, access rights,
 * GIDs and other values of the protocol are in {@link io.rdma4j.value}.
 *
 * <h2>Errors</h2>
 *
 * <p>A call that fails throws {@link io.rdma4j.verbs.RdmaException}, which is unchecked and has an {@link
 * io.rdma4j.verbs.Errno}. The status of a completion or an {@link io.rdma4j.verbs.AsyncEvent} reports a later failure.
 *
 * <h2>Calls that wait</h2>
 *
 * <p>The calls of this package and of the connection manager that wait for an event or an object and return it, such as
 * {@link io.rdma4j.verbs.CompletionChannel#await()}, have these outcomes:
 *
 * <ul>
 *   <li>They return the event or object. If it is already available, they return it even if the thread is interrupted.
 *   <li>With a timeout, they return null after the timeout. Null has no other meaning, and calls without a timeout
 *       never return it. {@link io.rdma4j.verbs.WaitSet} returns an empty list instead of null.
 *   <li>They throw {@link io.rdma4j.verbs.ClosedException} if the object that they wait for is closed before or during
 *       the call. Calls that do not wait also throw it.
 *   <li>They throw {@link io.rdma4j.verbs.RdmaException} with {@link io.rdma4j.verbs.Errno#EINTR} if the thread is
 *       interrupted. Its interrupt status stays set.
 * </ul>
 *
 * <p>A thread can end another thread's wait for several objects by {@link io.rdma4j.verbs.WaitSet#wakeup}.
 */
package io.rdma4j.verbs;
