package io.rdma4j.bench.project;

import io.rdma4j.bench.worker.Control;
import io.rdma4j.bench.worker.Figures;
import io.rdma4j.bench.worker.LatencySamples;
import io.rdma4j.bench.worker.PairTest;
import io.rdma4j.bench.worker.Parameters;
import io.rdma4j.bench.worker.WarmUp;

/**
 * Opening connections, from creating the identifier to established, with 16 sends and 16 receives at each end.
 *
 * <p>Parameters: {@code atOnce} (number of connections opened together; all are closed before the next ones are
 * opened).
 */
public final class SetUp implements PairTest {
    private static final int CAPACITY = 1 << 16;

    /** Creates the measurement. */
    public SetUp() {}

    @Override
    public void serve(Control control, Parameters parameters) throws Exception {
        try (ConnectionServer server = new ConnectionServer()) {
            control.send(server.port());
            control.awaitPeer();
            control.serveQueries();
            control.awaitStop();
        }
    }

    @Override
    public void drive(Control control, Parameters parameters, Figures figures) throws Exception {
        int atOnce = parameters.number("atOnce", 1);
        ConnectionBurst burst = new ConnectionBurst((int) control.receive());
        control.awaitPeer();
        LatencySamples samples = new LatencySamples(CAPACITY);
        WarmUp warmUp = WarmUp.begin(parameters, control);
        long end = Long.MAX_VALUE;
        for (long now = System.nanoTime(); now < end || samples.count() == 0; now = System.nanoTime()) {
            if (end == Long.MAX_VALUE && warmUp.isOver(now)) {
                now = System.nanoTime();
                end = now + parameters.measureNanos();
            }
            burst.open(atOnce);
            long opened = System.nanoTime();
            burst.close();
            if (end != Long.MAX_VALUE) {
                samples.add(opened - now);
            }
        }
        control.stopPeer();
        figures.addLatency(samples, 1.0 / atOnce);
        warmUp.report(figures);
        figures.add(Figures.CONNECTIONS_PER_SECOND, atOnce * 1e9 / samples.percentileNanos(50));
    }
}
