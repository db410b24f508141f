package io.rdma4j.tools.sim;

import io.rdma4j.link.decorator.LinkOptions;
import io.rdma4j.simulator.Cluster;
import io.rdma4j.tools.command.OptionTable;
import io.rdma4j.tools.command.Tool;
import io.rdma4j.tools.command.ToolEnvironment;
import java.util.List;

/**
 * {@code rdma4j sim}: runs a whole simulated fabric in virtual time and checks it against a model.
 *
 * <p>It opens no socket and reads no clock, so a seed gives the same run on every machine.
 */
public final class Sim implements Tool {
    private static final String USAGE = """
        usage: rdma4j sim [--seed N] [--runs M] [--jobs J] [--trace] [--json]
        Simulates a fabric of hosts in virtual time: random operations over random connections, some of which stay idle
        with a keep-alive, datagrams, services resolved by SIDR, stream and datagram sockets, under loss, bursts,
        duplication, reordering, corruption, delay, partitions, pauses, crashes and restarts. Every completion and every
        byte is compared with a model. The same seed gives the same run, and the same trace hash. No network is used.
        """;

    private static final String NOTES = """
        The status is 0 if all runs match the model. Otherwise it is 1, and the failed seeds are printed with their
        last events.
        """;

    private static final int INVALID = 2;

    private final SimRun.Scenario scenario;

    /** Creates the tool. */
    public Sim() {
        this(Cluster::run);
    }

    /** Creates the tool with another scenario. */
    Sim(SimRun.Scenario scenario) {
        this.scenario = scenario;
    }

    @Override
    public String name() {
        return "sim";
    }

    @Override
    public String summary() {
        return "seeded runs of a simulated fabric under faults, checked against a model";
    }

    @Override
    public String help() {
        return USAGE + SimOptions.TABLE.usage() + NOTES;
    }

    @Override
    public List<OptionTable<?>> options() {
        return List.of(SimOptions.TABLE);
    }

    @Override
    public int run(List<String> arguments, ToolEnvironment environment) {
        SimOptions options = SimOptions.parse(arguments, environment.err());
        if (options == null) {
            environment.err().print(help());
            return INVALID;
        }
        boolean trace = LinkOptions.fromSystemProperties().trace();
        if (trace && options.runs() > 1) {
            environment.err().println("rdma4j sim: --trace is for a single run; omit --runs");
            return INVALID;
        }
        try {
            return new SimRun(options, scenario, trace, environment).run();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return 130;
        }
    }
}
