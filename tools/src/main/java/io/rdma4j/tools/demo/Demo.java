package io.rdma4j.tools.demo;

import io.rdma4j.tools.CStrings;
import io.rdma4j.tools.Getopt;
import io.rdma4j.tools.LatencyHistogram;
import io.rdma4j.tools.Tool;
import io.rdma4j.tools.ToolEnvironment;
import io.rdma4j.tools.ToolProcess;
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
 * {@code rdma4j demo}: rping between two processes of this host over the software device; a long validated run with
 * latencies; then ucmatose, udaddy, mckey and rstream.
 */
public final class Demo implements Tool {
    private static final String HELP = """
        usage: rdma4j demo [-a address] [-C count] [-S size]
        Runs rping between two processes of this host over the software RDMA device: a few pings to look at, with a
        packet capture, then a longer run in which every byte is compared and every ping is timed; then connections
        (ucmatose), datagrams (udaddy), a multicast group (mckey), and streams over RDMA sockets and TCP (rstream).
          -a address   a local address to run over (127.0.0.1)
          -C count     pings of the longer run (10000), at most 1000000000; fewer make the streams shorter, too
          -S size      bytes of a ping, 23 to 65535 (64)
        """;

    private static final int SHOWN_PINGS = 3;
    private static final int WARM_UP_PINGS = 1000;
    private static final int MOST_PINGS = 1_000_000_000;
    private static final long GLANCE_MILLIS = 50;
    private static final long LIMIT_SECONDS = 110;
    private static final String SERVER_END_1 = "server DISCONNECT EVENT...";
    private static final String SERVER_END_2 = "wait for RDMA_READ_ADV state 10";
    private static final String CAPTURE = "rdma4j-demo.pcapng";

    private String address = "127.0.0.1";
    private int count = 10_000;
    private int sizeBytes = 64;

    private final Path folder;
    private final Duration limit;

    /** Creates the tool; its capture goes to the current folder. */
    public Demo() {
        this(Path.of("").toAbsolutePath(), Duration.ofSeconds(LIMIT_SECONDS));
    }

    /** Creates the tool with another folder for its capture, and another limit of its time. */
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
    public int run(List<String> arguments, ToolEnvironment environment) {
        if (arguments.equals(List.of("--help"))) {
            environment.out().print(HELP);
            return 0;
        }
        if (!parse(arguments, environment)) {
            environment.err().print(HELP);
            return 2;
        }
        DemoOutput output = new DemoOutput(environment, limit);
        Runnable atInterrupt = output::interrupt;
        environment.onInterrupt(atInterrupt);
        try {
            show(output);
            measure(output);
            Family family = new Family(output, address, count);
            family.connections(3);
            family.datagrams(4);
            family.group(5);
            family.streams(6);
            output.say("All is well. Next: ./rdma4j rping --help, and the README for rping against a Linux machine.");
            return 0;
        } catch (DemoFailure e) {
            output.say("");
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
        Getopt options = new Getopt("rdma4j demo", "a:C:S:", arguments, environment.err());
        for (int letter = options.next(); letter != Getopt.END; letter = options.next()) {
            switch (letter) {
                case 'a' -> address = options.requiredArgument();
                case 'C' -> count = CStrings.atoi(options.requiredArgument());
                case 'S' -> sizeBytes = CStrings.atoi(options.requiredArgument());
                default -> {
                    return false;
                }
            }
        }
        return count > 0
                && count <= MOST_PINGS
                && sizeBytes >= 23
                && sizeBytes <= 65535
                && options.operands().isEmpty();
    }

    /** A few pings between two processes, with every line that they print, and a capture. */
    private void show(DemoOutput output) throws DemoFailure, InterruptedException {
        Path capture = captureFile();
        int port = randomPort();
        output.say("1. rping between two processes over the software RDMA device of " + address);
        output.say("");
        output.say("   $ rdma4j rping -s -a " + address + " -p " + port + " -v");
        output.say("   $ rdma4j rping -c -a " + address + " -p " + port + " -v -V -C " + SHOWN_PINGS + " --pcap "
                + capture.getFileName());
        output.say("");
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
        output.say("");
        output.say("   (The last lines are how rping ends, C's too: the client has disconnected.)");
        requireCapture(capture);
        output.say("   Every packet is in " + capture + ":");
        output.say("   wireshark " + capture + "   or   tshark -r " + capture);
        output.say("");
    }

    /** One run of the client; its exit status, or -1 where it has not ended in time, or the server has before it. */
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

    /** A long run whose client is this process, so that each ping can be timed. */
    private void measure(DemoOutput output) throws DemoFailure, InterruptedException {
        int port = randomPort();
        output.say("2. " + count + " pings of " + sizeBytes + " bytes, every byte compared (after " + WARM_UP_PINGS
                + " to warm up)");
        output.say("");
        LatencyHistogram latencies = new LatencyHistogram();
        long begin;
        try (ToolProcess server = startServer(output, port, List.of())) {
            List<String> words = rping("-c", port, "-V", "-C", String.valueOf(WARM_UP_PINGS + count));
            ClientLines lines;
            int status;
            do {
                Thread.sleep(GLANCE_MILLIS);
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
        output.say("   " + latencies.count() + " pings came back byte for byte, in "
                + String.format(Locale.ROOT, "%.1f s", seconds));
        output.say("");
        LatencyTable.print(output, latencies);
        output.say("");
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
            throw new DemoFailure("the long run was not done in time; is this machine very busy? Fewer pings: -C 1000");
        }
    }

    /** The server does not say when it listens: clients that come too early are refused, and come again. */
    private ToolProcess startServer(DemoOutput output, int port, List<String> more) {
        List<String> words = new ArrayList<>(rping("-s", port));
        words.addAll(more);
        return output.start(words, line -> output.line("server", line), line -> {
            if (!more.isEmpty() || !line.equals(SERVER_END_1) && !line.equals(SERVER_END_2)) {
                output.line("server", line);
            }
        });
    }

    /** A client that was refused has nothing to tell if the server has failed, which has told why. */
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

    /** Another port each time: an earlier rping may still be there. */
    private static int randomPort() {
        return ThreadLocalRandom.current().nextInt(20_000, 30_000);
    }

    private static void require(DemoOutput output, String who, ToolProcess process)
            throws DemoFailure, InterruptedException {
        requireStatus(who, process.await(output.remainingSeconds()));
    }

    private static void requireStatus(String who, int status) throws DemoFailure {
        if (status == -1) {
            throw new DemoFailure(
                    "the " + who + " did not end in time; is this machine very busy, or UDP port 4791 blocked?");
        }
        if (status != 0) {
            throw new DemoFailure("the " + who + " ended with status " + status + "; the lines above say why");
        }
    }

    /** Under its usual name; under a random one, made here, where others might have put a link under the usual one. */
    private Path captureFile() throws DemoFailure {
        Path place = Files.isWritable(folder) ? folder : Path.of(System.getProperty("java.io.tmpdir"));
        try {
            boolean shared = Files.getFileStore(place).supportsFileAttributeView("posix")
                    && Files.getPosixFilePermissions(place).contains(PosixFilePermission.OTHERS_WRITE);
            return shared ? Files.createTempFile(place, "rdma4j-demo-", ".pcapng") : place.resolve(CAPTURE);
        } catch (IOException e) {
            throw new DemoFailure("the capture cannot be written in " + place + ": " + e.getMessage());
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
