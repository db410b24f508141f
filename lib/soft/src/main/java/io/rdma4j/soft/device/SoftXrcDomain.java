package io.rdma4j.soft.device;

import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.XrcDomain;

/** A domain of extended reliable connections. */
final class SoftXrcDomain implements XrcDomain {
    private final SoftContext context;
    private final io.rdma4j.transport.XrcDomain domain = new io.rdma4j.transport.XrcDomain();

    /** The number of queue pairs of the domain; under the engine lock. */
    private int queuePairs;

    private boolean closed;

    SoftXrcDomain(SoftContext context) {
        this.context = context;
    }

    @Override
    public DeviceContext context() {
        return context;
    }

    /** Returns the domain of the transport; under the engine lock. */
    io.rdma4j.transport.XrcDomain domain() {
        return domain;
    }

    /** Checks that a domain is open and belongs to this device, and returns it; under the engine lock. */
    static SoftXrcDomain of(String operation, SoftContext context, XrcDomain domain) {
        if (domain instanceof SoftXrcDomain soft && soft.context == context && !soft.closed) {
            return soft;
        }
        throw new RdmaException(
                operation,
                Errno.EINVAL,
                "the XRC domain is closed or of another device",
                "Open one from the device context of the protection domain");
    }

    /** Changes the number of queue pairs; under the engine lock. */
    void changeQueuePairs(int by) {
        queuePairs += by;
    }

    @Override
    public void close() {
        context.engine().lock();
        try {
            if (closed) {
                return;
            }
            if (queuePairs > 0 || domain.size() > 0) {
                throw new RdmaException(
                        "ibv_close_xrcd",
                        Errno.EBUSY,
                        queuePairs + " queue pairs and " + domain.size() + " shared receive queues belong to it",
                        "Close them first");
            }
            closed = true;
        } finally {
            context.engine().unlock();
        }
        context.remove(this);
    }
}
