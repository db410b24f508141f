package io.rdma4j.bench.project;

import io.rdma4j.bench.worker.Control;
import io.rdma4j.bench.worker.Figures;
import io.rdma4j.bench.worker.Latencies;
import io.rdma4j.bench.worker.PairTest;
import io.rdma4j.bench.worker.Parameters;
import io.rdma4j.bench.worker.WarmUp;
import org.HdrHistogram.Histogram;

/**
 * Opening connections, from creating the identifier to established, with 16 sends and 16 receives at each end.
 *
 * <p>Parameters: {@code atOnce} (number of connections opened together; all are closed before the next ones are
 * opened).
 */
public final class SetUp implements PairTest {
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
        Histogram times = Latencies.create();
        WarmUp warmUp = WarmUp.begin(parameters, control);
        long end = Long.MAX_VALUE;
        for (long now = System.nanoTime(); now < end || times.getTotalCount() == 0; now = System.nanoTime()) {
            if (end == Long.MAX_VALUE && warmUp.isOver(now)) {
                now = System.nanoTime();
                end = now + parameters.measureNanos();
            }
            burst.open(atOnce);
            long opened = System.nanoTime();
            burst.close();
            if (end != Long.MAX_VALUE) {
                times.recordValue(opened - now);
            }
        }
        control.stopPeer();
        figures.addLatency(times, 1.0 / atOnce);
        warmUp.report(figures);
        figures.add(Figures.CONNECTIONS_PER_SECOND, atOnce * 1e9 / times.getValueAtPercentile(50));
    }
}
