package io.rdma4j.soft.cm;

import io.rdma4j.link.ForwardingLink;
import io.rdma4j.link.Link;
import io.rdma4j.link.LinkSet;
import io.rdma4j.link.LocalChannel;
import io.rdma4j.link.SendBurst;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.function.Predicate;
import java.util.function.ToIntFunction;

/** Links in memory. A test determines how often a burst arrives. */
final class SimulatedLinks implements LinkSet {
    private final LinkSet inner;
    private final Predicate<InetAddress> refusals;
    private final ToIntFunction<SendBurst> copies;

    /**
     * Creates links.
     *
     * @param refusals returns whether the system refuses a link at an address
     * @param copies returns how often a burst arrives, 0 if it is lost
     */
    SimulatedLinks(LinkSet inner, Predicate<InetAddress> refusals, ToIntFunction<SendBurst> copies) {
        this.inner = inner;
        this.refusals = refusals;
        this.copies = copies;
    }

    @Override
    public String name() {
        return inner.name();
    }

    @Override
    public Link openUdp(InetAddress address, int port) throws IOException {
        if (refusals.test(address)) {
            throw new IOException("refused by the test");
        }
        return new ForwardingLink(inner.openUdp(address, port)) {
            @Override
            public void send(SendBurst burst) {
                for (int left = copies.applyAsInt(burst); left > 0; left--) {
                    super.send(burst);
                }
            }
        };
    }

    @Override
    public Link openMulticast(InetAddress group, int port, InetAddress local) throws IOException {
        return inner.openMulticast(group, port, local);
    }

    @Override
    public LocalListener listenLocal(Path socket) throws IOException {
        return inner.listenLocal(socket);
    }

    @Override
    public LocalChannel connectLocal(Path socket) throws IOException {
        return inner.connectLocal(socket);
    }

    @Override
    public boolean await(long timeoutNanos) {
        return inner.await(timeoutNanos);
    }

    @Override
    public void wakeup() {
        inner.wakeup();
    }

    @Override
    public void close() {
        inner.close();
    }
}
