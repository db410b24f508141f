package io.rdma4j.bench.project;

import io.rdma4j.bench.worker.Control;
import io.rdma4j.bench.worker.Figures;
import io.rdma4j.bench.worker.PairTest;
import io.rdma4j.bench.worker.Parameters;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;

/**
 * Both ends of a measurement in one process, with a thread each: what threads that share a device cost each other. The
 * passive process has nothing to do. Parameters: those of the measurement, and {@code passiveVector}, the completion vector
 * of the passive end; with another one than that of the active end ({@code vector}) each has an engine of its own.
 */
public final class InOneProcess implements PairTest {
    private final PairTest test;

    /** Creates one for a measurement. */
    public InOneProcess(PairTest test) {
        this.test = test;
    }

    @Override
    public void serve(Control control, Parameters parameters) throws Exception {
        control.answer();
        control.awaitStop();
    }

    @Override
    public void drive(Control control, Parameters parameters, Figures figures) throws Exception {
        Parameters ofPassive = parameters.with("vector", parameters.text("passiveVector", "0"));
        try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Callable<Void> serving = () -> serve(listener, ofPassive);
            FutureTask<Void> passive = new FutureTask<>(serving);
            Thread.ofPlatform().daemon().name("passive").start(passive);
            try (Control between = Control.connect(listener.getLocalPort())) {
                test.drive(between, parameters, figures);
            }
            passive.get();
        }
        control.stopPeer();
    }

    private Void serve(ServerSocket listener, Parameters parameters) throws Exception {
        try (Control between = Control.accept(listener)) {
            test.serve(between, parameters);
        } catch (IOException e) {
            listener.close(); // so that the other end does not wait for this one
            throw e;
        }
        return null;
    }
}
