package io.rdma4j.tools.guardian;

import io.rdma4j.soft.guardian.GuardianServer;
import io.rdma4j.soft.report.ReportSockets;
import io.rdma4j.tools.command.Tool;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.top.StackReader;
import io.rdma4j.verbs.RdmaException;
import java.io.IOException;
import java.util.List;

/** {@code rdma4j guardian}: disconnects the peers of processes of this user that end without doing so themselves. */
public final class GuardianTool implements Tool {
    private static final String HELP = """
        usage: rdma4j guardian
        Watches all processes of this user that use rdma4j in this network namespace. When one of them is killed
        or crashes, its peers on all hosts get DISCONNECTED within a second, as if a kernel had closed the
        connections. Runs until interrupted; systemd can run it (see rdma4j man guardian). Prints a line for each
        process that ended with open connections.
        The status is 1 if a guardian already runs, or the run directory cannot be used.
        """;

    private static final int USAGE = 2;

    /** Creates the tool. */
    public GuardianTool() {}

    @Override
    public String name() {
        return "guardian";
    }

    @Override
    public String summary() {
        return "disconnects the peers of processes of this user that are killed";
    }

    @Override
    public String help() {
        return HELP;
    }

    @Override
    public int run(List<String> arguments, ToolEnvironment environment) {
        if (!arguments.isEmpty()) {
            environment.err().print(HELP);
            return USAGE;
        }
        try (GuardianServer guardian = GuardianServer.open(line -> print(line, environment))) {
            Runnable atInterrupt = guardian::close;
            environment.onInterrupt(atInterrupt);
            print("watching the processes that use " + guardian.directory(), environment);
            Thread.ofVirtual().start(() -> register(environment));
            guardian.run();
            environment.removeOnInterrupt(atInterrupt);
            return 0;
        } catch (IOException | RdmaException e) {
            environment.err().println("rdma4j guardian: " + e.getMessage());
            return 1;
        }
    }

    /** Requests a report from each running process, because a process registers when it answers. */
    private static void register(ToolEnvironment environment) {
        try {
            var _ = StackReader.readAll(ReportSockets.list());
        } catch (IOException | RdmaException e) {
            environment
                    .err()
                    .println("rdma4j guardian: running processes are watched from their next connection on: "
                            + e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void print(String line, ToolEnvironment environment) {
        environment.out().println(line);
        environment.out().flush();
    }
}
