package io.rdma4j.tools.perftest;

import io.rdma4j.tools.command.ToolFailure;
import io.rdma4j.value.PathMtu;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.verbs.AddressVector;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;

/** A connector that works without the connection manager, with the destinations that the two sides have exchanged. */
final class ManualConnector implements QueuePairConnector {
    private static final int QUEUE_KEY = 0x1111_1111;
    private static final int HOP_LIMIT = 0xff;
    private static final int RNR_TIMER = 12;
    private static final int RNR_RETRIES = 7;

    private final Settings settings;
    private final Resources resources;
    private final Console console;
    private final PathMtu mtu;
    private final int gidIndex;
    private final int[] packetNumbers;

    /**
     * Creates a connector.
     *
     * @param packetNumbers the first packet sequence number of each queue pair
     */
    ManualConnector(
            Settings settings, Resources resources, Console console, PathMtu mtu, int gidIndex, int[] packetNumbers) {
        this.settings = settings;
        this.resources = resources;
        this.console = console;
        this.mtu = mtu;
        this.gidIndex = gidIndex;
        this.packetNumbers = packetNumbers;
    }

    @Override
    public void create() throws ToolFailure {
        for (QueuePairRun queuePairRun : resources.queuePairRuns()) {
            QueuePair created = console.call(
                    "Unable to create QP.",
                    () -> resources.domain().createQueuePair(resources.attributes(queuePairRun.index())));
            queuePairRun.setQueuePair(created);
            QueuePairAttributes attributes = new QueuePairAttributes()
                    .state(QueuePairState.INIT)
                    .partitionKeyIndex(0)
                    .port(settings.devicePort);
            if (settings.isDatagram()) {
                attributes.queueKey(QUEUE_KEY);
            } else {
                attributes.accessFlags(Resources.access(settings.operation, false));
            }
            console.step("Failed to modify QP to INIT", () -> created.modify(attributes));
        }
    }

    @Override
    public void connect() throws ToolFailure {
        for (QueuePairRun queuePairRun : resources.queuePairRuns()) {
            PerftestDestination remote = queuePairRun.remote();
            AddressVector path = AddressVector.of(gidIndex, remote.gid())
                    .withHopLimit(HOP_LIMIT)
                    .withTrafficClass(settings.trafficClass)
                    .withServiceLevel(settings.serviceLevel)
                    .withFlowLabel(settings.flowLabel(queuePairRun.index()))
                    .withPort(settings.devicePort);
            QueuePair queuePair = queuePairRun.queuePair();
            console.step(
                    "Failed to modify QP " + queuePair.number() + " to RTR",
                    () -> queuePair.modify(readyToReceive(remote, path, queuePairRun.index())));
            console.step(
                    "Failed to modify QP to RTS", () -> queuePair.modify(readyToSend(remote, queuePairRun.index())));
            if (settings.isDatagram() && settings.sends()) {
                queuePairRun.setDatagramPeer(
                        console.call(
                                "Failed to create AH", () -> resources.domain().createAddressHandle(path)),
                        remote.queuePair(),
                        QUEUE_KEY);
            }
        }
    }

    private QueuePairAttributes readyToReceive(PerftestDestination remote, AddressVector path, int index) {
        QueuePairAttributes attributes = new QueuePairAttributes().state(QueuePairState.READY_TO_RECEIVE);
        if (settings.isDatagram()) {
            return attributes;
        }
        attributes
                .addressVector(path)
                .pathMtu(mtu)
                .destinationQueuePair(remote.queuePair())
                .receivePsn(remote.packetNumber());
        boolean isInitiator = settings.isExtended() && !resources.isTarget(index);
        return settings.connection == ConnectionType.UC || isInitiator
                ? attributes
                : attributes
                        .maxDestinationReadAtomic(Math.max(1, settings.outstanding))
                        .minRnrTimer(RNR_TIMER);
    }

    private QueuePairAttributes readyToSend(PerftestDestination remote, int index) {
        QueuePairAttributes attributes =
                new QueuePairAttributes().state(QueuePairState.READY_TO_SEND).sendPsn(packetNumbers[index]);
        if (resources.isTarget(index)) {
            return attributes.timeout(settings.timeoutExponent);
        }
        return !settings.connection.isReliable()
                ? attributes
                : attributes
                        .timeout(settings.timeoutExponent)
                        .retryCount(settings.retryCount)
                        .rnrRetry(RNR_RETRIES)
                        .maxReadAtomic(Math.clamp(remote.outstanding(), 1, Math.max(1, settings.outstanding)));
    }

    @Override
    public boolean isClosed() {
        return false;
    }

    @Override
    public void awaitDisconnect() {
        // No wait is needed: the device acknowledges packets for some time after a queue pair is closed.
    }

    @Override
    public void close() {
        resources.queuePairRuns().stream()
                .filter(QueuePairRun::hasQueuePair)
                .forEach(queuePairRun -> queuePairRun.queuePair().close());
    }
}
