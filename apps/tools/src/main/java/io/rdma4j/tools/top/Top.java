package io.rdma4j.tools.top;

import io.rdma4j.soft.report.ReportSockets;
import io.rdma4j.tools.command.OptionTable;
import io.rdma4j.tools.command.Tool;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.verbs.RdmaException;
import java.io.Console;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** {@code rdma4j top}: shows the queue pairs and devices of the processes of this user, and refreshes them. */
public final class Top implements Tool {
    private static final String USAGE = """
        usage: rdma4j top [-d SECONDS] [-n COUNT] [--json]
        Shows the devices and the queue pairs of all processes of this user that use rdma4j in this network
        namespace, with their rates since the last refresh, retransmissions and peers; the busiest first.
        """;

    private static final String NOTES = """
        SENT/S and RCVD/S are bytes with RoCEv2 headers; k, M and G are 10^3, 10^6 and 10^9. MSG/S are completed
        sends and receives. RETRANS, TIMEOUTS and RNR count since the queue pair was created: retransmitted
        packets, expired acknowledgement timeouts, and messages for which no receive was posted.
        The status is 1 if the run directory cannot be read.
        """;

    private static final int INVALID = 2;

    /** Moves to the upper left corner and clears the terminal from there. */
    private static final String CLEAR = "\u001b[H\u001b[2J";

    private final boolean isTerminal;

    /** Creates the tool. */
    public Top() {
        this(Optional.ofNullable(System.console()).filter(Console::isTerminal).isPresent());
    }

    /** Creates the tool for a terminal, or for another output. */
    Top(boolean isTerminal) {
        this.isTerminal = isTerminal;
    }

    @Override
    public String name() {
        return "top";
    }

    @Override
    public String summary() {
        return "queue pairs and devices of the processes of this host: rates, retransmissions, peers";
    }

    @Override
    public String help() {
        return USAGE + TopOptions.TABLE.usage() + NOTES;
    }

    @Override
    public List<OptionTable<?>> options() {
        return List.of(TopOptions.TABLE);
    }

    @Override
    public int run(List<String> arguments, ToolEnvironment environment) {
        TopOptions options = TopOptions.parse(arguments, environment.err());
        if (options == null) {
            environment.err().print(help());
            return INVALID;
        }
        CountDownLatch interrupted = new CountDownLatch(1);
        Runnable atInterrupt = interrupted::countDown;
        environment.onInterrupt(atInterrupt);
        try {
            refresh(options, environment, interrupted);
            return 0;
        } catch (IOException | RdmaException e) {
            environment.err().println("rdma4j top: " + e.getMessage());
            return 1;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return 130;
        } finally {
            environment.removeOnInterrupt(atInterrupt);
        }
    }

    private void refresh(TopOptions options, ToolEnvironment environment, CountDownLatch interrupted)
            throws IOException, InterruptedException {
        boolean isLive = isTerminal && options.count() == 0 && !environment.isForPrograms();
        long count = isLive ? Long.MAX_VALUE : Math.max(1, options.count());
        TopTable table = new TopTable(isTerminal && System.getenv("NO_COLOR") == null);
        List<Map<String, Object>> refreshes = new ArrayList<>();
        environment
                .report()
                .parameter("delaySeconds", options.delay().toMillis() / 1e3)
                .parameter("count", count);
        Sample earlier = sample();
        for (long i = 0; i < count; i++) {
            if (interrupted.await(options.delay().toMillis(), TimeUnit.MILLISECONDS)) {
                return;
            }
            Sample now = sample();
            if (environment.isForPrograms()) {
                refreshes.add(now.toJson(earlier));
                environment.report().result("refreshes", List.copyOf(refreshes));
            } else {
                print(table.lines(now, earlier), isLive, i > 0, environment);
            }
            earlier = now;
        }
    }

    private static void print(List<String> lines, boolean isLive, boolean isFollowing, ToolEnvironment environment) {
        String separator = isFollowing ? System.lineSeparator() : "";
        environment
                .out()
                .print((isLive ? CLEAR : separator)
                        + String.join(System.lineSeparator(), lines)
                        + System.lineSeparator());
        environment.out().flush();
    }

    private static Sample sample() throws IOException, InterruptedException {
        StackReader.Answers answers = StackReader.readAll(ReportSockets.list());
        return new Sample(System.nanoTime(), answers);
    }
}
