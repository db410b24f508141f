package io.rdma4j.soft.device;

import io.rdma4j.soft.engine.Engine;
import io.rdma4j.verbs.MemoryWindow;
import io.rdma4j.verbs.ProtectionDomain;

/** A memory window. */
final class SoftMemoryWindow implements MemoryWindow {
    private final SoftProtectionDomain domain;
    private final Engine engine;
    private final Type type;
    private final io.rdma4j.transport.MemoryWindow window;

    SoftMemoryWindow(SoftProtectionDomain domain, Type type, io.rdma4j.transport.MemoryWindow window) {
        this.domain = domain;
        this.type = type;
        this.window = window;
        engine = domain.softContext().engine();
    }

    /** The window as the protocol knows it. */
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
        engine.lock();
        try {
            return window.key();
        } finally {
            engine.unlock();
        }
    }

    @Override
    public void close() {
        engine.lock();
        try {
            engine.memory().deallocate(window);
        } finally {
            engine.unlock();
        }
        domain.remove(this);
    }

    @Override
    public String toString() {
        return "memory window key 0x%08x, %s".formatted(remoteKey(), type);
    }
}
