package io.rdma4j.bench.project;

import io.rdma4j.bench.worker.Control;
import io.rdma4j.bench.worker.Figures;
import io.rdma4j.bench.worker.Footprint;
import io.rdma4j.bench.worker.PairTest;
import io.rdma4j.bench.worker.Parameters;
import io.rdma4j.bench.worker.Processors;

/**
 * The cost of idle connections.
 *
 * <p>It consists of memory and threads of the process that uses more of them, and processor time of both together.
 * Parameters: {@code connections}, {@code idleMillis}.
 */
public final class IdleConnections implements PairTest {
    private static final int AT_ONCE = 1000;

    /** Creates the measurement. */
    public IdleConnections() {}

    @Override
    public void serve(Control control, Parameters parameters) throws Exception {
        try (ConnectionServer server = new ConnectionServer()) {
            control.send(server.port());
            // The first connections have additional one-time costs.
            control.awaitPeer();
            Footprint before = Footprint.now();
            control.awaitPeer();
            int connections = (int) control.receive();
            while (server.established() < connections) {
                Thread.sleep(1);
            }
            Footprint after = Footprint.now();
            control.send(after.bytes() - before.bytes());
            control.send(after.threads() - before.threads());
            control.serveQueries();
            control.awaitStop();
        }
    }

    @Override
    public void drive(Control control, Parameters parameters, Figures figures) throws Exception {
        int connections = parameters.number("connections", 10_000);
        ConnectionBurst burst = new ConnectionBurst((int) control.receive());
        burst.open(AT_ONCE);
        burst.close();
        control.awaitPeer();
        Footprint before = Footprint.now();
        control.awaitPeer();
        for (int opened = 0; opened < connections; opened += AT_ONCE) {
            burst.open(Math.min(AT_ONCE, connections - opened));
        }
        control.send(connections);
        Footprint after = Footprint.now();
        long peerBytes = control.receive();
        long peerThreads = control.receive();
        double bytes = Math.max(peerBytes, after.bytes() - before.bytes());
        figures.add(Figures.BYTES_PER_CONNECTION, bytes / connections);
        figures.add(Figures.THREADS, (double) Math.max(peerThreads, after.threads() - before.threads()));
        addIdleCpu(control, parameters.number("idleMillis", 1500), figures);
        control.stopPeer();
    }

    private static void addIdleCpu(Control control, int millis, Figures figures) throws Exception {
        long startNanos = System.nanoTime();
        long cpu = Processors.processCpuNanos() + control.peerCpuNanos();
        Thread.sleep(millis);
        double used = Processors.processCpuNanos() + control.peerCpuNanos() - cpu;
        figures.add(Figures.CPU_SHARE, used / (System.nanoTime() - startNanos));
    }
}
