package io.rdma4j.tools.perftest;

import io.rdma4j.tools.command.ToolFailure;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/** A latency test over connected queue pairs. */
final class LatencyTest {
    /** Perftest's exit status if a run of SENDs, READs or atomics fails. For WRITEs it is 1. */
    private static final int RUN_FAILED = 17;

    private static final long LINGER_NANOS = 500_000_000L;

    private final Settings settings;
    private final Console console;
    private final Handshake handshake;
    private final Resources resources;
    private final PerftestDestination local;
    private final SizeRows rows;

    LatencyTest(
            Settings settings, Console console, Handshake handshake, Resources resources, PerftestDestination local) {
        this.settings = settings;
        this.console = console;
        this.handshake = handshake;
        this.resources = resources;
        this.local = local;
        rows = new SizeRows(console.environment().report(), settings.infinite);
    }

    void run(Completions sends, Completions receives) throws ToolFailure {
        if (settings.operation.isFetch() && !settings.isClient()) {
            handshake.close(local);
            line();
            return;
        }
        line();
        printIfFull(PerftestTable.latencyHead(settings.timed));
        for (long size : Sizes.of(settings)) {
            LatencyLoop loop = loop(sends, receives);
            if (loop instanceof SendLatency messages) {
                messages.postReceives(size);
                handshake.exchange(local);
            }
            try {
                loop.run(size);
            } catch (ToolFailure e) {
                if (settings.operation == MeasuredOperation.WRITE) {
                    console.error("Test exited with Error");
                    throw e;
                }
                throw new ToolFailure(RUN_FAILED);
            }
            print(size, loop);
        }
        line();
        if (settings.operation != MeasuredOperation.WRITE) {
            handshake.close(local);
        } else if (settings.timed) {
            linger();
        }
    }

    /**
     * Keeps driving the device for a while, because the peer's timed run may end later. The peer would otherwise wait
     * indefinitely for acknowledgements.
     */
    private void linger() {
        ProgressPoller poller = new ProgressPoller(resources.sends());
        long until = System.nanoTime() + LINGER_NANOS;
        while (System.nanoTime() < until) {
            poller.run();
        }
    }

    private LatencyLoop loop(Completions sends, Completions receives) {
        return switch (settings.operation) {
            case SEND -> new SendLatency(settings, resources, sends, receives);
            case WRITE ->
                settings.immediate
                        ? new SendLatency(settings, resources, sends, receives)
                        : new WriteLatency(settings, resources, sends, receives);
            case READ, ATOMIC -> new FetchLatency(settings, resources, sends, receives);
        };
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

    private int directions() {
        return settings.operation.isFetch() ? 1 : 2;
    }

    private void print(long size, LatencyLoop loop) {
        if (settings.timed) {
            printTimed(size, loop);
            return;
        }
        double[] samples = LatencyFigures.samples(loop.postedNanos(), directions());
        LatencyFigures figures = LatencyFigures.of(samples);
        if (settings.unsorted) {
            printSamples(samples, samples.length);
        }
        if (settings.histogram) {
            double[] sorted = samples.clone();
            Arrays.sort(sorted);
            printSamples(sorted, sorted.length - LatencyFigures.TAIL);
        }
        if (settings.unsorted || settings.histogram) {
            line();
            printIfFull(PerftestTable.latencyHead(false));
        }
        boolean isFull = settings.output == Settings.Output.FULL;
        console.line(isFull ? PerftestTable.latency(size, figures) : PerftestTable.plain(figures.average()));
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("sizeBytes", size);
        row.put("iterations", figures.iterations());
        row.put("minimumMicroseconds", figures.minimum());
        row.put("maximumMicroseconds", figures.maximum());
        row.put("typicalMicroseconds", figures.typical());
        row.put("averageMicroseconds", figures.average());
        row.put("deviationMicroseconds", figures.deviation());
        row.put("percentile99Microseconds", figures.percentile99());
        row.put("percentile99.9Microseconds", figures.percentile999());
        rows.add(row);
    }

    private void printTimed(long size, LatencyLoop loop) {
        long count = Math.max(1, loop.counted());
        double average = loop.elapsedNanos() / 1e3 / directions() / count;
        double perSecond = loop.counted() * 1e9 / Math.max(1, loop.elapsedNanos());
        boolean isFull = settings.output == Settings.Output.FULL;
        console.line(
                isFull
                        ? PerftestTable.timedLatency(size, loop.counted(), average, perSecond)
                        : PerftestTable.plain(average));
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("sizeBytes", size);
        row.put("iterations", loop.counted());
        row.put("averageMicroseconds", average);
        row.put("transactionsPerSecond", perSecond);
        rows.add(row);
    }

    private void printSamples(double[] samples, int count) {
        StringBuilder text = new StringBuilder("#, usec");
        for (int i = 0; i < count; i++) {
            text.append('\n').append(PerftestTable.sample(i + 1, samples[i]));
        }
        console.line(text.toString());
    }
}
