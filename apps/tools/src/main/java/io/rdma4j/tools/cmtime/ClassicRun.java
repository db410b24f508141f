package io.rdma4j.tools.cmtime;

import io.rdma4j.cm.AddressInformation;
import io.rdma4j.cm.AddressLookupException;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.tools.command.CmAddresses;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.WarmUp;
import io.rdma4j.tools.messages.MessageReport;
import io.rdma4j.value.PortSpace;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import java.util.Set;

/** A run of the classic form: a server that accepts connections until it is stopped, or a client. */
final class ClassicRun {
    static final QueuePairInitAttributes QUEUE_PAIR =
            QueuePairInitAttributes.of(new QueuePairCapabilities(1, 1, 1, 1, 0));
    static final PortSpace PORT_SPACE = PortSpace.TCP;
    private static final int FAILURE = 1;

    private final ClassicOptions options;
    private final ToolEnvironment environment;
    private final WarmUp warmUp;
    private final MessageReport report;

    /**
     * Creates a run.
     *
     * @param warmUp the warm-up that a server ends when its first client connects
     */
    ClassicRun(ClassicOptions options, ToolEnvironment environment, WarmUp warmUp) {
        this.options = options;
        this.environment = environment;
        this.warmUp = warmUp;
        report = new MessageReport(environment, "cmtime");
    }

    /** Runs the test and returns the exit status. */
    int run() {
        EventChannel channel;
        try {
            channel = environment.rdma().connectionManager().openEventChannel();
        } catch (RdmaException e) {
            if (e.errno() == Errno.ENODEV) {
                report.errorLine("No RDMA devices were detected");
                report.explain(String.valueOf(e.getMessage()));
            } else {
                report.failure("failed to create RDMA CM event channel", e);
            }
            return FAILURE;
        }
        Thread running = Thread.currentThread();
        Runnable atInterrupt = () -> {
            report.silence();
            running.interrupt();
        };
        environment.onInterrupt(atInterrupt);
        try (channel) {
            return options.server() == null
                    ? new ClassicServer(options, environment.report(), report, channel, warmUp).run()
                    : new ClassicClient(options, environment.report(), report, channel).run();
        } catch (AddressLookupException e) {
            String call = options.server() == null ? "getrdmaaddr" : "getaddrinfo";
            report.line(call + " error: " + e.reason().text());
            report.explain(String.valueOf(e.getMessage()));
            return e.code();
        } finally {
            environment.removeOnInterrupt(atInterrupt);
        }
    }

    /** Resolves the addresses of the command line. */
    static AddressInformation lookUp(ClassicOptions options) {
        return CmAddresses.lookUp(options.source(), options.server(), options.port(), Set.of(), PORT_SPACE);
    }
}
