package io.rdma4j.tools.perftest;

import io.rdma4j.verbs.AddressVector;
import io.rdma4j.verbs.PathMtu;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;

/** Queue pairs that are connected by hand, with what the two sides have told each other. */
final class PlainLinks implements Links {
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
     * Prepares.
     *
     * @param packetNumbers the first of each queue pair
     */
    PlainLinks(
            Settings settings, Resources resources, Console console, PathMtu mtu, int gidIndex, int[] packetNumbers) {
        this.settings = settings;
        this.resources = resources;
        this.console = console;
        this.mtu = mtu;
        this.gidIndex = gidIndex;
        this.packetNumbers = packetNumbers;
    }

    @Override
    public void make() throws PerftestFailure {
        for (QueuePairRun queuePairRun : resources.queuePairRuns()) {
            QueuePair made = console.call(
                    "Unable to create QP.", () -> resources.domain().createQueuePair(resources.attributes()));
            queuePairRun.use(made);
            QueuePairAttributes attributes = new QueuePairAttributes()
                    .state(QueuePairState.INIT)
                    .partitionKeyIndex(0)
                    .port(settings.devicePort);
            if (settings.isDatagram()) {
                attributes.queueKey(QUEUE_KEY);
            } else {
                attributes.accessFlags(Resources.access(settings.operation, false));
            }
            console.step("Failed to modify QP to INIT", () -> made.modify(attributes));
        }
    }

    @Override
    public void connect() throws PerftestFailure {
        for (QueuePairRun queuePairRun : resources.queuePairRuns()) {
            PerftestDestination remote = queuePairRun.remote();
            AddressVector way = new AddressVector(
                    gidIndex, remote.gid(), 0, 0, HOP_LIMIT, settings.trafficClass, settings.devicePort);
            QueuePair queuePair = queuePairRun.queuePair();
            console.step(
                    "Failed to modify QP " + queuePair.number() + " to RTR",
                    () -> queuePair.modify(readyToReceive(remote, way)));
            console.step(
                    "Failed to modify QP to RTS", () -> queuePair.modify(readyToSend(remote, queuePairRun.index())));
            if (settings.isDatagram() && settings.sends()) {
                queuePairRun.sendTo(
                        console.call(
                                "Failed to create AH", () -> resources.domain().createAddressHandle(way)),
                        remote.queuePair(),
                        QUEUE_KEY);
            }
        }
    }

    private QueuePairAttributes readyToReceive(PerftestDestination remote, AddressVector way) {
        QueuePairAttributes attributes = new QueuePairAttributes().state(QueuePairState.READY_TO_RECEIVE);
        if (settings.isDatagram()) {
            return attributes;
        }
        attributes
                .addressVector(way)
                .pathMtu(mtu)
                .destinationQueuePair(remote.queuePair())
                .receivePsn(remote.packetNumber());
        return settings.connection == Connection.UC
                ? attributes
                : attributes
                        .maxDestinationReadAtomic(Math.max(1, settings.outstanding))
                        .minRnrTimer(RNR_TIMER);
    }

    private QueuePairAttributes readyToSend(PerftestDestination remote, int index) {
        QueuePairAttributes attributes =
                new QueuePairAttributes().state(QueuePairState.READY_TO_SEND).sendPsn(packetNumbers[index]);
        return settings.connection != Connection.RC
                ? attributes
                : attributes
                        .timeout(settings.timeoutExponent)
                        .retryCount(settings.retryCount)
                        .rnrRetry(RNR_RETRIES)
                        .maxReadAtomic(Math.clamp(remote.outstanding(), 1, Math.max(1, settings.outstanding)));
    }

    @Override
    public boolean isOver() {
        return false;
    }

    @Override
    public void awaitDisconnect() {
        // The device acknowledges for a while what came to a queue pair before it was closed.
    }

    @Override
    public void close() {
        resources.queuePairRuns().stream()
                .filter(QueuePairRun::hasQueuePair)
                .forEach(queuePairRun -> queuePairRun.queuePair().close());
    }
}
