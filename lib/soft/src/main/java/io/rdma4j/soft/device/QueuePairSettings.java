package io.rdma4j.soft.device;

import io.rdma4j.cm.host.AddressText;
import io.rdma4j.sharing.Port;
import io.rdma4j.soft.engine.DrivenQueuePair;
import io.rdma4j.soft.engine.Engine;
import io.rdma4j.soft.engine.SharedPorts;
import io.rdma4j.transport.QueuePairMachine;
import io.rdma4j.transport.RcQueuePair;
import io.rdma4j.transport.UcQueuePair;
import io.rdma4j.transport.UdQueuePair;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.Gid;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.AddressVector;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttribute;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.spi.QueuePairTransitions;
import java.net.InetAddress;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The attributes of one queue pair. Checks changes, applies them, and records them. */
final class QueuePairSettings {
    private static final System.Logger LOGGER = System.getLogger(QueuePairSettings.class.getName());

    /** The name of {@link QueuePair#setKeepAlive} in errors. */
    static final String KEEP_ALIVE = "keep alive";

    /** The name of {@link QueuePair#setRateLimit} in errors. */
    private static final String RATE_LIMIT = "ibv_modify_qp_rate_limit";

    private static final int BYTES_OF_KILOBIT = 125;
    private static final Duration MAX_KEEP_ALIVE = Duration.ofDays(365);
    private static final int MAX_PSN = 0xff_ffff;

    private final Engine engine;
    private final SharedPorts ports;
    private final SoftDevice device;
    private final QueuePairType type;
    private final QueuePairMachine machine;
    private final DrivenQueuePair driven;

    /** The attributes set since the last reset; under the engine lock. */
    private QueuePairAttributes current = new QueuePairAttributes();

    QueuePairSettings(
            Engine engine,
            SharedPorts ports,
            SoftDevice device,
            QueuePairType type,
            QueuePairMachine machine,
            DrivenQueuePair driven) {
        this.engine = engine;
        this.ports = ports;
        this.device = device;
        this.type = type;
        this.machine = machine;
        this.driven = driven;
    }

    void modify(QueuePairAttributes change) {
        refuse(QueuePairTransitions.explainRefusal(type, machine.state(), change));
        refuse(rangeRefusal(change));
        Port port = null;
        if (change.present().contains(QueuePairAttribute.ADDRESS_VECTOR)) {
            port = ports.open(engine, Paths.localAddress(device, Objects.requireNonNull(change.addressVector())));
        } else if (type == QueuePairType.UNRELIABLE_DATAGRAM && change.state() == QueuePairState.READY_TO_RECEIVE) {
            openAllPorts();
        }
        engine.lock();
        try {
            // Check again, since another thread or the peer may have changed the state meanwhile.
            refuse(QueuePairTransitions.explainRefusal(type, machine.state(), change));
            refuse(drainingRefusal(change));
            apply(change, port);
            engine.activate(driven);
        } finally {
            engine.unlock();
        }
    }

    /**
     * Opens all addresses of the device, since datagrams arrive at any of them. An address that cannot be opened is
     * skipped with a warning.
     */
    private void openAllPorts() {
        RdmaException failure = null;
        int opened = 0;
        for (InetAddress address : device.addresses()) {
            try {
                var _ = ports.open(engine, address);
                opened++;
            } catch (RdmaException e) {
                LOGGER.log(
                        System.Logger.Level.WARNING,
                        "queue pair 0x%06x receives no datagrams at %s: %s"
                                .formatted(machine.number(), AddressText.of(address), e.getMessage()));
                failure = e;
            }
        }
        if (opened == 0 && failure != null) {
            throw failure;
        }
    }

    void keepAlive(Duration interval) {
        if (!(machine instanceof RcQueuePair reliable) || reliable.role() != RcQueuePair.Role.CONNECTED) {
            throw new RdmaException(
                    KEEP_ALIVE,
                    Errno.EOPNOTSUPP,
                    "queue pair 0x%06x is of the type %s".formatted(machine.number(), type),
                    "Only reliable connections can be kept alive");
        }
        if (interval.isNegative() || interval.compareTo(MAX_KEEP_ALIVE) > 0) {
            throw new RdmaException(
                    KEEP_ALIVE, Errno.EINVAL, "an interval of " + interval, "Use at most " + MAX_KEEP_ALIVE);
        }
        engine.lock();
        try {
            if (machine.state().compareTo(QueuePairState.READY_TO_SEND) < 0) {
                throw new RdmaException(
                        KEEP_ALIVE,
                        Errno.EINVAL,
                        "queue pair 0x%06x is in the state %s".formatted(machine.number(), machine.state()),
                        "Connect it first");
            }
            reliable.keepAlive(engine.clock().nanoTime(), interval.toNanos());
        } finally {
            engine.unlock();
        }
        engine.post(driven); // so that a blocked thread sees the new deadline
    }

    void rateLimit(long kilobitsPerSecond) {
        if (machine instanceof UdQueuePair) {
            throw new RdmaException(
                    RATE_LIMIT,
                    Errno.EOPNOTSUPP,
                    "queue pair 0x%06x is of the type %s".formatted(machine.number(), type),
                    "Only connections have a rate");
        }
        if (kilobitsPerSecond < 0 || kilobitsPerSecond > Integer.MAX_VALUE) {
            throw new RdmaException(
                    RATE_LIMIT,
                    Errno.EINVAL,
                    "a rate of " + kilobitsPerSecond + " kbit/s",
                    "Use 1 to " + Integer.MAX_VALUE + ", or 0 for no limit");
        }
        engine.lock();
        try {
            machine.rateLimit(kilobitsPerSecond * BYTES_OF_KILOBIT);
            engine.activate(driven);
        } finally {
            engine.unlock();
        }
    }

    private void refuse(@Nullable String problem) {
        if (problem != null) {
            throw new RdmaException(
                    "ibv_modify_qp", Errno.EINVAL, "queue pair 0x%06x: %s".formatted(machine.number(), problem), "");
        }
    }

    // ---- checks ----

    private @Nullable String rangeRefusal(QueuePairAttributes change) {
        for (QueuePairAttribute attribute : change.present()) {
            String refusal = switch (attribute) {
                case STATE, CURRENT_STATE, NOTIFY_WHEN_DRAINED, ACCESS_FLAGS, QUEUE_KEY -> null;
                case PARTITION_KEY_INDEX -> range(attribute, change.partitionKeyIndex(), 0, 0);
                case PORT -> range(attribute, change.port(), 1, 1);
                case ADDRESS_VECTOR -> Paths.refusal(device, change.addressVector());
                case PATH_MTU -> mtuRefusal(change);
                case TIMEOUT -> range(attribute, change.timeout(), 0, 31);
                case RETRY_COUNT -> range(attribute, change.retryCount(), 0, 7);
                case RNR_RETRY -> range(attribute, change.rnrRetry(), 0, 7);
                case RECEIVE_PSN -> range(attribute, change.receivePsn(), 0, MAX_PSN);
                case MAX_READ_ATOMIC -> range(attribute, change.maxReadAtomic(), 0, Limits.MAX_READ_ATOMIC);
                case MIN_RNR_TIMER -> range(attribute, change.minRnrTimer(), 0, 31);
                case SEND_PSN -> range(attribute, change.sendPsn(), 0, MAX_PSN);
                case MAX_DESTINATION_READ_ATOMIC ->
                    range(attribute, change.maxDestinationReadAtomic(), 0, Limits.MAX_READ_ATOMIC);
                case DESTINATION_QUEUE_PAIR -> range(attribute, change.destinationQueuePair(), 2, MAX_PSN - 1);
            };
            if (refusal != null) {
                return refusal;
            }
        }
        return null;
    }

    private static @Nullable String range(QueuePairAttribute attribute, int value, int minimum, int maximum) {
        return value >= minimum && value <= maximum
                ? null
                : attribute + " " + value + " is not " + minimum + " to " + maximum;
    }

    private @Nullable String mtuRefusal(QueuePairAttributes change) {
        int maximum = device.activeMtu().bytes();
        int wanted = change.pathMtu().bytes();
        return wanted <= maximum
                ? null
                : "path MTU " + wanted + " is more than the " + maximum + " that " + device.networkName() + " carries";
    }

    private @Nullable String drainingRefusal(QueuePairAttributes change) {
        boolean ends = change.present().contains(QueuePairAttribute.STATE)
                && (change.state() == QueuePairState.RESET || change.state() == QueuePairState.ERROR);
        return machine.isDraining() && !ends
                ? "its send queue is still draining; wait for the event SEND_QUEUE_DRAINED, which NOTIFY_WHEN_DRAINED"
                        + " requests, or until query() reports that it is not draining"
                : null;
    }

    // ---- changes, under the engine lock ----

    private void apply(QueuePairAttributes change, @Nullable Port port) {
        Set<QueuePairAttribute> given = change.present();
        QueuePairState to = given.contains(QueuePairAttribute.STATE) ? change.state() : machine.state();
        boolean changesState = to != machine.state();
        if (to == QueuePairState.RESET) {
            engine.reset(driven);
            current = new QueuePairAttributes();
            return;
        }
        if (to == QueuePairState.ERROR) {
            machine.toError();
            return;
        }
        for (QueuePairAttribute attribute : given) {
            copy(attribute, change, current);
        }
        switch (to) {
            case INIT -> toInit();
            case READY_TO_RECEIVE -> {
                toInit();
                if (machine instanceof UdQueuePair datagrams) {
                    datagrams.toReadyToReceive(device.activeMtu().bytes());
                } else {
                    toReadyToReceive(Objects.requireNonNull(port));
                }
            }
            case SEND_QUEUE_DRAINED -> {
                if (changesState) {
                    machine.drain(given.contains(QueuePairAttribute.NOTIFY_WHEN_DRAINED) && change.notifyWhenDrained());
                } else {
                    applyDrained(port);
                }
                applyLive(given);
            }
            default -> {
                if (machine.state() == QueuePairState.READY_TO_RECEIVE) {
                    toReadyToSend();
                } else if (changesState) {
                    machine.resume();
                }
                applyLive(given);
            }
        }
    }

    private void toInit() {
        machine.toInit(AccessFlag.bits(current.accessFlags()));
        if (machine instanceof UdQueuePair datagrams) {
            datagrams.changeQueueKey(current.queueKey());
        }
    }

    private QueuePairMachine.Peer peer(Port port) {
        AddressVector path = Objects.requireNonNull(current.addressVector());
        return new QueuePairMachine.Peer(
                port.high(),
                port.low(),
                path.destination().high(),
                path.destination().low(),
                Paths.remoteScope(path, port),
                current.destinationQueuePair(),
                path.trafficClass(),
                path.hopLimit(),
                path.flowLabel());
    }

    private RcQueuePair.ReceiveParameters receiveParameters(QueuePairMachine.Peer peer) {
        return new RcQueuePair.ReceiveParameters(
                peer,
                current.pathMtu().bytes(),
                current.receivePsn(),
                current.maxDestinationReadAtomic(),
                current.minRnrTimer());
    }

    private void toReadyToReceive(Port port) {
        QueuePairMachine.Peer peer = peer(port);
        PeerReputation reputation = device.devices().peerReputation();
        Gid address = new Gid(peer.remoteHigh(), peer.remoteLow());
        machine.checkSourcePort(reputation.sourcePortCheck(address, peer.queuePairNumber()));
        machine.congestionMarks(reputation.congestionMarks(address, peer.queuePairNumber()));
        switch (machine) {
            case RcQueuePair reliable -> reliable.toReadyToReceive(receiveParameters(peer));
            case UcQueuePair unreliable ->
                unreliable.toReadyToReceive(peer, current.pathMtu().bytes(), current.receivePsn());
            case UdQueuePair _ -> throw new AssertionError("datagrams have no peer");
        }
        driven.path(port, peer);
    }

    /**
     * Applies the changes allowed while nothing is sent. {@code changed} is the port of a new path, or null for the old
     * one.
     */
    private void applyDrained(@Nullable Port changed) {
        Port port = changed != null ? changed : driven.port();
        if (port == null) {
            return; // datagrams have no path
        }
        QueuePairMachine.Peer peer = peer(port);
        switch (machine) {
            case RcQueuePair reliable -> reliable.change(receiveParameters(peer), sendParameters());
            case UcQueuePair unreliable -> unreliable.changePath(peer);
            case UdQueuePair _ -> throw new AssertionError("datagrams have no path");
        }
        driven.path(port, peer);
    }

    private void toReadyToSend() {
        switch (machine) {
            case RcQueuePair reliable -> {
                reliable.toReadyToSend(sendParameters());
                keepAlive(reliable);
            }
            case UcQueuePair unreliable -> unreliable.toReadyToSend(current.sendPsn());
            case UdQueuePair datagrams -> datagrams.toReadyToSend(current.sendPsn());
        }
    }

    /** Probes an idle peer if it runs rdma4j on another host. */
    private void keepAlive(RcQueuePair reliable) {
        QueuePairMachine.Peer peer = reliable.peer();
        if (peer == null || reliable.role() != RcQueuePair.Role.CONNECTED) {
            return;
        }
        Gid address = new Gid(peer.remoteHigh(), peer.remoteLow());
        Duration interval = device.devices().peerReputation().keepAlive(address, peer.queuePairNumber());
        if (!interval.isZero()) {
            reliable.keepAlive(engine.clock().nanoTime(), interval.toNanos());
        }
    }

    private RcQueuePair.SendParameters sendParameters() {
        return new RcQueuePair.SendParameters(
                current.sendPsn(),
                current.maxReadAtomic(),
                current.retryCount(),
                current.rnrRetry(),
                current.timeout(),
                /* tailLossProbes= */ true);
    }

    /** Applies the changes allowed while the queue pair is in operation. */
    private void applyLive(Set<QueuePairAttribute> given) {
        if (given.contains(QueuePairAttribute.ACCESS_FLAGS)) {
            machine.changeAccess(AccessFlag.bits(current.accessFlags()));
        }
        if (given.contains(QueuePairAttribute.MIN_RNR_TIMER) && machine instanceof RcQueuePair reliable) {
            reliable.changeMinRnrTimer(current.minRnrTimer());
        }
        if (given.contains(QueuePairAttribute.QUEUE_KEY) && machine instanceof UdQueuePair datagrams) {
            datagrams.changeQueueKey(current.queueKey());
        }
    }

    private static void copy(QueuePairAttribute attribute, QueuePairAttributes from, QueuePairAttributes to) {
        switch (attribute) {
            case STATE -> to.state(from.state());
            case CURRENT_STATE, NOTIFY_WHEN_DRAINED -> {
                // These apply to one change only, and are not recorded.
            }
            case ACCESS_FLAGS -> to.accessFlags(Set.copyOf(from.accessFlags()));
            case PARTITION_KEY_INDEX -> to.partitionKeyIndex(from.partitionKeyIndex());
            case PORT -> to.port(from.port());
            case ADDRESS_VECTOR -> to.addressVector(Objects.requireNonNull(from.addressVector()));
            case PATH_MTU -> to.pathMtu(from.pathMtu());
            case TIMEOUT -> to.timeout(from.timeout());
            case RETRY_COUNT -> to.retryCount(from.retryCount());
            case RNR_RETRY -> to.rnrRetry(from.rnrRetry());
            case RECEIVE_PSN -> to.receivePsn(from.receivePsn());
            case MAX_READ_ATOMIC -> to.maxReadAtomic(from.maxReadAtomic());
            case MIN_RNR_TIMER -> to.minRnrTimer(from.minRnrTimer());
            case SEND_PSN -> to.sendPsn(from.sendPsn());
            case MAX_DESTINATION_READ_ATOMIC -> to.maxDestinationReadAtomic(from.maxDestinationReadAtomic());
            case DESTINATION_QUEUE_PAIR -> to.destinationQueuePair(from.destinationQueuePair());
            case QUEUE_KEY -> to.queueKey(from.queueKey());
        }
    }

    /** Returns the attributes, with the current state and PSNs. */
    QueuePairAttributes query() {
        engine.lock();
        try {
            QueuePairAttributes result = new QueuePairAttributes();
            for (QueuePairAttribute attribute : current.present()) {
                copy(attribute, current, result);
            }
            if (current.present().contains(QueuePairAttribute.SEND_PSN)) {
                result.sendPsn(machine.sendPsn());
            }
            if (current.present().contains(QueuePairAttribute.RECEIVE_PSN)) {
                result.receivePsn(machine.receivePsn());
            }
            result.draining(machine.isDraining());
            return result.state(machine.state());
        } finally {
            engine.unlock();
        }
    }
}
