package io.rdma4j.tools.perftest;

import io.rdma4j.tools.command.ToolFailure;
import io.rdma4j.tools.command.WarmUp;
import io.rdma4j.value.PathMtu;
import io.rdma4j.verbs.PortAttributes;
import io.rdma4j.verbs.RdmaException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/**
 * A run of a tool, from the control connection to the disconnect. The two sides agree on parameters, create and connect
 * their queue pairs and measure, in the order and with the messages of perftest.
 */
final class PerftestRun {
    /** The maximum number of completions of one poll, unless {@code --cqe_poll} is set. */
    private static final int COMPLETION_BATCH = 16;

    private final Settings settings;
    private final Console console;
    private final WarmUp warmUp;

    /**
     * Creates a run.
     *
     * @param warmUp the warm-up that the run ends as soon as its peer has connected
     */
    PerftestRun(Settings settings, Console console, WarmUp warmUp) {
        this.settings = settings;
        this.console = console;
        this.warmUp = warmUp;
    }

    /**
     * Runs the test.
     *
     * @throws ToolFailure if something fails; the reason has been printed
     */
    void run() throws ToolFailure {
        try (warmUp;
                PerftestSession session = PerftestSession.open(settings, console)) {
            warmUp.close();
            Handshake handshake = new Handshake(session.control(), settings, console);
            handshake.agreeOnParameters();
            PathMtu mtu = handshake.agreeOnMtu(mtu(session));
            limitDatagrams(mtu);
            limitOutstanding(session);
            limitInline(session);
            try (Resources resources = Resources.create(settings, session.context(), console)) {
                run(session, handshake, mtu, resources);
            }
        } catch (RdmaException e) {
            throw console.failure("Couldn't post send", e);
        } catch (OutOfMemoryError e) {
            throw console.failure(
                    "Couldn't allocate memory for the times of " + settings.iterations + " operations",
                    e.getMessage() + "; use a smaller -n or -q, or -D SECONDS, which records no times");
        }
    }

    private void run(PerftestSession session, Handshake handshake, PathMtu mtu, Resources resources)
            throws ToolFailure {
        int[] packetNumbers = new int[settings.queuePairs];
        for (int i = 0; i < packetNumbers.length; i++) {
            packetNumbers[i] = ThreadLocalRandom.current().nextInt(1 << 24);
        }
        if (!settings.events) {
            handshake.control().driveWith(new ProgressPoller(resources.sends()));
        }
        try (QueuePairConnector connector = settings.rdmaCm
                ? new CmConnector(settings, resources, handshake, console, session.local(), session.server())
                : new ManualConnector(settings, resources, console, mtu, session.gidIndex(), packetNumbers)) {
            connector.create();
            List<PerftestDestination> local = destinations(session, resources, packetNumbers);
            new TestInfo(settings, console).print(session, mtu);
            exchangeDestinations(handshake, connector, resources, local);
            handshake.control().expectRuns();
            measure(handshake, connector, resources, local);
            if (settings.waitSeconds > 0) {
                console.line(" Waiting " + settings.waitSeconds + " seconds before releasing resources...");
                sleep(settings.waitSeconds);
            }
            connector.awaitDisconnect();
        }
    }

    private static void sleep(int seconds) {
        try {
            Thread.sleep(seconds * 1000L);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    // ---- limits of the device

    private PathMtu mtu(PerftestSession session) throws ToolFailure {
        PortAttributes port = console.call(
                " Error when trying to query port", () -> session.context().port(settings.devicePort));
        PathMtu active = port.activeMtu();
        if (settings.mtuBytes == 0) {
            return active;
        }
        for (PathMtu each : PathMtu.values()) {
            if (each.bytes() == settings.mtuBytes) {
                if (each.code() <= active.code()) {
                    return each;
                }
                console.line("Requested mtu is higher than active mtu ");
                console.line("Changing to active mtu - " + active.code());
                return active;
            }
        }
        console.error(" Invalid MTU - " + settings.mtuBytes + " ");
        console.error(" Please choose mtu from {256,512,1024,2048,4096}");
        console.error(" Will run with the port active mtu - " + active.code());
        return active;
    }

    private void limitDatagrams(PathMtu mtu) throws ToolFailure {
        if (!settings.isDatagram() || settings.sizeBytes <= mtu.bytes()) {
            return;
        }
        if (settings.isSizeSet && !settings.allSizes) {
            console.error(" Max message size in UD cannot be greater than MTU ");
            throw console.failure(
                    " Couldn't get context for the device",
                    "a datagram is one packet: the maximum over this network is -s " + mtu.bytes());
        }
        console.error(" Max msg size in UD is MTU " + mtu.bytes());
        console.error(" Changing to this MTU");
        settings.sizeBytes = mtu.bytes();
    }

    private void limitOutstanding(PerftestSession session) {
        if (!settings.operation.isFetch()) {
            settings.outstanding = 1;
            return;
        }
        int max = Math.min(
                session.context().attributes().maxReadAtomicPerQueuePair(),
                session.context().attributes().maxInitiatedReadAtomicPerQueuePair());
        if (settings.outstanding > max) {
            console.line(PerftestTable.LINE);
            console.error(" Number of outstanding reads is above max = " + max);
            console.error(" Changing to that max value");
        }
        if (settings.outstanding <= 0 || settings.outstanding > max) {
            settings.outstanding = max;
        }
    }

    private void limitInline(PerftestSession session) {
        int max = session.context().attributes().maxInlineBytes();
        if (settings.inlineBytes > max) {
            console.line("  Actual inline-size(" + max + ") > requested inline-size(" + settings.inlineBytes + ")");
            settings.inlineBytes = max;
        }
        settings.inlineBytes = Math.max(0, settings.inlineBytes);
    }

    // ---- exchange of destinations

    private List<PerftestDestination> destinations(PerftestSession session, Resources resources, int[] packetNumbers) {
        List<PerftestDestination> local = new ArrayList<>();
        int sharedReceiveQueue = settings.isExtended() ? resources.sharedReceiveQueue() : 0;
        for (QueuePairRun queuePairRun : resources.queuePairRuns()) {
            local.add(new PerftestDestination(
                    0,
                    settings.outstanding,
                    queuePairRun.queuePair().number(),
                    packetNumbers[queuePairRun.index()],
                    queuePairRun.region().remoteKey(),
                    queuePairRun.remoteAddress(),
                    session.gid(),
                    session.gidIndex(),
                    sharedReceiveQueue));
        }
        return local;
    }

    private void exchangeDestinations(
            Handshake handshake, QueuePairConnector connector, Resources resources, List<PerftestDestination> local)
            throws ToolFailure {
        boolean isSend = settings.operation == MeasuredOperation.SEND;
        if (!isSend && !settings.isBandwidth()) {
            handshake.exchange(local.getFirst());
        }
        for (QueuePairRun queuePairRun : resources.queuePairRuns()) {
            PerftestDestination remote = handshake.exchange(local.get(queuePairRun.index()));
            resources.connectedTo(queuePairRun.index()).setRemote(remote);
        }
        if (!settings.rdmaCm) {
            if (local.getFirst().gid().isIpv4()
                    != resources.queuePairRuns().getFirst().remote().gid().isIpv4()) {
                console.error("");
                console.error(" Found Incompatibility issue with GID types.");
                console.error(" Please Try to use a different IP version.");
                throw console.failure("", "one side uses an IPv4 GID, the other an IPv6 GID; choose with -x INDEX");
            }
            connector.connect();
        }
        if (isSend) {
            handshake.exchange(local.getFirst());
        }
        local.forEach(each -> print(each, "local"));
        for (PerftestDestination each : local) {
            print(handshake.exchange(each), "remote");
        }
        if (!isSend) {
            handshake.exchange(local.getFirst());
        }
    }

    private void print(PerftestDestination destination, String side) {
        if (settings.output == Settings.Output.FULL) {
            String extended = settings.isExtended()
                    ? " SRQn " + PerftestTable.hexadecimal(destination.sharedReceiveQueue(), 8)
                    : "";
            console.line(destination.line(side, settings.rdmaCmControl ? null : settings.operation) + extended);
            console.line(destination.gidLine());
        }
    }

    // ---- measurement

    private void measure(
            Handshake handshake, QueuePairConnector connector, Resources resources, List<PerftestDestination> local)
            throws ToolFailure {
        Completions.Watch watch =
                () -> connector.isClosed() || handshake.control().isClosed();
        int batch = settings.completionBatch == Settings.NONE ? COMPLETION_BATCH : settings.completionBatch;
        Completions sends = new Completions(
                resources.sends(), resources.channel(), resources.queuePairRuns(), batch, watch, console, "client");
        Completions receives = settings.consumesReceives()
                ? new Completions(
                                resources.receives(),
                                resources.channel(),
                                resources.queuePairRuns(),
                                batch,
                                watch,
                                console,
                                "server")
                        .requireImmediate(settings.immediate)
                : sends;
        if (settings.isBandwidth()) {
            new BandwidthTest(settings, console, handshake, resources, local.getFirst()).run(sends, receives);
        } else {
            new LatencyTest(settings, console, handshake, resources, local.getFirst()).run(sends, receives);
        }
    }
}
