package io.rdma4j.soft.cm;

import io.rdma4j.cm.PortSpace;
import io.rdma4j.cm.spi.CmEventSink;
import io.rdma4j.cm.spi.CmProvider;
import io.rdma4j.cm.spi.ProviderCmId;
import io.rdma4j.soft.device.SoftDevices;
import io.rdma4j.verbs.QueuePairType;
import java.net.InetAddress;

/** Connection management over the software devices. Thread safe. */
public final class SoftCmProvider implements CmProvider {
    /** Started with the first identifier: before, there is no engine to start. */
    private static final class Holder {
        static final CmService SERVICE = EngineCmHost.start(SoftDevices.engines());
    }

    /** Creates the provider; {@link java.util.ServiceLoader} does. */
    public SoftCmProvider() {}

    @Override
    public String name() {
        return "soft";
    }

    @Override
    public int preference() {
        return 0;
    }

    @Override
    public boolean hasDevices() {
        return SoftDevices.isAny();
    }

    @Override
    public boolean serves(InetAddress local) {
        return SoftDevices.of(local) != null;
    }

    @Override
    public ProviderCmId create(PortSpace portSpace, QueuePairType queuePairType, CmEventSink sink) {
        return new SoftCmId(Holder.SERVICE, portSpace, queuePairType, sink);
    }
}
