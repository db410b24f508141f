package io.rdma4j.tools.perftest;

import java.util.LinkedHashMap;
import java.util.Map;

/** What a bandwidth tool does once the queue pairs are connected. */
final class BandwidthTest {
    /** Exit status of perftest where a run of messages or READs fails; of others it is 1. */
    private static final int RUN_FAILED = 17;

    private final Settings settings;
    private final Console console;
    private final Handshake handshake;
    private final Resources resources;
    private final PerftestDestination mine;
    private final SizeRows rows;
    private BandwidthFigures last = new BandwidthFigures(0, 0, 0, 0, 0);

    /** The largest of all sizes. */
    private float bandwidth;

    private float messageRate;

    BandwidthTest(
            Settings settings, Console console, Handshake handshake, Resources resources, PerftestDestination mine) {
        this.settings = settings;
        this.console = console;
        this.handshake = handshake;
        this.resources = resources;
        this.mine = mine;
        rows = new SizeRows(console.environment().report(), settings.forever);
    }

    void run(Completions sends, Completions receives) throws PerftestFailure {
        line();
        full(PerftestTable.bandwidthHead(settings.gigabits));
        boolean isSend = settings.operation == MeasuredOperation.SEND;
        if (isSend || settings.isClient() || settings.bothWays) {
            for (long size : Sizes.of(settings)) {
                run(size, sends, receives);
            }
            line();
            if (!isSend && !settings.bothWays) {
                handshake.swap(mine);
                handshake.swap(last);
            }
        } else {
            handshake.swap(mine);
            print(handshake.swap(last));
            line();
        }
        handshake.close(mine);
        checkLimits();
    }

    // ---- one size

    private void run(long size, Completions sends, Completions receives) throws PerftestFailure {
        boolean isSend = settings.operation == MeasuredOperation.SEND;
        BandwidthLoop loop = loop(size, sends, receives);
        if (settings.warmUp && loop instanceof Sending sending && !isSend) {
            sending.warmUp(size);
        }
        if (isSend || settings.bothWays && !settings.forever) {
            handshake.swap(mine);
        }
        loop.onInterim(samples -> print(figures(samples, size)));
        BandwidthSamples samples;
        try {
            samples = loop.run(size);
        } catch (PerftestFailure e) {
            boolean isOther = isSend || settings.operation == MeasuredOperation.READ;
            throw isOther ? new PerftestFailure(RUN_FAILED) : e;
        }
        if (!isSend && settings.bothWays && settings.allSizes) {
            handshake.swap(mine);
        }
        last = figures(samples, size);
        if (!settings.bothWays || isSend && settings.timed) {
            print(last);
        }
        if (settings.bothWays && !(isSend && settings.timed)) {
            BandwidthFigures peer = handshake.swap(last);
            print(last.plus(peer));
            if (settings.reportBoth && !settings.allSizes) {
                printBoth(peer);
            }
        }
        if (isSend && settings.allSizes) {
            handshake.swap(mine);
        }
    }

    private BandwidthLoop loop(long size, Completions sends, Completions receives) {
        if (settings.operation == MeasuredOperation.SEND && settings.bothWays) {
            BothWays both = new BothWays(settings, resources, sends, receives);
            both.postReceives(size);
            return both;
        }
        if (settings.operation == MeasuredOperation.SEND && !settings.isClient()) {
            Receiving receiving = new Receiving(settings, resources, sends, receives);
            receiving.postReceives(size);
            return receiving;
        }
        return new Sending(settings, resources, sends, receives);
    }

    private BandwidthFigures figures(BandwidthSamples samples, long size) {
        int ways = settings.bothWays && settings.forever && settings.operation != MeasuredOperation.SEND ? 2 : 1;
        return BandwidthFigures.of(samples, settings, size, ways);
    }

    // ---- the table

    private void line() {
        full(PerftestTable.LINE);
    }

    /** A line that only the full output has. */
    private void full(String text) {
        if (settings.output == Settings.Output.FULL) {
            console.line(text);
        }
    }

    private void print(BandwidthFigures figures) {
        console.line(
                switch (settings.output) {
                    case BANDWIDTH -> PerftestTable.plain(figures.average());
                    case MESSAGE_RATE -> PerftestTable.plain(figures.messageRate());
                    default -> PerftestTable.bandwidth(figures, settings.gigabits);
                });
        bandwidth = Math.max(bandwidth, (float) figures.average());
        messageRate = Math.max(messageRate, (float) figures.messageRate());
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("sizeBytes", figures.sizeBytes());
        row.put("iterations", figures.iterations());
        row.put(settings.gigabits ? "peakGigabitsPerSecond" : "peakMebibytesPerSecond", figures.peak());
        row.put(settings.gigabits ? "averageGigabitsPerSecond" : "averageMebibytesPerSecond", figures.average());
        row.put("millionMessagesPerSecond", figures.messageRate());
        rows.add(row);
    }

    private void printBoth(BandwidthFigures peer) {
        console.line(PerftestTable.LINE);
        console.line("\n Local results: ");
        console.line(PerftestTable.LINE);
        console.line(PerftestTable.bandwidthHead(settings.gigabits));
        console.line(PerftestTable.bandwidth(last, settings.gigabits));
        console.line(PerftestTable.LINE);
        console.line("\n Remote results: ");
        console.line(PerftestTable.LINE);
        console.line(PerftestTable.bandwidthHead(settings.gigabits));
        console.line(PerftestTable.bandwidth(peer, settings.gigabits));
    }

    /** As in C, it suffices that one size reaches a limit. */
    private void checkLimits() throws PerftestFailure {
        if (bandwidth < settings.leastBandwidth) {
            throw console.failure("Error: BW result is below bw limit");
        }
        if (messageRate < settings.leastMessageRate) {
            throw console.failure("Error: Msg rate  is below msg_rate limit");
        }
    }
}
