/**
 * The InfiniBand communication management protocol (IBA volume 1, chapter 12) as a state machine without I/O.
 *
 * <p>One {@link io.rdma4j.transport.cm.CmAgent} represents one local CA. MADs, calls and the time are passed in; MADs,
 * events and deadlines come out. Nothing here is thread safe: the owner of the agent serialises all calls, including
 * those to its connections and listeners.
 */
package io.rdma4j.transport.cm;
