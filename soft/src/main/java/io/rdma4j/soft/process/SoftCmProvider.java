package io.rdma4j.soft.process;

import io.rdma4j.cm.PortSpace;
import io.rdma4j.cm.spi.CmEventSink;
import io.rdma4j.cm.spi.CmProvider;
import io.rdma4j.cm.spi.ProviderCmId;
import io.rdma4j.verbs.QueuePairType;
import java.net.InetAddress;

/** Connection management over the software devices of this process. Thread safe. */
public final class SoftCmProvider implements CmProvider {
    /** Creates the provider; {@link java.util.ServiceLoader} calls this. */
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
        return ProcessStack.stack().hasDevices();
    }

    @Override
    public boolean serves(InetAddress local) {
        return ProcessStack.stack().deviceOf(local).isPresent();
    }

    @Override
    public ProviderCmId create(PortSpace portSpace, QueuePairType queuePairType, CmEventSink sink) {
        return ProcessStack.stack().createId(portSpace, queuePairType, sink);
    }
}
