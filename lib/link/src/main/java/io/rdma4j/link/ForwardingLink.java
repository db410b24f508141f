package io.rdma4j.link;

import java.io.IOException;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/** A link that forwards every call to another link. Subclasses override the calls they change. */
public abstract class ForwardingLink implements Link {
    /** The link that calls are forwarded to. */
    protected final Link inner;

    /** Wraps a link. */
    protected ForwardingLink(Link inner) {
        this.inner = inner;
    }

    @Override
    public LinkCapabilities capabilities() {
        return inner.capabilities();
    }

    @Override
    public InetSocketAddress localAddress() {
        return inner.localAddress();
    }

    @Override
    public void send(SendBurst burst) {
        inner.send(burst);
    }

    @Override
    public @Nullable Flow openFlow(int sourcePort) {
        return inner.openFlow(sourcePort);
    }

    @Override
    public int poll(ReceiveBurst burst) {
        return inner.poll(burst);
    }

    @Override
    public long nextDeadlineNanos() {
        return inner.nextDeadlineNanos();
    }

    @Override
    public LinkStatistics statistics() {
        return inner.statistics();
    }

    @Override
    public void close() throws IOException {
        inner.close();
    }
}
