package io.rdma4j.tools.cmtime;

import io.rdma4j.cm.AddressInformation;
import io.rdma4j.cm.AddressInformation.Flag;
import io.rdma4j.cm.AddressInformation.Hints;
import io.rdma4j.cm.AddressLookupException;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.tools.command.ReceiveTimeout;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.WarmUp;
import io.rdma4j.tools.messages.MessageReport;
import io.rdma4j.value.PortSpace;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A run of the mesh form.
 *
 * <p>The instances find each other, warm up, and open and close connections with and without queue pairs.
 */
final class MeshRun {
    static final PortSpace PORT_SPACE = PortSpace.TCP;
    private static final int FAILURE = 1;
    private static final long EVENT_THREAD_JOIN_MILLIS = 1000;

    private final CmtimeOptions options;
    private final ToolEnvironment environment;
    private final WarmUp warmUp;
    private final MessageReport report;
    private final StepCounts<Step> progress = new StepCounts<>(Step.class);
    private final List<Map<String, @Nullable Object>> tests = new ArrayList<>();

    /**
     * Creates a run.
     *
     * @param warmUp the warm-up that the run stops when it has found the other instances
     */
    MeshRun(CmtimeOptions options, ToolEnvironment environment, WarmUp warmUp) {
        this.options = options;
        this.environment = environment;
        this.warmUp = warmUp;
        report = new MessageReport(environment, "cmtime");
    }

    /** Runs the test and returns the exit status. */
    int run() {
        try {
            InetSocketAddress source = lookUpSource();
            if (options.sockets()) {
                runTests(source, null);
            } else {
                runWithDevice(source);
            }
            return 0;
        } catch (CmtimeFailure reported) {
            return FAILURE;
        }
    }

    private InetSocketAddress lookUpSource() throws CmtimeFailure {
        try {
            return Objects.requireNonNull(
                    AddressInformation.lookUp(options.source(), null, Hints.of(PORT_SPACE, Flag.PASSIVE))
                            .source());
        } catch (AddressLookupException e) {
            report.errorLine("rdma_getaddrinfo: " + e.reason().text());
            report.explain(String.valueOf(e.getMessage()));
        } catch (RdmaException e) {
            report.failure("rdma_getaddrinfo", e);
        }
        throw new CmtimeFailure();
    }

    private void runWithDevice(InetSocketAddress source) throws CmtimeFailure {
        EventChannel channel = openChannel();
        MeshContext context = new MeshContext(options, report, progress, channel, source);
        Thread events = Thread.ofPlatform().daemon().name("cmtime-events").start(new MeshEvents(context));
        try (context) {
            runTests(source, context);
        } finally {
            channel.close();
            join(events);
        }
    }

    private EventChannel openChannel() throws CmtimeFailure {
        try {
            return environment.rdma().connectionManager().openEventChannel();
        } catch (RdmaException e) {
            if (e.errno() == Errno.ENODEV) {
                report.errorLine("No RDMA devices were detected");
                report.explain(String.valueOf(e.getMessage()));
            } else {
                report.failure("failed to create RDMA CM event channel", e);
            }
            throw new CmtimeFailure();
        }
    }

    private static void join(Thread events) {
        try {
            events.join(EVENT_THREAD_JOIN_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    // ---- synchronizing with the other instances

    /** Connects to the other instances and runs the tests, over TCP if {@code context} is null. */
    private void runTests(InetSocketAddress source, @Nullable MeshContext context) throws CmtimeFailure {
        try (SocketBaseline baseline = context == null ? new SocketBaseline(options, report, progress) : null;
                CmId listener = context != null && options.listens() ? listen(context) : null;
                OutOfBand outOfBand = OutOfBand.open(options.controller(), options.port(), report, progress)) {
            Runnable atInterrupt = () -> {
                report.silence();
                progress.fail(() -> {});
                outOfBand.abandon();
            };
            environment.onInterrupt(atInterrupt);
            try {
                InetSocketAddress address = null;
                if (options.listens()) {
                    address = listener == null
                            ? Objects.requireNonNull(baseline).listen(source)
                            : Objects.requireNonNull(listener.localAddress());
                }
                PeerRecord self = new PeerRecord(address, options.connections(), options.peers(), options.sockets());
                List<PeerRecord> mesh = outOfBand.mesh(self, options.listens() ? 0 : serverTimeoutMillis());
                warmUp.close();
                requireBothRoles(mesh);
                if (context == null) {
                    addResult(Objects.requireNonNull(baseline).run(mesh, outOfBand));
                } else {
                    test(context, outOfBand, mesh);
                }
            } finally {
                environment.removeOnInterrupt(atInterrupt);
            }
        }
    }

    /**
     * Returns the time that a client at the controller's address waits for a server: three times the usual timeout.
     */
    private static int serverTimeoutMillis() {
        return (int) (3 * new ReceiveTimeout().nanos() / 1_000_000);
    }

    private CmId listen(MeshContext context) throws CmtimeFailure {
        String step = "rdma_create_id";
        CmId listener = null;
        try {
            listener = context.channel.createId(PORT_SPACE);
            step = "rdma_bind_addr";
            listener.bindAddress(context.source);
            step = "rdma_listen";
            listener.listen(0);
            return listener;
        } catch (RdmaException e) {
            report.failure(step, e);
            if (listener != null) {
                listener.close();
            }
            throw new CmtimeFailure();
        }
    }

    private void requireBothRoles(List<PeerRecord> mesh) throws CmtimeFailure {
        long servers = mesh.stream().filter(PeerRecord::listens).count();
        if (servers == mesh.size()) {
            report.line("cannot have all listeners");
            report.explain("all " + servers + " instances were started with -L; start one or more without");
            throw new CmtimeFailure();
        }
        if (servers == 0) {
            report.line("need at least 1 listener");
            report.explain("no instance was started with -L; start one or more with it");
            throw new CmtimeFailure();
        }
    }

    // ---- tests

    private void test(MeshContext context, OutOfBand outOfBand, List<PeerRecord> mesh) throws CmtimeFailure {
        int servers = (int) mesh.stream().filter(PeerRecord::listens).count();
        int warmUp = options.listens() ? mesh.size() - servers : servers;
        int count = options.connections() * warmUp;
        boolean two = mesh.size() == 2;
        String verb = options.listens() ? "Accept" : "Connect";
        MeshSync sync = new MeshSync(context, outOfBand);
        report.line(options.listens() ? "Server warmup" : "Client warmup");
        run(context, sync, mesh, warmUp, false);
        if (options.simulates()) {
            report.line(String.format(
                    Locale.ROOT, "%s (%d) simulated QPs test (delay %d us)", verb, count, options.delayMicros()));
            context.simulate(options.delayMicros());
        } else {
            report.line(String.format(Locale.ROOT, "%s (%d) QPs test", verb, count));
        }
        run(context, sync, mesh, count, !two);
        show(context, options.simulates() ? "simulated" : "queuePairs");
        if (two) {
            report.line(String.format(Locale.ROOT, "%s (%d) test - no QPs", verb, count));
            context.simulate(0);
            run(context, sync, mesh, count, true);
            show(context, "noQueuePairs");
        }
    }

    private void run(MeshContext context, MeshSync sync, List<PeerRecord> mesh, int count, boolean last)
            throws CmtimeFailure {
        if (options.listens()) {
            new MeshServer(context, sync).run(Round.ofServer(count), last);
        } else {
            MeshClient client = new MeshClient(context, sync);
            client.run(client.round(mesh, count), last);
        }
    }

    private void show(MeshContext context, String test) {
        context.round().table(context.hasQueuePairs(), options.threads()).forEach(report::line);
        addResult(context.round().report(test, options.threads()));
    }

    private void addResult(Map<String, @Nullable Object> test) {
        tests.add(test);
        environment.report().result("tests", List.copyOf(tests));
    }
}
