package io.rdma4j.exec.verbs;

import io.rdma4j.verbs.XrcDomain;

/** A domain of extended connections. C: {@code struct ibv_xrcd}. */
record ExtendedDomain(OpenDevice device, XrcDomain domain) implements AutoCloseable {
    @Override
    public void close() {
        domain.close();
    }
}
