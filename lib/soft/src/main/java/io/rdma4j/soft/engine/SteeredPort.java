package io.rdma4j.soft.engine;

import io.rdma4j.cm.host.AddressText;
import io.rdma4j.link.Link;
import io.rdma4j.link.ReceiveBurst;
import io.rdma4j.sharing.HostPort;
import io.rdma4j.sharing.Port;
import io.rdma4j.soft.host.SystemFailure;
import io.rdma4j.verbs.RdmaException;
import java.io.IOException;

/**
 * The port of an engine other than the main one at an address. It has its own socket, so that engines share no lock
 * when they send.
 *
 * <p>If the kernel supports it, the socket is also bound to the address' UDP port 4791, and receives the frames for this engine's
 * queue pairs. Otherwise it only sends, and the main engine hands over their frames. All methods are called under the engine lock
 * unless stated otherwise.
 */
final class SteeredPort extends Port {
    private static final int BURST_FRAMES = 128;

    private final Engine engine;
    private final HostPort hostPort;
    private final Link link;
    private final boolean isSteered;
    private final ReceiveBurst burst = new ReceiveBurst(BURST_FRAMES);

    private SteeredPort(Engine engine, HostPort hostPort, Link link, boolean isSteered) {
        super(hostPort.address());
        this.engine = engine;
        this.hostPort = hostPort;
        this.link = link;
        this.isSteered = isSteered;
    }

    /**
     * Opens the port.
     *
     * @param hostPort the main engine's port of the address
     * @throws RdmaException {@code EMFILE} or {@code EIO} if no socket can be opened
     */
    static SteeredPort open(Engine engine, HostPort hostPort) {
        try {
            Link owned = hostPort.owned();
            Link steered = owned == null ? null : engine.openSteered(owned);
            Link link = steered == null ? engine.links().openUdp(hostPort.address(), 0) : steered;
            return new SteeredPort(engine, hostPort, engine.decorate(hostPort.sendingDirectly(link)), steered != null);
        } catch (IOException e) {
            throw SystemFailure.of("ibv_modify_qp", "open a socket of " + AddressText.of(hostPort.address()), e, "");
        }
    }

    @Override
    public Link link() {
        return link;
    }

    @Override
    public int receive(long nowNanos, boolean all) {
        if (!isSteered) {
            return 0;
        }
        int received = link.poll(burst);
        for (int i = 0; i < received; i++) {
            engine.receiver().onSteeredFrame(nowNanos, hostPort, Receiver.inOrder(burst, i));
        }
        return received;
    }

    /** Drops the input of a port that frames are not steered to: peers should not send to it. */
    @Override
    public int receiveStray(long nowNanos) {
        if (!isSteered) {
            int _ = link.poll(burst);
        }
        return 0;
    }

    @Override
    public long nextDeadlineNanos() {
        return link.nextDeadlineNanos();
    }
}
