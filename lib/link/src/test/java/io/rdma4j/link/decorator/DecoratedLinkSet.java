package io.rdma4j.link.decorator;

import io.rdma4j.link.Link;
import io.rdma4j.link.LinkSet;
import io.rdma4j.link.LocalChannel;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** A link set that decorates its UDP links. */
public final class DecoratedLinkSet implements LinkSet {
    private final LinkSet inner;
    private final LinkDecorator decorator;

    /** Creates a set over {@code inner}, which is closed with it. */
    public DecoratedLinkSet(LinkSet inner, LinkDecorator decorator) {
        this.inner = inner;
        this.decorator = decorator;
    }

    @Override
    public String name() {
        return inner.name();
    }

    @Override
    public Link openUdp(InetAddress address, int port) throws IOException {
        return decorator.decorate(inner.openUdp(address, port));
    }

    @Override
    public @Nullable Link openSteered(Link first, int fromNumber, int toNumber) throws IOException {
        Link link = inner.openSteered(first, fromNumber, toNumber);
        return link == null ? null : decorator.decorate(link);
    }

    @Override
    public Link openMulticast(InetAddress group, int port, InetAddress local) throws IOException {
        return decorator.decorate(inner.openMulticast(group, port, local));
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
