package io.rdma4j.tools.perftest;

import io.rdma4j.tools.command.ToolFailure;
import java.util.LinkedHashMap;
import java.util.Map;

/** A bandwidth test over connected queue pairs. */
final class BandwidthTest {
    /** Perftest's exit status if a run of SENDs or READs fails. For other operations it is 1. */
    private static final int RUN_FAILED = 17;

    private final Settings settings;
    private final Console console;
    private final Handshake handshake;
    private final Resources resources;
    private final PerftestDestination local;
    private final SizeRows rows;
    private BandwidthFigures last = new BandwidthFigures(0, 0, 0, 0, 0);

    /** The highest bandwidth of all sizes. */
    private float bandwidth;

    private float messageRate;

    BandwidthTest(
            Settings settings, Console console, Handshake handshake, Resources resources, PerftestDestination local) {
        this.settings = settings;
        this.console = console;
        this.handshake = handshake;
        this.resources = resources;
        this.local = local;
        rows = new SizeRows(console.environment().report(), settings.infinite);
    }

    void run(Completions sends, Completions receives) throws ToolFailure {
        line();
        printIfFull(PerftestTable.bandwidthHead(settings.gigabits));
        boolean hasReceives = settings.consumesReceives();
        if (hasReceives || settings.isClient() || settings.bidirectional) {
            for (long size : Sizes.of(settings)) {
                run(size, sends, receives);
            }
            line();
            if (!hasReceives && !settings.bidirectional) {
                handshake.exchange(local);
                handshake.exchange(last);
            }
        } else {
            handshake.exchange(local);
            print(handshake.exchange(last));
            line();
        }
        handshake.close(local);
        checkLimits();
    }

    // ---- one size

    private void run(long size, Completions sends, Completions receives) throws ToolFailure {
        boolean hasReceives = settings.consumesReceives();
        BandwidthLoop loop = loop(size, sends, receives);
        if (settings.warmUp && loop instanceof SendingLoop sending && !hasReceives) {
            sending.warmUp(size);
        }
        if (hasReceives || settings.bidirectional && !settings.infinite) {
            handshake.exchange(local);
        }
        loop.onInterim(samples -> print(figures(samples, size)));
        BandwidthSamples samples;
        try {
            samples = loop.run(size);
        } catch (ToolFailure e) {
            boolean hasRunStatus =
                    settings.operation == MeasuredOperation.SEND || settings.operation == MeasuredOperation.READ;
            throw hasRunStatus ? new ToolFailure(RUN_FAILED) : e;
        }
        if (settings.allSizes
                && settings.operation != MeasuredOperation.SEND
                && (hasReceives || settings.bidirectional)) {
            handshake.exchange(local);
        }
        last = figures(samples, size);
        if (!settings.bidirectional || hasReceives && settings.timed) {
            print(last);
        }
        if (settings.bidirectional && !(hasReceives && settings.timed)) {
            BandwidthFigures peer = handshake.exchange(last);
            print(last.plus(peer));
            if (settings.reportBoth && !settings.allSizes) {
                printBoth(peer);
            }
        }
        if (settings.operation == MeasuredOperation.SEND && settings.allSizes) {
            handshake.exchange(local);
        }
    }

    private BandwidthLoop loop(long size, Completions sends, Completions receives) {
        if (settings.consumesReceives() && settings.bidirectional) {
            BidirectionalLoop both = new BidirectionalLoop(settings, resources, sends, receives);
            both.postReceives(size);
            return both;
        }
        if (settings.consumesReceives() && !settings.isClient()) {
            ReceivingLoop receiving = new ReceivingLoop(settings, resources, sends, receives);
            receiving.postReceives(size);
            return receiving;
        }
        return new SendingLoop(settings, resources, sends, receives);
    }

    private BandwidthFigures figures(BandwidthSamples samples, long size) {
        int directions = settings.bidirectional && settings.infinite && !settings.consumesReceives() ? 2 : 1;
        return BandwidthFigures.of(samples, settings, size, directions);
    }

    // ---- the table

    private void line() {
        printIfFull(PerftestTable.LINE);
    }

    /** Prints a line of the full output only. */
    private void printIfFull(String text) {
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

    /** Checks the limits of {@code -w} and {@code -y}. As in C, one size that reaches a limit suffices. */
    private void checkLimits() throws ToolFailure {
        if (bandwidth < settings.minBandwidth) {
            throw console.failure("Error: BW result is below bw limit");
        }
        if (messageRate < settings.minMessageRate) {
            throw console.failure("Error: Msg rate  is below msg_rate limit");
        }
    }
}
