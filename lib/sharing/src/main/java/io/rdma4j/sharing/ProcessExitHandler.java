package io.rdma4j.sharing;

import io.rdma4j.wire.cm.AbandonedConnection;
import java.util.List;

/** The handler of the exits of processes that share an address with this one: the connection manager. */
public interface ProcessExitHandler {
    /**
     * Processes the exit of a process that shared an address, regardless of the cause. Called under the engine lock.
     *
     * @param port the address
     * @param slot the process' slot: the upper byte of its communication IDs and queue pair numbers
     */
    void onProcessExited(HostPort port, int slot);

    /**
     * Disconnects connections on behalf of a process that has exited. Called under the engine lock, after {@link
     * #onProcessExited}.
     *
     * @param port the address that the process used
     * @param connections its connections with other addresses
     */
    void onCrashDisconnects(HostPort port, List<AbandonedConnection> connections);
}
