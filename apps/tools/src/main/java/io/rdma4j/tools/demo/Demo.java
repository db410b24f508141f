package io.rdma4j.tools.demo;

import io.rdma4j.tools.command.CStrings;
import io.rdma4j.tools.command.LatencyHistogram;
import io.rdma4j.tools.command.OptionTable;
import io.rdma4j.tools.command.Tool;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolFailure;
import io.rdma4j.tools.command.ToolProcess;
import io.rdma4j.tools.command.WarmUpChoice;
import io.rdma4j.tools.rping.Rping;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * {@code rdma4j demo}: demonstrates the tools between two processes of this host over the software device.
 *
 * <p>It runs a few pings with rping, then a long validated run with latencies, and then ucmatose, udaddy, mckey and
 * rstream.
 */
public final class Demo implements Tool {
    private static final String HELP = """
        usage: rdma4j demo [-a address] [-C count] [-S size]
        Runs rping between two processes of this host over the software RDMA device: a few pings with all
        output and a packet capture; a longer run that validates every byte and times every ping; connections
        (ucmatose); datagrams (udaddy); a multicast group (mckey); streams over RDMA sockets and TCP (rstream).
        """;

    private static final int SHOWN_PINGS = 3;
    private static final int WARM_UP_PINGS = 1000;
    private static final int MAX_PINGS = 1_000_000_000;
    private static final long POLL_MILLIS = 50;
    private static final long LIMIT_SECONDS = 110;
    private static final String SERVER_END_1 = "server DISCONNECT EVENT...";
    private static final String SERVER_END_2 = "wait for RDMA_READ_ADV state 10";
    private static final String CAPTURE = "rdma4j-demo.pcapng";

    private String address = "127.0.0.1";
    private int count = 10_000;
    private int sizeBytes = 64;

    private final Path folder;
    private final Duration limit;

    /** Creates the tool. Its packet capture goes to the current directory. */
    public Demo() {
        this(Path.of("").toAbsolutePath(), Duration.ofSeconds(LIMIT_SECONDS));
    }

    /** Creates the tool with a directory for its packet capture and a time limit. */
    Demo(Path folder, Duration limit) {
        this.folder = folder;
        this.limit = limit;
    }

    @Override
    public String name() {
        return "demo";
    }

    @Override
    public String summary() {
        return "server and client on this machine: pings, latencies, a packet capture";
    }

    @Override
    public String help() {
        return HELP + table().usage();
    }

    @Override
    public List<OptionTable<?>> options() {
        return List.of(table());
    }

    @Override
    public int run(List<String> arguments, ToolEnvironment environment) {
        if (!parse(arguments, environment)) {
            environment.err().print(help());
            return 2;
        }
        DemoOutput output = new DemoOutput(environment, limit);
        boolean warmsUp = environment.warmUp() != WarmUpChoice.NEVER;
        Runnable atInterrupt = output::interrupt;
        environment.onInterrupt(atInterrupt);
        try {
            show(output);
            measure(output, warmsUp);
            OtherTools otherTools = new OtherTools(output, address, count, warmsUp);
            otherTools.connections(3);
            otherTools.datagrams(4);
            otherTools.group(5);
            otherTools.streams(6);
            output.print(
                    "All tests passed. Next: ./rdma4j rping --help, and the README for rping against a Linux machine.");
            return 0;
        } catch (DemoFailure e) {
            output.print("");
            if (!output.isInterrupted()) {
                environment.err().println("rdma4j demo: " + e.getMessage());
            }
            return 1;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return 130;
        } finally {
            environment.removeOnInterrupt(atInterrupt);
            output.close();
        }
    }

    private boolean parse(List<String> arguments, ToolEnvironment environment) {
        try {
            List<String> operands =
                    table().parse("rdma4j demo", arguments, this, environment.err(), _ -> new ToolFailure(2));
            return count > 0 && count <= MAX_PINGS && sizeBytes >= 23 && sizeBytes <= 65535 && operands.isEmpty();
        } catch (ToolFailure e) {
            return false;
        }
    }

    /** Returns the options. This is not a constant, because other tools start without it. */
    private static OptionTable<Demo> table() {
        return OptionTable.<Demo>aligned(12)
                .option("-a address", "the local address to use (127.0.0.1)", (demo, value) -> demo.address = value)
                .option(
                        "-C count",
                        "pings of the longer run (10000), at most 1000000000; a small count also shortens the streams",
                        (demo, value) -> demo.count = CStrings.atoi(value))
                .option(
                        "-S size",
                        "size of a ping in bytes, 23 to 65535 (64)",
                        (demo, value) -> demo.sizeBytes = CStrings.atoi(value));
    }

    /** Runs a few pings between two processes, with their full output and a packet capture. */
    private void show(DemoOutput output) throws DemoFailure, InterruptedException {
        Path capture = captureFile();
        int port = randomPort();
        output.print("1. rping between two processes over the software RDMA device of " + address);
        output.print("");
        output.print("   $ rdma4j rping -s -a " + address + " -p " + port + " -v");
        output.print("   $ rdma4j rping -c -a " + address + " -p " + port + " -v -V -C " + SHOWN_PINGS + " --pcap "
                + capture.getFileName());
        output.print("");
        List<String> words =
                rping("-c", port, "-v", "-V", "-C", String.valueOf(SHOWN_PINGS), "--pcap", capture.toString());
        try (ToolProcess server = startServer(output, port, List.of("-v"))) {
            ClientLines lines = new ClientLines(output);
            int status = show(output, words, lines, server);
            while (lines.isTooEarly() && server.isAlive() && output.hasTime()) {
                lines = new ClientLines(output);
                status = show(output, words, lines, server);
            }
            if (status != 0) {
                requireServer(server, lines);
            }
            requireStatus("client", status);
            require(output, "server", server);
        }
        output.print("");
        output.print("   (The last lines are normal for rping, as in C: the client has disconnected.)");
        requireCapture(capture);
        output.print("   Every packet is in " + capture + ":");
        output.print("   wireshark " + capture + "   or   tshark -r " + capture);
        output.print("");
    }

    /** Runs the client once. Returns its exit status, or -1 if it times out or the server fails first. */
    private static int show(DemoOutput output, List<String> words, ClientLines lines, ToolProcess server)
            throws InterruptedException {
        try (ToolProcess client = output.start(words, lines::add, lines::add)) {
            int status = client.await(1);
            while (status == -1 && output.hasTime() && (server.isAlive() || server.await(1) == 0)) {
                status = client.await(1);
            }
            return status;
        }
    }

    /** Runs many pings with the client in this process, so that each ping can be timed. */
    private void measure(DemoOutput output, boolean warmsUp) throws DemoFailure, InterruptedException {
        int port = randomPort();
        output.print("2. " + count + " pings of " + sizeBytes + " bytes, every byte compared");
        output.print("");
        LatencyHistogram latencies = new LatencyHistogram();
        long begin;
        try (ToolProcess server = startServer(output, port, warmsUp ? List.of("--warm-up") : List.of())) {
            List<String> words = rping("-c", port, "-V", "-C", String.valueOf(WARM_UP_PINGS + count));
            if (warmsUp) {
                Rping.warmUp(words.subList(1, words.size()));
            }
            ClientLines lines;
            int status;
            do {
                Thread.sleep(POLL_MILLIS);
                lines = new ClientLines(output);
                begin = System.nanoTime();
                status = ping(output, words.subList(1, words.size()), lines, latencies);
            } while (lines.isTooEarly() && server.isAlive() && output.hasTime());
            if (status != 0) {
                requireServer(server, lines);
                throw new DemoFailure("the long run ended with status " + (status & 0xff) + " after "
                        + latencies.count() + " of " + count + " pings; the lines above say why");
            }
            require(output, "server", server);
        }
        double seconds = (System.nanoTime() - begin) / 1e9;
        output.print("   " + latencies.count() + " pings came back byte for byte, in "
                + String.format(Locale.ROOT, "%.1f s", seconds));
        output.print("");
        LatencyTable.print(output, latencies);
        output.print("");
    }

    private static int ping(DemoOutput output, List<String> arguments, ClientLines lines, LatencyHistogram latencies)
            throws DemoFailure, InterruptedException {
        FutureTask<Integer> client = new FutureTask<>(() -> Rping.run(arguments, lines.environment(), (ping, nanos) -> {
            if (ping >= WARM_UP_PINGS) {
                latencies.record(nanos);
            }
        }));
        Thread.ofPlatform().daemon().name("demo-client").start(client);
        try {
            return client.get(output.remainingSeconds(), TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            throw new IllegalStateException("the client of the demo failed", e.getCause());
        } catch (TimeoutException e) {
            throw new DemoFailure(
                    "the long run did not end in time; is this machine very busy? Use fewer pings: -C 1000");
        }
    }

    /**
     * Starts the server, which does not report when it listens. A client that connects too early is rejected, and is
     * started again.
     */
    private ToolProcess startServer(DemoOutput output, int port, List<String> more) {
        List<String> words = new ArrayList<>(rping("-s", port));
        words.addAll(more);
        return output.start(words, line -> output.line("server", line), line -> {
            if (more.contains("-v") || !line.equals(SERVER_END_1) && !line.equals(SERVER_END_2)) {
                output.line("server", line);
            }
        });
    }

    /** Fails if the server has failed, because its output then explains why the client was rejected. */
    private static void requireServer(ToolProcess server, ClientLines client) throws DemoFailure, InterruptedException {
        int status = server.await(1);
        if (status > 0) {
            throw new DemoFailure("the server ended with status " + status + "; the lines above say why");
        }
        if (client.isTooEarly()) {
            client.show();
            throw new DemoFailure(
                    "the server was not ready in time; is this machine very busy, or UDP port 4791 blocked?");
        }
    }

    private List<String> rping(String role, int port, String... more) {
        List<String> words = new ArrayList<>(List.of("rping", role, "-a", address, "-p", String.valueOf(port), "-S"));
        words.add(String.valueOf(sizeBytes));
        words.addAll(List.of(more));
        return words;
    }

    /** Returns a random port, because an earlier rping may still be running. */
    private static int randomPort() {
        return ThreadLocalRandom.current().nextInt(20_000, 30_000);
    }

    private static void require(DemoOutput output, String role, ToolProcess process)
            throws DemoFailure, InterruptedException {
        requireStatus(role, process.await(output.remainingSeconds()));
    }

    private static void requireStatus(String role, int status) throws DemoFailure {
        if (status == -1) {
            throw new DemoFailure(
                    "the " + role + " did not end in time; is this machine very busy, or UDP port 4791 blocked?");
        }
        if (status != 0) {
            throw new DemoFailure("the " + role + " ended with status " + status + "; the lines above say why");
        }
    }

    /**
     * Returns the capture file: its usual name or, in a directory that others can write to, a new random name.
     *
     * <p>In such a directory, another user could have planted a link under the usual name.
     */
    private Path captureFile() throws DemoFailure {
        Path directory = Files.isWritable(folder) ? folder : Path.of(System.getProperty("java.io.tmpdir"));
        try {
            boolean shared = Files.getFileStore(directory).supportsFileAttributeView("posix")
                    && Files.getPosixFilePermissions(directory).contains(PosixFilePermission.OTHERS_WRITE);
            return shared ? Files.createTempFile(directory, "rdma4j-demo-", ".pcapng") : directory.resolve(CAPTURE);
        } catch (IOException e) {
            throw new DemoFailure("the capture cannot be written in " + directory + ": " + e.getMessage());
        }
    }

    private static void requireCapture(Path capture) throws DemoFailure {
        try {
            if (Files.size(capture) == 0) {
                throw new DemoFailure("the capture " + capture + " is empty");
            }
        } catch (IOException e) {
            throw new DemoFailure("there is no capture at " + capture + ": " + e);
        }
    }
}
