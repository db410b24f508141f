package io.rdma4j.tools.perftest;

import io.rdma4j.tools.command.CommonOptions;
import io.rdma4j.tools.command.OptionTable;
import io.rdma4j.tools.command.Tool;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolFailure;
import io.rdma4j.tools.command.WarmUp;
import java.util.List;

/**
 * A tool of perftest, with the options, tables and messages of version 4.5. The tools are {@code ib_send_lat}, {@code
 * ib_write_lat}, {@code ib_read_lat}, {@code ib_atomic_lat}, {@code ib_send_bw}, {@code ib_write_bw}, {@code
 * ib_read_bw} and {@code ib_atomic_bw}. {@code docs/tools/perftest.md} lists the differences.
 */
public final class Perftest implements Tool {
    private final MeasuredOperation operation;
    private final Measure measure;

    /**
     * Creates a tool.
     *
     * @param operation the operation to measure
     * @param measure the quantity to measure
     */
    public Perftest(MeasuredOperation operation, Measure measure) {
        this.operation = operation;
        this.measure = measure;
    }

    @Override
    public String name() {
        return "ib_" + operation.word() + "_" + measure.word();
    }

    @Override
    public String summary() {
        return (measure == Measure.LATENCY ? "latency" : "bandwidth") + " of "
                + switch (operation) {
                    case SEND -> "SEND";
                    case WRITE -> "RDMA WRITE";
                    case READ -> "RDMA READ";
                    case ATOMIC -> "atomic operations";
                }
                + ", as perftest measures it";
    }

    @Override
    public String help() {
        return PerftestOptions.usage(name(), new Settings(operation, measure))
                + PerftestOptions.examples(name())
                + CommonOptions.usage();
    }

    @Override
    public List<OptionTable<?>> options() {
        return List.of(PerftestOptions.of(operation, measure));
    }

    @Override
    public int run(List<String> arguments, ToolEnvironment environment) {
        Settings settings = new Settings(operation, measure);
        Console console = new Console(name(), environment);
        Runnable atInterrupt = console::mute;
        environment.onInterrupt(atInterrupt);
        try {
            new PerftestCommandLine(name(), settings, environment).read(arguments);
            settings.report(environment.report());
            PerftestWarmUp round = new PerftestWarmUp(name(), operation, measure, arguments);
            WarmUp warmUp =
                    WarmUp.before(name(), !settings.isClient(), round, environment, settings.server, settings.source);
            new PerftestRun(settings, console, warmUp).run();
            return 0;
        } catch (ToolFailure e) {
            return e.status();
        } finally {
            environment.removeOnInterrupt(atInterrupt);
        }
    }
}
