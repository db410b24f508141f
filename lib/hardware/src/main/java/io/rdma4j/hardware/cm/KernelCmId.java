package io.rdma4j.hardware.cm;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.ConnectionAttempt;
import io.rdma4j.cm.ConnectionEnhancement;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.DatagramParameters;
import io.rdma4j.cm.MulticastJoinAttributes;
import io.rdma4j.cm.RoutePath;
import io.rdma4j.cm.spi.CmEventSink;
import io.rdma4j.cm.spi.ProviderCmId;
import io.rdma4j.hardware.cm.IdAddresses.DeviceLookup;
import io.rdma4j.hardware.cm.IdProgress.Stage;
import io.rdma4j.value.Gid;
import io.rdma4j.value.PortSpace;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.value.RejectReason;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.RdmaException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * An identifier of the kernel's connection manager. The kernel decides which call a state allows.
 *
 * <p>The application's calls come from one thread at a time. Events come under the event lock, which guards the sink.
 */
final class KernelCmId implements ProviderCmId, KernelCm.Receiver {
    /** The kernel's structures have one byte for the length of private data. */
    private static final int MAX_IWARP_PRIVATE_DATA = 0xff;

    private final KernelCm kernel;
    private final DeviceLookup devices;
    private final long uid;
    private final PortSpace portSpace;
    private final QueuePairType queuePairType;
    private final IdCommands commands;
    private final IdAddresses addresses;
    private final IdProgress progress;
    private final KernelGroups groups;
    private final RequestGate gate;

    /** The gate that counts this request until the application takes it, or null. */
    private volatile @Nullable RequestGate countedBy;

    /** The sink; null once the identifier is closed, and before the sink of a request is known. */
    private @Nullable CmEventSink sink;

    private volatile ConnectionEnhancement enhancement = ConnectionEnhancement.NONE;

    /** The vendor of the peer's options, which a reply carries; 0 on the active side. */
    private final int peerVendor;

    private KernelCmId(
            KernelCm kernel,
            DeviceLookup devices,
            int id,
            long uid,
            PortSpace portSpace,
            QueuePairType queuePairType,
            int peerVendor,
            Stage stage) {
        this.kernel = kernel;
        this.devices = devices;
        this.uid = uid;
        this.portSpace = portSpace;
        this.queuePairType = queuePairType;
        this.peerVendor = peerVendor;
        this.addresses = new IdAddresses(devices);
        this.progress = new IdProgress(stage);
        this.commands = new IdCommands(kernel.file(), id, () -> describe() + ", state " + progress.stageBeforeCall());
        this.groups = new KernelGroups(kernel, commands, this::emit);
        this.gate = new RequestGate(portSpace);
    }

    /** Creates an idle identifier. */
    static KernelCmId create(
            KernelCm kernel, DeviceLookup devices, PortSpace portSpace, QueuePairType queuePairType, CmEventSink sink) {
        long uid = kernel.nextUid();
        int id = kernel.createId(uid, portSpace, queuePairType);
        KernelCmId created = new KernelCmId(kernel, devices, id, uid, portSpace, queuePairType, 0, Stage.IDLE);
        created.sink = sink;
        kernel.add(uid, created);
        return created;
    }

    // ---- addresses and route

    @Override
    public void bind(InetSocketAddress local) {
        commands.bind(local);
        progress.enter(Stage.BOUND);
        addresses.update(commands, "rdma_bind_addr");
    }

    @Override
    public void resolveAddress(
            @Nullable InetSocketAddress source,
            InetSocketAddress destination,
            @Nullable InetAddress routeSource,
            Duration timeout) {
        InetSocketAddress wanted = progress.stage() == Stage.IDLE ? source : null;
        progress.during(Stage.RESOLVING_ADDRESS, () -> commands.resolveAddress(wanted, destination, timeout));
        addresses.update(commands, "rdma_resolve_addr");
    }

    @Override
    public void resolveRoute(Duration timeout) {
        progress.during(Stage.RESOLVING_ROUTE, () -> commands.resolveRoute(timeout));
    }

    @Override
    public void setPath(RoutePath path) {
        InetSocketAddress peer = addresses.peer();
        Gid destination = peer == null ? Gid.ZERO : Gid.of(peer.getAddress());
        commands.setPath(path, addresses.gid(), destination); // the kernel reports the event
    }

    // ---- options

    @Override
    public void setTypeOfService(int typeOfService) {
        commands.setTypeOfService(typeOfService);
    }

    @Override
    public void setReuseAddress(boolean reuseAddress) {
        commands.setReuseAddress(reuseAddress);
    }

    @Override
    public void setIpv6Only(boolean ipv6Only) {
        commands.setFamilyOnly(ipv6Only);
    }

    @Override
    public void setAccessFilter(Predicate<ConnectionAttempt> filter) {
        gate.filter(filter);
    }

    @Override
    public void setAckTimeout(int exponent) {
        commands.setAckTimeout(exponent);
    }

    @Override
    public void setLocalEnhancement(ConnectionEnhancement options) {
        enhancement = options;
    }

    // ---- multicast

    @Override
    public void joinMulticast(MulticastJoinAttributes attributes, Object membership) {
        groups.join(attributes, !attributes.mapped() && addresses.isInfiniBand(), membership);
    }

    @Override
    public void leaveMulticast(Object membership) {
        groups.leave(membership);
    }

    // ---- passive side

    @Override
    public void listen(int backlog) {
        if (progress.stage() == Stage.LISTENING) {
            return; // like the software device
        }
        InetSocketAddress local = addresses.local();
        gate.open(local == null || local.getAddress().isAnyLocalAddress());
        progress.during(Stage.LISTENING, () -> commands.listen(backlog));
        addresses.update(commands, "rdma_listen");
    }

    @Override
    public void onRequestTaken() {
        RequestGate counting = countedBy;
        countedBy = null;
        if (counting != null) {
            counting.release();
        }
    }

    @Override
    public void accept(ConnectionParameters parameters) {
        requirePrivateData(
                "rdma_accept",
                parameters.privateDataLength(),
                isDatagram() ? DatagramParameters.REPLY_PRIVATE_DATA : ConnectionParameters.REPLY_PRIVATE_DATA);
        // Like in librdmacm, the reply's options carry the vendor ID of the request.
        ConnectionEnhancement options = new ConnectionEnhancement(peerVendor, enhancement.options());
        progress.during(Stage.ACCEPTED, () -> commands.accept(uid, parameters, options));
    }

    // ---- active side

    @Override
    public void connect(ConnectionParameters parameters) {
        requirePrivateData(
                "rdma_connect",
                parameters.privateDataLength(),
                isDatagram() ? DatagramParameters.REQUEST_PRIVATE_DATA : ConnectionParameters.REQUEST_PRIVATE_DATA);
        progress.during(Stage.CONNECTING, () -> commands.connect(parameters, enhancement));
    }

    @Override
    public void establish() {
        progress.during(Stage.CONNECTED, commands::establish);
    }

    // ---- both sides

    @Override
    public void reject(byte[] privateData, boolean becauseOfEnhancement) {
        requirePrivateData(
                "rdma_reject",
                privateData.length,
                isDatagram() ? DatagramParameters.REPLY_PRIVATE_DATA : ConnectionParameters.REJECT_PRIVATE_DATA);
        RejectReason reason =
                becauseOfEnhancement ? RejectReason.VENDOR_OPTION_NOT_SUPPORTED : RejectReason.CONSUMER_DEFINED;
        progress.during(Stage.ENDED, () -> commands.reject(privateData, reason.code()));
    }

    @Override
    public void disconnect() {
        commands.disconnect();
    }

    @Override
    public boolean isConnected() {
        Stage stage = kernel.afterEvents(progress::stage); // an event that is still unread may change it
        return !isDatagram() && (stage == Stage.CONNECTED || stage == Stage.DISCONNECTED && !addresses.isIwarp());
    }

    @Override
    public @Nullable RoutePath path() {
        return device() == null ? null : commands.path("rdma_resolve_route");
    }

    @Override
    public void notifyCommunicationEstablished() {
        commands.notifyCommunicationEstablished();
    }

    @Override
    public QueuePairAttributes initQueuePairAttributes(QueuePairState target) {
        QueuePairAttributes attributes = commands.attributes(target);
        // For datagrams the kernel returns the attributes of INIT for every state; like in librdmacm, the other states
        // get fewer.
        return !isDatagram() || target == QueuePairState.INIT ? attributes : ofDatagrams(target);
    }

    private static QueuePairAttributes ofDatagrams(QueuePairState target) {
        QueuePairAttributes attributes = new QueuePairAttributes().state(target);
        return target == QueuePairState.READY_TO_SEND ? attributes.sendPsn(0) : attributes;
    }

    @Override
    public void close() {
        if (!progress.close()) {
            return;
        }
        kernel.remove(uid, () -> sink = null);
        groups.close();
        onRequestTaken();
        commands.destroy();
    }

    // ---- events; under the event lock

    @Override
    public void onEvent(KernelEvent event) {
        CmEvent.Type type = event.type();
        if (type == CmEvent.Type.CONNECT_REQUEST) {
            onRequest(event);
        } else if (type != null) {
            emit(EventTranslation.of(event, type, this, addresses, progress));
        }
    }

    private void emit(CmEvent event) {
        CmEventSink receiver = sink;
        if (receiver != null) {
            receiver.onEvent(event);
        }
    }

    private void onRequest(KernelEvent event) {
        KernelCmId child = new KernelCmId(
                kernel,
                devices,
                event.id(),
                kernel.nextUid(),
                portSpace,
                queuePairType,
                event.enhancement().vendorId(),
                Stage.REQUESTED);
        kernel.add(child.uid, child);
        CmEventSink receiver = sink;
        if (receiver == null || !child.isAddressed() || !gate.admits(child)) {
            child.close(); // rejects the request
            return;
        }
        child.countedBy = gate;
        child.sink = receiver.onConnectRequest(child, EventTranslation.ofRequest(event, isDatagram()));
    }

    /** Returns whether the kernel still has the request, and its device. */
    private boolean isAddressed() {
        try {
            addresses.update(commands, "rdma_get_cm_event");
            return addresses.device() != null;
        } catch (RdmaException gone) {
            return false;
        }
    }

    /** Queries the addresses that the kernel has resolved. */
    void updateAddresses() {
        addresses.update(commands, "rdma_resolve_addr");
    }

    // ---- properties

    @Override
    public @Nullable Device device() {
        return addresses.device();
    }

    @Override
    public int portNumber() {
        return addresses.port();
    }

    @Override
    public @Nullable InetSocketAddress localAddress() {
        return addresses.local();
    }

    @Override
    public @Nullable InetSocketAddress peerAddress() {
        return addresses.peer();
    }

    boolean isDatagram() {
        return queuePairType == QueuePairType.UNRELIABLE_DATAGRAM;
    }

    @Override
    public String describe() {
        return addresses.describe();
    }

    @Override
    public String toString() {
        return "identifier " + describe();
    }

    private void requirePrivateData(String operation, int length, int messageLimit) {
        int limit = addresses.isIwarp() ? MAX_IWARP_PRIVATE_DATA : messageLimit;
        if (length > limit) {
            throw new RdmaException(
                    operation,
                    Errno.EINVAL,
                    describe() + ": private data of " + length + " bytes is more than the " + limit
                            + " that the message carries",
                    "");
        }
    }
}
