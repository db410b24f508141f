/**
 * The InfiniBand communication management protocol (IBA volume 1, chapter 12) as a state machine without I/O.
 *
 * <p>One {@link io.rdma4j.transport.cm.CmAgent} stands for one local CA. MADs, calls and time go in; MADs, events and
 * deadlines come out. Nothing here is thread safe: whoever owns the agent serialises all calls, those to its
 * connections and listeners included. Callbacks run inside those calls and may call back into the agent.
 */
package io.rdma4j.transport.cm;
