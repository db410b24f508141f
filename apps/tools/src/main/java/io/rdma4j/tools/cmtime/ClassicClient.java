package io.rdma4j.tools.cmtime;

import io.rdma4j.cm.AddressInformation;
import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.tools.command.ToolReport;
import io.rdma4j.tools.messages.MessageReport;
import io.rdma4j.verbs.ClosedException;
import io.rdma4j.verbs.RdmaException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A client of the classic form, which runs each step for all connections and then prints a table. */
final class ClassicClient {
    private static final int FAILURE = 1;
    private static final long EVENT_THREAD_JOIN_MILLIS = 1000;

    /** A connection. Its non-final state is written by one thread at a time. */
    private static final class Node {
        final CmId id;
        final Stopwatch<ClassicStep> times = new Stopwatch<>(ClassicStep.class);
        volatile boolean failed;
        final AtomicInteger retriesLeft = new AtomicInteger();

        Node(CmId id) {
            this.id = id;
        }
    }

    private final ClassicOptions options;
    private final ToolReport document;
    private final MessageReport report;
    private final EventChannel channel;
    private final Duration timeout;
    private final StepCounts<ClassicStep> progress = new StepCounts<>(ClassicStep.class);
    private final Stopwatch<ClassicStep> all = new Stopwatch<>(ClassicStep.class);
    private final List<Node> nodes = new ArrayList<>();
    private @Nullable InetSocketAddress source;
    private @Nullable InetSocketAddress destination;

    ClassicClient(ClassicOptions options, ToolReport document, MessageReport report, EventChannel channel) {
        this.options = options;
        this.document = document;
        this.report = report;
        this.channel = channel;
        timeout = Duration.ofMillis(options.timeoutMillis());
    }

    /** Opens and closes all connections, and returns the exit status. */
    int run() {
        report.line("creating id");
        int status = FAILURE;
        try {
            timed(ClassicStep.CREATE_ID, this::createIds);
            AddressInformation found = ClassicRun.lookUp(options);
            source = found.source();
            destination = found.destination();
            Thread events = Thread.ofPlatform().daemon().name("cmtime-events").start(this::handleEvents);
            steps();
            destroy();
            channel.close();
            events.join(EVENT_THREAD_JOIN_MILLIS);
            status = nodes.stream().anyMatch(node -> node.failed) ? FAILURE : 0;
        } catch (CmtimeFailure reported) {
            return FAILURE;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            nodes.forEach(node -> node.id.close());
        }
        show();
        return status;
    }

    private void createIds() {
        for (int i = 0; i < options.connections(); i++) {
            long began = System.nanoTime();
            Node node = new Node(channel.createId(ClassicRun.PORT_SPACE));
            node.times.endOf(ClassicStep.CREATE_ID, began);
            node.id.setContext(node);
            nodes.add(node);
        }
    }

    // ---- steps

    private void steps() throws CmtimeFailure {
        if (options.source() != null) {
            report.line("binding source address");
            timed(ClassicStep.BIND, () -> runSynchronously(ClassicStep.BIND, "failure bind addr", this::bind));
        }
        report.line("resolving address");
        runAsynchronously(ClassicStep.RESOLVE_ADDRESS, "failure getting addr", this::resolveAddress);
        report.line("resolving route");
        runAsynchronously(ClassicStep.RESOLVE_ROUTE, "failure resolving route", this::resolveRoute);
        report.line("creating qp");
        timed(
                ClassicStep.CREATE_QUEUE_PAIR,
                () -> runSynchronously(
                        ClassicStep.CREATE_QUEUE_PAIR,
                        "failure creating qp",
                        node -> node.id.createQueuePair(ClassicRun.QUEUE_PAIR)));
        report.line("connecting");
        runAsynchronously(ClassicStep.CONNECT, "failure rconnecting", this::connect);
        report.line("disconnecting");
        runAsynchronously(ClassicStep.DISCONNECT, "failure disconnecting", this::disconnect);
    }

    private void timed(ClassicStep step, Runnable action) {
        all.start(step);
        action.run();
        all.end(step);
    }

    /** Runs a synchronous step for every connection that has not failed. */
    private void runSynchronously(ClassicStep step, String failure, Consumer<Node> action) {
        begin(step, failure, action.andThen(node -> node.times.end(step)));
    }

    /** Starts a step for every connection that has not failed, and waits for the events that complete it. */
    private void runAsynchronously(ClassicStep step, String failure, Consumer<Node> action) throws CmtimeFailure {
        all.start(step);
        int begun = begin(step, failure, action);
        progress.await(step, begun, Long.MAX_VALUE); // the connection manager has its own timeouts
        all.end(step);
    }

    private int begin(ClassicStep step, String failure, Consumer<Node> action) {
        int begun = 0;
        for (Node node : nodes) {
            if (node.failed) {
                continue;
            }
            node.times.start(step);
            try {
                action.accept(node);
                begun++;
            } catch (RdmaException e) {
                node.failed = true;
                report.failure(failure, e);
            }
        }
        return begun;
    }

    private void bind(Node node) {
        node.id.bindAddress(Objects.requireNonNull(source));
    }

    private void resolveAddress(Node node) {
        node.retriesLeft.set(options.retries());
        node.id.resolveAddress(source, Objects.requireNonNull(destination), timeout);
    }

    private void resolveRoute(Node node) {
        node.retriesLeft.set(options.retries());
        node.id.resolveRoute(timeout);
    }

    private void connect(Node node) {
        node.id.connect(ConnectionParameters.NONE.withDepths(1, 1).withRetries(options.retries() & 0xff, 0));
    }

    private void disconnect(Node node) {
        MeshEvents.disconnect(node.id);
        node.id.destroyQueuePair();
    }

    private void destroy() {
        report.line("destroying id");
        timed(
                ClassicStep.DESTROY,
                () -> nodes.forEach(node -> {
                    node.times.start(ClassicStep.DESTROY);
                    node.id.close();
                    node.times.end(ClassicStep.DESTROY);
                }));
    }

    // ---- events

    private void handleEvents() {
        try {
            while (true) {
                try (CmEvent event = channel.await()) {
                    handle(event, (Node) Objects.requireNonNull(event.id().context()));
                }
            }
        } catch (ClosedException runHasEnded) {
            progress.fail(() -> {});
        }
    }

    private void handle(CmEvent event, Node node) {
        switch (event.type()) {
            case ADDRESS_RESOLVED -> done(node, ClassicStep.RESOLVE_ADDRESS);
            case ROUTE_RESOLVED -> done(node, ClassicStep.RESOLVE_ROUTE);
            case ESTABLISHED -> done(node, ClassicStep.CONNECT);
            case DISCONNECTED -> done(node, ClassicStep.DISCONNECT);
            case ADDRESS_ERROR ->
                retry(
                        event,
                        node,
                        ClassicStep.RESOLVE_ADDRESS,
                        () -> node.id.resolveAddress(source, Objects.requireNonNull(destination), timeout));
            case ROUTE_ERROR -> retry(event, node, ClassicStep.RESOLVE_ROUTE, () -> node.id.resolveRoute(timeout));
            case CONNECT_ERROR, UNREACHABLE, REJECTED ->
                fail(event, node, ClassicStep.CONNECT, "event: " + event.type().text());
            default -> {}
        }
    }

    private void done(Node node, ClassicStep step) {
        node.times.end(step);
        progress.done(step);
    }

    private void retry(CmEvent event, Node node, ClassicStep step, Runnable again) {
        if (node.retriesLeft.getAndDecrement() > 0) {
            try {
                again.run();
                return;
            } catch (RdmaException e) {
                report.explain(String.valueOf(e.getMessage()));
            }
        }
        fail(event, node, step, event.type().text());
    }

    private void fail(CmEvent event, Node node, ClassicStep step, String what) {
        report.line(what + ", error: " + event.status());
        report.explain(event.explanation());
        node.failed = true;
        done(node, step);
    }

    // ---- results

    private void show() {
        List<Stopwatch<ClassicStep>> each =
                nodes.stream().map(node -> node.times).toList();
        List<@Nullable Object> steps = new ArrayList<>();
        report.line("step              total ms     max ms     min us  us / conn");
        for (ClassicStep step : ClassicStep.values()) {
            if (step == ClassicStep.BIND && options.source() == null) {
                continue;
            }
            StepFigures figures = StepFigures.of(step, all, each);
            report.line(figures.classicLine(step.text()));
            steps.add(figures.report(step.text()));
        }
        Map<String, @Nullable Object> test = new LinkedHashMap<>();
        test.put("test", "classic");
        test.put("connections", nodes.size());
        test.put("failed", nodes.stream().filter(node -> node.failed).count());
        test.put("steps", steps);
        document.result("tests", List.of(test));
    }
}
