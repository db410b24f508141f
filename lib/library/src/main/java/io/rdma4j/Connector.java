package io.rdma4j;

import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionManager;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.value.PortSpace;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A connection to be established: {@link Connection#to}. Used by one thread. */
public final class Connector extends ConnectionSetup<Connector> {
    private final InetSocketAddress peer;
    private ConnectionManager manager = ConnectionManager.ofProcess();
    private @Nullable InetSocketAddress source;

    Connector(InetSocketAddress peer) {
        this.peer = peer;
    }

    @Override
    Connector self() {
        return this;
    }

    /** Uses the devices of another connection manager, such as a test host's, in place of the process' devices. */
    public Connector over(ConnectionManager value) {
        manager = value;
        return this;
    }

    /** Connects from a local address. By default the operating system's routes choose it. */
    public Connector from(InetSocketAddress local) {
        source = local;
        return this;
    }

    /**
     * Connects. Returns when the peer has accepted.
     *
     * @throws io.rdma4j.cm.ConnectionRejectedException if no program listens there, or the peer's program rejects the
     *     request
     * @throws io.rdma4j.verbs.DisconnectedException if the peer ends the connection immediately after accepting it
     * @throws io.rdma4j.verbs.RdmaTimeoutException if the peer does not answer in time
     * @throws io.rdma4j.verbs.InterruptedRdmaException if the thread is interrupted
     * @throws io.rdma4j.verbs.RdmaException if the peer cannot be reached: there is no route, no device has the local address, or the
     *     name has no address
     */
    public Connection connect() {
        return start().await();
    }

    /**
     * Starts connecting: resolves the address and sends the request. {@link Connecting#await} waits for the peer's answer.
     *
     * @throws io.rdma4j.verbs.RdmaException if the peer cannot be reached: there is no route, no device has the local address, or the
     *     name has no address
     */
    public Connecting start() {
        return Opening.open(manager, PortSpace.TCP, this::start);
    }

    private Connecting start(EventChannel channel, CmId id) {
        ConnectionEvents events = new ConnectionEvents(channel, id);
        Steps steps =
                new Steps(channel, "connect", Addresses.text(peer), options().timeout());
        steps.resolve(id, source, peer);
        return new Connection(events, this).begin(() -> id.connect(parameters(id)), steps);
    }

    /** Connects, like {@link #connect()}, within the given time. */
    public Connection connect(Duration timeout) {
        return timeout(timeout).connect();
    }
}
