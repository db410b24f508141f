package io.rdma4j.cm;

import io.rdma4j.cm.spi.CmEventSink;
import io.rdma4j.cm.spi.CmProvider;
import io.rdma4j.cm.spi.ProviderCmId;
import io.rdma4j.value.PortSpace;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.wait.WaitDriver;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A provider that serves or refuses all addresses, counts route lookups, and records its identifiers and their sinks.
 */
final class FakeProvider implements CmProvider {
    private final InetAddress routeSource;
    final List<FakeProviderId> ids = new ArrayList<>();
    final List<CmEventSink> sinks = new ArrayList<>();
    final List<InetAddress> lookedUp = new ArrayList<>();
    String refusal = "";

    /**
     * Creates a provider.
     *
     * @param routeSource the local address of every route
     */
    FakeProvider(InetAddress routeSource) {
        this.routeSource = routeSource;
    }

    @Override
    public String name() {
        return "fake";
    }

    @Override
    public int preference() {
        return 0;
    }

    @Override
    public boolean hasDevices() {
        return true;
    }

    @Override
    public List<Device> devices() {
        return List.of();
    }

    @Override
    public InetAddress sourceFor(String operation, @Nullable InetAddress source, InetAddress destination) {
        lookedUp.add(destination);
        return routeSource;
    }

    @Override
    public boolean serves(InetAddress local) {
        return true;
    }

    @Override
    public String refusal(InetAddress local) {
        return refusal;
    }

    @Override
    public @Nullable WaitDriver waitDriver() {
        return null;
    }

    @Override
    public ProviderCmId create(PortSpace portSpace, QueuePairType queuePairType, CmEventSink sink) {
        FakeProviderId created = new FakeProviderId();
        ids.add(created);
        sinks.add(sink);
        return created;
    }
}
