package io.rdma4j.tools.cmtime;

import io.rdma4j.cm.AddressInformation;
import io.rdma4j.cm.AddressLookupException;
import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.tools.command.ToolReport;
import io.rdma4j.tools.command.WarmUp;
import io.rdma4j.tools.messages.MessageReport;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A server of the classic form.
 *
 * <p>Until it is stopped, it accepts connections in one thread and answers disconnections in another.
 */
final class ClassicServer {
    private static final int FAILURE = -1;

    private final ClassicOptions options;
    private final ToolReport document;
    private final MessageReport report;
    private final EventChannel channel;
    private final WarmUp warmUp;
    private final Set<CmId> open = ConcurrentHashMap.newKeySet();
    private final AtomicInteger accepted = new AtomicInteger();
    private final AtomicInteger disconnected = new AtomicInteger();
    private final ExecutorService requests = worker("cmtime-requests");
    private final ExecutorService disconnections = worker("cmtime-disconnections");

    ClassicServer(
            ClassicOptions options, ToolReport document, MessageReport report, EventChannel channel, WarmUp warmUp) {
        this.options = options;
        this.document = document;
        this.report = report;
        this.channel = channel;
        this.warmUp = warmUp;
    }

    private static ExecutorService worker(String name) {
        return Executors.newSingleThreadExecutor(
                Thread.ofPlatform().daemon().name(name).factory());
    }

    /** Serves until the thread is interrupted, and returns the exit status. */
    int run() {
        String step = "listen request failed";
        try (CmId listener = channel.createId(ClassicRun.PORT_SPACE)) {
            AddressInformation found = ClassicRun.lookUp(options);
            step = "bind address failed";
            listener.bindAddress(Objects.requireNonNull(found.source()));
            step = "failure trying to listen";
            listener.listen(0);
            step = "failure in rdma_get_cm_event in process_server_events";
            reportCounts();
            while (true) {
                handleNext();
            }
        } catch (AddressLookupException e) {
            throw e;
        } catch (RdmaException e) {
            if (e.errno() != Errno.EINTR) {
                report.failure(step, e);
            }
            return FAILURE;
        } finally {
            end();
        }
    }

    private void handleNext() {
        try (CmEvent event = channel.await()) {
            handle(event);
        }
    }

    private void handle(CmEvent event) {
        CmId id = event.id();
        switch (event.type()) {
            case CONNECT_REQUEST -> {
                warmUp.close();
                open.add(id);
                work(requests, () -> accept(id));
            }
            case DISCONNECTED -> work(disconnections, () -> disconnect(id));
            case CONNECT_ERROR, UNREACHABLE, REJECTED -> {
                report.line("event: " + event.type().text() + ", error: " + event.status());
                report.explain(event.explanation());
                work(disconnections, () -> close(id));
            }
            default -> {}
        }
    }

    private static void work(ExecutorService worker, Runnable action) {
        try {
            worker.execute(action);
        } catch (RejectedExecutionException shuttingDown) {
            // The server is shutting down.
            return;
        }
    }

    private void accept(CmId id) {
        String step = "failure creating qp";
        try {
            id.createQueuePair(ClassicRun.QUEUE_PAIR);
            step = "failure accepting";
            id.accept();
            accepted.incrementAndGet();
            reportCounts();
        } catch (RdmaException e) {
            report.failure(step, e);
            report.line("failing connection request");
            reject(id);
            close(id);
        }
    }

    private static void reject(CmId id) {
        try {
            id.reject(new byte[0]);
        } catch (RdmaException ignored) {
            return;
        }
    }

    private void disconnect(CmId id) {
        MeshEvents.disconnect(id);
        close(id);
        disconnected.incrementAndGet();
        reportCounts();
    }

    private void close(CmId id) {
        id.destroyQueuePair();
        id.close();
        open.remove(id);
    }

    private void reportCounts() {
        document.result("accepted", accepted.get()).result("disconnected", disconnected.get());
    }

    private void end() {
        requests.shutdownNow();
        disconnections.shutdownNow();
        boolean interrupted = Thread.interrupted();
        try {
            requests.awaitTermination(1, TimeUnit.SECONDS);
            disconnections.awaitTermination(1, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            interrupted = true;
        }
        open.forEach(this::close);
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
