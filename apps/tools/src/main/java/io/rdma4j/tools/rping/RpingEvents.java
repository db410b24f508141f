package io.rdma4j.tools.rping;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.tools.command.ToolFailure;
import io.rdma4j.verbs.ClosedException;
import io.rdma4j.verbs.RdmaException;
import java.time.Duration;
import java.util.Collections;
import java.util.Objects;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Processes the events of the connection manager in a separate thread.
 *
 * <p>An event that concerns a connection goes to the {@link RpingProgress} that is the context of its identifier.
 *
 * <p>A failure event ends the whole run, even of a persistent server. The C tool calls {@code exit} in this case.
 */
final class RpingEvents implements AutoCloseable {
    /** The timeout of address and route resolution. */
    static final Duration RESOLVE_TIMEOUT = Duration.ofSeconds(2);

    /** A connection request. After a failure, an element that wakes the waiting server. */
    record Request(CmId id, RpingProgress progress) {}

    private final EventChannel channel;
    private final CmId id;
    private final boolean server;
    private final RpingReport report;
    private final BlockingQueue<Request> requests = new LinkedBlockingQueue<>();
    private final AtomicBoolean failed = new AtomicBoolean();

    /** The connections of a server that are still in use, held by weak references. Used by the event thread. */
    private final Set<RpingProgress> children = Collections.newSetFromMap(new WeakHashMap<>());

    private final RpingProgress progress;
    private final Thread thread;

    /**
     * Starts to process the events of {@code channel}, whose identifier {@code id} has {@code progress} as its context.
     */
    RpingEvents(EventChannel channel, CmId id, RpingProgress progress, boolean server, RpingReport report) {
        this.channel = channel;
        this.id = id;
        this.progress = progress;
        this.server = server;
        this.report = report;
        thread = Thread.ofPlatform().daemon().name("rping-events").start(this::run);
    }

    /** Returns whether an event has ended the run. */
    boolean failed() {
        return failed.get();
    }

    /**
     * Waits for the next connection request. Used by the server.
     *
     * @throws ToolFailure if an event has ended the run
     */
    Request awaitRequest() throws ToolFailure {
        try {
            Request request = requests.take();
            if (failed.get()) {
                report.error(
                        "wait for CONNECT_REQUEST state " + progress.state().number());
                throw new ToolFailure(-1);
            }
            return request;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ToolFailure(-1);
        }
    }

    private void run() {
        while (true) {
            boolean more;
            try (CmEvent event = channel.await()) {
                more = process(event);
            } catch (ClosedException runHasEnded) {
                return;
            } catch (RdmaException e) {
                report.systemError("rdma_get_cm_event", e);
                more = false;
            }
            if (!more) {
                failed.set(true);
                progress.signal();
                requests.add(new Request(id, progress));
                return;
            }
        }
    }

    private boolean process(CmEvent event) {
        CmId source = event.id();
        RpingProgress target = (RpingProgress) Objects.requireNonNull(source.context());
        report.debug(
                "cma_event type %s cma_id %s (%s)",
                event.type().text(), RpingReport.pointer(source), source == id ? "parent" : "child");
        switch (event.type()) {
            case ADDRESS_RESOLVED -> resolveRoute(source, target);
            case ROUTE_RESOLVED -> target.signal(RpingState.ROUTE_RESOLVED);
            case CONNECT_REQUEST -> onRequest(source);
            case CONNECT_RESPONSE -> {
                report.debug("CONNECT_RESPONSE");
                target.signal(RpingState.CONNECTED);
            }
            case ESTABLISHED -> {
                report.debug("ESTABLISHED");
                if (!server) {
                    target.enter(RpingState.CONNECTED);
                }
                target.signal();
            }
            case DISCONNECTED -> {
                report.error((server ? "server" : "client") + " DISCONNECT EVENT...");
                target.signal(RpingState.DISCONNECTED);
            }
            case ADDRESS_ERROR, ROUTE_ERROR, CONNECT_ERROR, UNREACHABLE, REJECTED -> {
                report.error("cma event " + event.type().text() + ", error " + event.status());
                report.explain(event.explanation());
                target.signal();
                return false;
            }
            case DEVICE_REMOVAL -> {
                report.error("cma detected device removal!!!!");
                report.explain(event.explanation());
                // The listener's event is the last event that is read, and a removed device need not complete work
                // requests that are posted afterwards.
                children.forEach(child -> child.signal(RpingState.ERROR));
                target.signal(RpingState.ERROR);
                return false;
            }
            default -> report.error("unhandled event: " + event.type().text() + ", ignoring");
        }
        return true;
    }

    private void resolveRoute(CmId source, RpingProgress target) {
        target.enter(RpingState.ADDRESS_RESOLVED);
        try {
            source.resolveRoute(RESOLVE_TIMEOUT);
        } catch (RdmaException e) {
            report.systemError("rdma_resolve_route", e);
            target.signal(RpingState.ERROR);
        }
    }

    private void onRequest(CmId child) {
        RpingProgress progressOfChild = new RpingProgress(RpingState.CONNECT_REQUEST);
        child.setContext(progressOfChild);
        children.add(progressOfChild);
        report.debug("child cma %s", RpingReport.pointer(child));
        requests.add(new Request(child, progressOfChild));
    }

    /** Closes the channel and ends the thread. All identifiers must be closed; pending requests are rejected. */
    @Override
    public void close() {
        for (Request request = requests.poll(); request != null; request = requests.poll()) {
            request.id().close();
        }
        try {
            channel.close();
        } catch (RdmaException busy) {
            // After a failure, a persistent server may still serve clients. They are disconnected when the process
            // exits.
            report.stackTrace(busy);
            return;
        }
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
