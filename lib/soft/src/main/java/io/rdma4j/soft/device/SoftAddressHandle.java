package io.rdma4j.soft.device;

import io.rdma4j.sharing.Port;
import io.rdma4j.soft.engine.DatagramRoute;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.AddressVector;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.RdmaException;

/** A destination of datagrams, with the port that they are sent from. */
final class SoftAddressHandle implements AddressHandle {
    private final SoftProtectionDomain domain;
    private final AddressVector addressVector;
    private final DatagramRoute route;
    private volatile boolean closed;

    private SoftAddressHandle(SoftProtectionDomain domain, AddressVector addressVector, Port port) {
        this.domain = domain;
        this.addressVector = addressVector;
        route = new DatagramRoute(
                port,
                addressVector.destination().high(),
                addressVector.destination().low(),
                Paths.remoteScope(addressVector, port),
                addressVector.trafficClass(),
                addressVector.hopLimit(),
                addressVector.flowLabel());
    }

    static SoftAddressHandle create(SoftProtectionDomain domain, AddressVector addressVector) {
        SoftDevice device = domain.softContext().softDevice();
        String refusal = Paths.refusal(device, addressVector);
        if (refusal != null) {
            throw new RdmaException(
                    "ibv_create_ah", Errno.EINVAL, refusal, "Use the index of one of the device's GIDs");
        }
        SoftContext context = domain.softContext();
        Port port = context.stack().ports().open(context.engine(), Paths.localAddress(device, addressVector));
        return new SoftAddressHandle(domain, addressVector, port);
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return domain;
    }

    @Override
    public AddressVector addressVector() {
        return addressVector;
    }

    DatagramRoute route() {
        return route;
    }

    boolean isClosed() {
        return closed;
    }

    @Override
    public void close() {
        closed = true;
        domain.remove(this);
    }

    @Override
    public String toString() {
        return "address handle to " + addressVector.destination();
    }
}
