package io.rdma4j.soft.engine;

import io.rdma4j.link.Flow;
import io.rdma4j.sharing.Port;
import io.rdma4j.transport.QueuePairMachine;
import io.rdma4j.wire.FlowLabel;
import org.jspecify.annotations.Nullable;

/**
 * The UDP source port of a queue pair. It is the port that Linux computes for the same numbers, so that networks spread queue
 * pairs over their paths. It is chosen with the first packet and kept, because the peer may accept no other one for the
 * connection (decision 025). Packets to this host come from the port of the link. Used under the engine lock.
 */
final class QueuePairFlow {
    private int wantedPort;
    private @Nullable Flow flow;

    /** The port that the source port was chosen at, or null if it was not chosen yet. */
    private @Nullable Port chosenAt;

    /** Creates the flow of a queue pair that is not connected, which can only send datagrams. */
    QueuePairFlow(int queuePairNumber) {
        wantedPort = FlowLabel.datagramSourcePort(queuePairNumber);
    }

    /**
     * Sets the path of the packets. The source port is chosen again, unless the path leads to the same peer and wants the same
     * port: the current port may differ from the wanted one, and the peer may accept no other one.
     */
    void connect(QueuePairMachine.Peer peer, int queuePairNumber, boolean isSamePeer) {
        int label = peer.flowLabel() != 0
                ? peer.flowLabel()
                : FlowLabel.ofQueuePairs(queuePairNumber, peer.queuePairNumber());
        int port = FlowLabel.sourcePort(label);
        if (!isSamePeer || port != wantedPort) {
            wantedPort = port;
            close();
        }
    }

    /** Returns the flow that the next packet from a port is sent from, or null for the port of the link. */
    @Nullable
    Flow current(Port port) {
        Flow current = flow;
        if (current != null && !current.isOpen()) {
            close(); // its link has closed, because the address was removed temporarily
        }
        return port.equals(chosenAt) ? flow : null; // datagrams may have several ports, and the first one has the flow
    }

    boolean isChosen() {
        return chosenAt != null;
    }

    /** Chooses the source port for the first packet. */
    void choose(Port port, boolean staysOnHost) {
        chosenAt = port;
        flow = staysOnHost ? null : port.link().openFlow(wantedPort);
    }

    /** Releases the source port. */
    void close() {
        Flow current = flow;
        flow = null;
        chosenAt = null;
        if (current != null) {
            current.close();
        }
    }
}
