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
 * Both ends of a measurement in one process with a thread each: the mutual cost of threads that share a device.
 *
 * <p>The passive process is idle. Parameters: those of the measurement, and {@code passiveVector}, the completion
 * vector of the passive end. If it differs from the active end's ({@code vector}), each end has a separate engine.
 */
public final class InOneProcess implements PairTest {
    private final PairTest test;

    /** Wraps a measurement by two processes. */
    public InOneProcess(PairTest test) {
        this.test = test;
    }

    @Override
    public void serve(Control control, Parameters parameters) throws Exception {
        control.serveQueries();
        control.awaitStop();
    }

    @Override
    public void drive(Control control, Parameters parameters, Figures figures) throws Exception {
        Parameters passiveParameters = parameters.with("vector", parameters.text("passiveVector", "0"));
        try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Callable<Void> serverTask = () -> serve(listener, passiveParameters);
            FutureTask<Void> passive = new FutureTask<>(serverTask);
            Thread.ofPlatform().daemon().name("passive").start(passive);
            try (Control innerControl = Control.connect(listener.getLocalPort())) {
                test.drive(innerControl, parameters, figures);
            }
            passive.get();
        }
        control.stopPeer();
    }

    private Void serve(ServerSocket listener, Parameters parameters) throws Exception {
        try (Control innerControl = Control.accept(listener)) {
            test.serve(innerControl, parameters);
        } catch (IOException e) {
            listener.close(); // so that the other end does not wait for this one
            throw e;
        }
        return null;
    }
}
