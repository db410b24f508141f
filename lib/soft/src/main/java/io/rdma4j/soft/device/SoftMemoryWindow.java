package io.rdma4j.soft.device;

import io.rdma4j.soft.engine.Engines;
import io.rdma4j.verbs.MemoryWindow;
import io.rdma4j.verbs.ProtectionDomain;

/** A memory window. */
final class SoftMemoryWindow implements MemoryWindow {
    private final SoftProtectionDomain domain;
    private final Engines engines;
    private final Type type;
    private final io.rdma4j.transport.MemoryWindow window;

    SoftMemoryWindow(SoftProtectionDomain domain, Type type, io.rdma4j.transport.MemoryWindow window) {
        this.domain = domain;
        this.type = type;
        this.window = window;
        engines = domain.softContext().engines();
    }

    /** Returns the window of the transport. */
    io.rdma4j.transport.MemoryWindow window() {
        return window;
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return domain;
    }

    @Override
    public Type type() {
        return type;
    }

    @Override
    public int remoteKey() {
        return window.key();
    }

    @Override
    public void close() {
        engines.memory().deallocate(window);
        engines.settle();
        domain.remove(this);
    }

    @Override
    public String toString() {
        return "memory window key 0x%08x, %s".formatted(remoteKey(), type);
    }
}
