package io.rdma4j.tools.perftest;

import io.rdma4j.verbs.PathMtu;
import io.rdma4j.verbs.PortAttributes;
import io.rdma4j.verbs.RdmaException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/**
 * A run of a tool: the two sides meet, agree, make and connect queue pairs, measure, and part, in the order and with the
 * messages of perftest.
 */
final class PerftestRun {
    private final Settings settings;
    private final Console console;

    PerftestRun(Settings settings, Console console) {
        this.settings = settings;
        this.console = console;
    }

    /**
     * Runs to the end.
     *
     * @throws PerftestFailure if something fails; the reason has been printed
     */
    void run() throws PerftestFailure {
        try (PerftestSession session = PerftestSession.with(settings, console)) {
            Handshake handshake = new Handshake(session.control(), settings, console);
            handshake.greet();
            PathMtu mtu = handshake.agree(mtu(session));
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
                    e.getMessage() + "; use a smaller -n or -q, or -D SECONDS, which keeps no times");
        }
    }

    private void run(PerftestSession session, Handshake handshake, PathMtu mtu, Resources resources)
            throws PerftestFailure {
        int[] packetNumbers = new int[settings.queuePairs];
        for (int i = 0; i < packetNumbers.length; i++) {
            packetNumbers[i] = ThreadLocalRandom.current().nextInt(1 << 24);
        }
        if (!settings.events) {
            handshake.control().driveBy(new Drive(resources.sends()));
        }
        try (Links links = settings.managed
                ? new CmLinks(settings, resources, handshake, console, session.local(), session.server())
                : new PlainLinks(settings, resources, console, mtu, session.gidIndex(), packetNumbers)) {
            links.make();
            List<PerftestDestination> mine = destinations(session, resources, packetNumbers);
            new TestInfo(settings, console).print(session, mtu);
            introduce(handshake, links, resources, mine);
            handshake.control().expectRuns();
            measure(handshake, links, resources, mine);
            if (settings.waitSeconds > 0) {
                console.line(" Waiting " + settings.waitSeconds + " seconds before releasing resources...");
                sleep(settings.waitSeconds);
            }
            links.awaitDisconnect();
        }
    }

    private static void sleep(int seconds) {
        try {
            Thread.sleep(seconds * 1000L);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    // ---- what the device can

    private PathMtu mtu(PerftestSession session) throws PerftestFailure {
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

    private void limitDatagrams(PathMtu mtu) throws PerftestFailure {
        if (!settings.isDatagram() || settings.sizeBytes <= mtu.bytes()) {
            return;
        }
        if (settings.isSizeAsked && !settings.allSizes) {
            console.error(" Max message size in UD cannot be greater than MTU ");
            throw console.failure(
                    " Couldn't get context for the device",
                    "datagrams are one packet: -s " + mtu.bytes() + " is the most over this network");
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
        int most = Math.min(
                session.context().attributes().maxReadAtomicPerQueuePair(),
                session.context().attributes().maxInitiatedReadAtomicPerQueuePair());
        if (settings.outstanding > most) {
            console.line(PerftestTable.LINE);
            console.error(" Number of outstanding reads is above max = " + most);
            console.error(" Changing to that max value");
        }
        if (settings.outstanding <= 0 || settings.outstanding > most) {
            settings.outstanding = most;
        }
    }

    private void limitInline(PerftestSession session) {
        int most = session.context().attributes().maxInlineBytes();
        if (settings.inlineBytes > most) {
            console.line("  Actual inline-size(" + most + ") > requested inline-size(" + settings.inlineBytes + ")");
            settings.inlineBytes = most;
        }
        settings.inlineBytes = Math.max(0, settings.inlineBytes);
    }

    // ---- where the queue pairs are

    private List<PerftestDestination> destinations(PerftestSession session, Resources resources, int[] packetNumbers) {
        List<PerftestDestination> mine = new ArrayList<>();
        for (QueuePairRun queuePairRun : resources.queuePairRuns()) {
            mine.add(new PerftestDestination(
                    0,
                    settings.outstanding,
                    queuePairRun.queuePair().number(),
                    packetNumbers[queuePairRun.index()],
                    queuePairRun.region().remoteKey(),
                    queuePairRun.remoteAddress(),
                    session.gid(),
                    session.gidIndex()));
        }
        return mine;
    }

    private void introduce(Handshake handshake, Links links, Resources resources, List<PerftestDestination> mine)
            throws PerftestFailure {
        boolean isSend = settings.operation == MeasuredOperation.SEND;
        if (!isSend && !settings.isBandwidth()) {
            handshake.swap(mine.getFirst());
        }
        for (QueuePairRun queuePairRun : resources.queuePairRuns()) {
            queuePairRun.connectTo(handshake.swap(mine.get(queuePairRun.index())));
        }
        if (!settings.managed) {
            if (mine.getFirst().gid().isIpv4()
                    != resources.queuePairRuns().getFirst().remote().gid().isIpv4()) {
                console.error("");
                console.error(" Found Incompatibility issue with GID types.");
                console.error(" Please Try to use a different IP version.");
                throw console.failure("", "one side uses an IPv4 GID, the other an IPv6 one; -x INDEX chooses");
            }
            links.connect();
        }
        if (isSend) {
            handshake.swap(mine.getFirst());
        }
        mine.forEach(each -> print(each, "local"));
        for (PerftestDestination each : mine) {
            print(handshake.swap(each), "remote");
        }
        if (!isSend) {
            handshake.swap(mine.getFirst());
        }
    }

    private void print(PerftestDestination destination, String side) {
        if (settings.output == Settings.Output.FULL) {
            console.line(destination.line(side, settings.managedTalk ? null : settings.operation));
            console.line(destination.gidLine());
        }
    }

    // ---- what is measured

    private void measure(Handshake handshake, Links links, Resources resources, List<PerftestDestination> mine)
            throws PerftestFailure {
        Completions.Watch watch = () -> links.isOver() || handshake.control().isOver();
        Completions sends = new Completions(
                resources.sends(), resources.channel(), resources.queuePairRuns(), watch, console, "client");
        Completions receives = settings.operation == MeasuredOperation.SEND
                ? new Completions(
                        resources.receives(), resources.channel(), resources.queuePairRuns(), watch, console, "server")
                : sends;
        if (settings.isBandwidth()) {
            new BandwidthTest(settings, console, handshake, resources, mine.getFirst()).run(sends, receives);
        } else {
            new LatencyTest(settings, console, handshake, resources, mine.getFirst()).run(sends, receives);
        }
    }
}
