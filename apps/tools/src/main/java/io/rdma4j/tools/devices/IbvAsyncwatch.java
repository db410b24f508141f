package io.rdma4j.tools.devices;

import io.rdma4j.tools.command.CommonOptions;
import io.rdma4j.tools.command.OptionTable;
import io.rdma4j.tools.command.Tool;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolFailure;
import io.rdma4j.verbs.AsyncEvent;
import io.rdma4j.verbs.ClosedException;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.RdmaException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * {@code ibv_asyncwatch}: prints the asynchronous events of a device until it is interrupted.
 *
 * <p>It has the options, lines and exit statuses of libibverbs' tool (rdma-core 44), except for the first line, because
 * a software device has no file descriptor.
 */
public final class IbvAsyncwatch implements Tool {
    private static final int FAILED = 1;

    /** The timeout of one wait. No event is lost between two waits. */
    private static final Duration ROUND = Duration.ofHours(1);

    /** Creates the tool. */
    public IbvAsyncwatch() {}

    @Override
    public String name() {
        return "ibv_asyncwatch";
    }

    @Override
    public String summary() {
        return "asynchronous events of an RDMA device, as they happen";
    }

    @Override
    public String help() {
        return CommandLine.USAGE + "\n" + CommonOptions.usage();
    }

    @Override
    public List<OptionTable<?>> options() {
        return List.of(CommandLine.OPTIONS);
    }

    private static final class CommandLine {
        static final OptionTable<CommandLine> OPTIONS = OptionTable.<CommandLine>aligned(22)
                .option(
                        "-d, --ib-dev=<dev>",
                        "use IB device <dev> (default first device found)",
                        "The device; the first one by default.",
                        (line, value) -> line.device = value)
                .option("-h, --help", "print a help text and exit", "Print the options.", (line, _) -> {
                    throw line.usage(0);
                });

        static final String USAGE = """
            Usage:
              ibv_asyncwatch            start an asyncwatch process

            Options:
            """ + OPTIONS.usage();

        private final ToolEnvironment environment;
        private @Nullable String device;

        CommandLine(ToolEnvironment environment) {
            this.environment = environment;
        }

        private ToolFailure usage(int status) {
            environment.out().print(USAGE);
            return new ToolFailure(status);
        }
    }

    @Override
    public int run(List<String> arguments, ToolEnvironment environment) {
        CommandLine line = new CommandLine(environment);
        try {
            var _ = CommandLine.OPTIONS.parse(name(), arguments, line, environment.err(), _ -> line.usage(FAILED));
        } catch (ToolFailure e) {
            return e.status();
        }
        String wanted = line.device;
        environment.report().parameter("device", wanted);
        Device device = find(wanted);
        if (device == null) {
            environment.err().println("IB device " + (wanted == null ? "" : wanted) + " not found");
            return FAILED;
        }
        return watch(device, environment);
    }

    private static @Nullable Device find(@Nullable String wanted) {
        return Device.chosen().stream()
                .filter(device -> wanted == null || device.name().equals(wanted))
                .findFirst()
                .orElse(null);
    }

    private int watch(Device device, ToolEnvironment environment) {
        Map<String, Integer> counts = new LinkedHashMap<>();
        try (DeviceContext context = device.open()) {
            Runnable atInterrupt = context::close;
            environment.onInterrupt(atInterrupt);
            try {
                environment.out().println(device.name() + ": waiting for asynchronous events");
                while (true) {
                    AsyncEvent event = context.awaitAsyncEvent(ROUND);
                    if (event != null) {
                        environment.out().println(line(event));
                        counts.merge(nameInC(event.type()), 1, Integer::sum);
                    }
                }
            } finally {
                environment.removeOnInterrupt(atInterrupt);
            }
        } catch (ClosedException interrupted) {
            return FAILED;
        } catch (RdmaException e) {
            environment.err().println("Couldn't get context for " + device.name());
            environment.err().println(name() + ": " + e.getMessage());
            return FAILED;
        } finally {
            environment.report().result("events", counts);
        }
    }

    /** Returns the C tool's line for an event. */
    static String line(AsyncEvent event) {
        return "  event_type " + nameInC(event.type()) + " (" + event.type().code() + "), port " + event.port();
    }

    private static String nameInC(AsyncEvent.Type type) {
        return switch (type) {
            case DEVICE_FATAL -> "IBV_EVENT_DEVICE_FATAL";
            case PORT_ACTIVE -> "IBV_EVENT_PORT_ACTIVE";
            case PORT_ERROR -> "IBV_EVENT_PORT_ERR";
            case GID_CHANGE -> "IBV_EVENT_GID_CHANGE";
            default -> "unexpected"; // this process has no queues
        };
    }
}
