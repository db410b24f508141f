package io.rdma4j.soft.device;

import io.rdma4j.sharing.RunDirectory;
import io.rdma4j.soft.report.CounterEvents;
import io.rdma4j.soft.report.DeviceReport;
import io.rdma4j.soft.report.QueuePairReport;
import io.rdma4j.soft.report.ReportServer;
import io.rdma4j.soft.report.StackReport;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The reports of a stack, for other processes and for Flight Recorder (decision 042).
 *
 * <p>A report is created only on request. Takes no monitor of {@link SoftDevices}.
 */
public final class StackReports implements AutoCloseable {
    /** The virtual machine's property with the program's main class or jar, and its arguments. */
    private static final String COMMAND = "sun.java.command";

    private final Set<SoftContext> contexts;
    private final int slot;
    private final CounterEvents counterEvents;
    private final @Nullable ReportServer server;

    /**
     * Starts to answer requests for reports.
     *
     * @param contexts the open contexts of the stack; a concurrent set
     * @param directory the run directory of the stack
     * @param slot the slot of the stack
     * @param beforeAnswer runs before each report for another process, by the thread of the server
     */
    StackReports(Set<SoftContext> contexts, RunDirectory directory, int slot, Runnable beforeAnswer) {
        this.contexts = contexts;
        this.slot = slot;
        counterEvents = new CounterEvents(this::create);
        server = ReportServer.start(directory, slot, () -> {
            beforeAnswer.run();
            return create();
        });
    }

    /** Returns a report of the current state; any thread without an engine's lock. */
    StackReport create() {
        Map<String, DeviceReport> devices = new LinkedHashMap<>();
        List<QueuePairReport> queuePairs = new ArrayList<>();
        int omitted = 0;
        for (SoftContext context : contexts) {
            List<SoftQueuePair> open = context.queuePairs();
            SoftDevice device = context.softDevice();
            DeviceReport known = devices.get(device.name());
            int count = open.size() + (known == null ? 0 : known.queuePairs());
            devices.put(
                    device.name(),
                    new DeviceReport(
                            device.name(),
                            device.networkName(),
                            count,
                            Counters.of(device.counters().sums())));
            for (SoftQueuePair queuePair : open) {
                if (queuePairs.size() < StackReport.MAX_QUEUE_PAIRS) {
                    queuePairs.add(queuePair.report());
                } else {
                    omitted++;
                }
            }
        }
        return new StackReport(
                ProcessHandle.current().pid(), program(), slot, List.copyOf(devices.values()), queuePairs, omitted);
    }

    /**
     * Returns the name that the property sets, otherwise the first word of the command without a jar's folders; arguments may be
     * secret.
     */
    private static String program() {
        String name = System.getProperty(StackReport.PROGRAM_PROPERTY);
        if (name != null) {
            return name;
        }
        String first = System.getProperty(COMMAND, "java").split(" ", 2)[0];
        return first.endsWith(".jar") ? first.substring(first.lastIndexOf('/') + 1) : first;
    }

    /** Stops answering other processes, because the process exits. */
    void finish() {
        if (server != null) {
            server.close();
        }
    }

    @Override
    public void close() {
        finish();
        counterEvents.close();
    }
}
