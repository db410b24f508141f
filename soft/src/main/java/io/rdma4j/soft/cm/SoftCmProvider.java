package io.rdma4j.soft.cm;

import io.rdma4j.cm.PortSpace;
import io.rdma4j.cm.spi.CmEventSink;
import io.rdma4j.cm.spi.CmProvider;
import io.rdma4j.cm.spi.ProviderCmId;
import io.rdma4j.soft.device.SoftDevices;
import io.rdma4j.verbs.QueuePairType;
import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/** Connection management over the software devices. Thread safe. */
public final class SoftCmProvider implements CmProvider {
    private static volatile @Nullable CmService service;

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

    /**
     * Connection management, started with the first identifier: before, there is no engine to start. Where it cannot be
     * started the next identifier tries again.
     */
    private static CmService service() {
        CmService running = service;
        return running != null ? running : firstService();
    }

    private static synchronized CmService firstService() {
        CmService running = service;
        if (running == null) {
            running = EngineCmHost.start(SoftDevices.engines());
            service = running;
        }
        return running;
    }

    @Override
    public ProviderCmId create(PortSpace portSpace, QueuePairType queuePairType, CmEventSink sink) {
        return new SoftCmId(service(), portSpace, queuePairType, sink);
    }
}
