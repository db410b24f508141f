package io.rdma4j.soft.process;

import io.rdma4j.cm.spi.CmEventSink;
import io.rdma4j.cm.spi.CmProvider;
import io.rdma4j.cm.spi.ManagerAccess;
import io.rdma4j.cm.spi.ProviderCmId;
import io.rdma4j.value.PortSpace;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.wait.WaitDriver;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Connection management over the software devices of this process. Thread safe. */
public final class SoftCmProvider implements CmProvider {
    /** Creates the provider; {@link java.util.ServiceLoader} calls this. */
    public SoftCmProvider() {}

    private static CmProvider provider() {
        return ManagerAccess.providerOf(ProcessStack.stack().connectionManager());
    }

    @Override
    public String name() {
        return provider().name();
    }

    @Override
    public int preference() {
        return provider().preference();
    }

    @Override
    public boolean hasDevices() {
        return provider().hasDevices();
    }

    @Override
    public List<Device> devices() {
        return provider().devices();
    }

    @Override
    public InetAddress sourceFor(String operation, @Nullable InetAddress source, InetAddress destination) {
        return provider().sourceFor(operation, source, destination);
    }

    @Override
    public boolean serves(InetAddress local) {
        return provider().serves(local);
    }

    @Override
    public @Nullable WaitDriver waitDriver() {
        return provider().waitDriver();
    }

    @Override
    public ProviderCmId create(PortSpace portSpace, QueuePairType queuePairType, CmEventSink sink) {
        return provider().create(portSpace, queuePairType, sink);
    }

    @Override
    public @Nullable Path connectionsFile() {
        return provider().connectionsFile();
    }

    @Override
    public void finish() {
        ProcessStack.stack().finish();
    }
}
