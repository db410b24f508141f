package io.rdma4j.programs;

import io.rdma4j.harness.Folders;
import io.rdma4j.harness.LineProcess;
import io.rdma4j.harness.TcpSockets;
import io.rdma4j.programs.peer.PeerMain;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * One program over one transport: a client is measured, idles and is killed in the middle of an exchange; then a second
 * client is served, and the server is killed in the middle of an exchange.
 */
final class ProgramRun {
    private static final Duration START_LIMIT = Duration.ofSeconds(90);
    private static final Duration FAILURE_LIMIT = Duration.ofSeconds(60);

    /** The pace of the second client, which is not measured. */
    private static final Pace SECOND_CLIENT = new Pace(0, 100, 0);

    private static final long TRAFFIC_MILLIS = 500;

    private final Program program;
    private final Transport transport;
    private final Pace pace;
    private final Path logs;
    private int processes;

    ProgramRun(Program program, Transport transport, Pace pace, Path logs) {
        this.program = program;
        this.transport = transport;
        this.pace = pace;
        this.logs = logs;
    }

    Outcome run() throws InterruptedException {
        Path folder = null;
        try {
            folder = Files.createTempDirectory("programs");
            return run(folder);
        } catch (IOException | RuntimeException e) {
            return Outcome.problem(program, transport, e.getMessage() + "; logs are in " + logs);
        } finally {
            Folders.delete(folder);
        }
    }

    private Outcome run(Path folder) throws IOException, InterruptedException {
        int port = twoFreePorts();
        try (LineProcess server = start("server", program.server().words(program, port, folder))) {
            server.awaitLine(program.server().readyLine(), START_LIMIT);
            double rate;
            int tcpConnections;
            double idle;
            try (LineProcess client = start("client", program.client(port, pace))) {
                Duration limit = START_LIMIT.plusMillis(pace.warmUpMillis() + pace.measureMillis());
                rate = Double.parseDouble(client.awaitLine(PeerMain.MARK + "rate", limit));
                tcpConnections = TcpSockets.connectionsOf(server.pid()) + TcpSockets.connectionsOf(client.pid());
                idle = idleProcessors(server, client);
                killInTraffic(client, client);
            }
            try (LineProcess second = start("client", program.client(port, SECOND_CLIENT))) {
                second.awaitLine(PeerMain.MARK + "rate", START_LIMIT);
                killInTraffic(second, server);
                long begin = System.nanoTime();
                String failure = second.awaitLine(PeerMain.MARK + "failed", FAILURE_LIMIT);
                long failureMillis = (System.nanoTime() - begin) / 1_000_000;
                return new Outcome(
                        program.name(),
                        transport,
                        program.version(),
                        rate,
                        tcpConnections,
                        idle,
                        true,
                        failureMillis,
                        failure,
                        null);
            }
        }
    }

    private LineProcess start(String role, List<String> words) throws IOException {
        Path log = logs.resolve(program.name() + "-" + transport + "-" + ++processes + "-" + role + ".log");
        return new LineProcess(
                "the " + role, transport.command(words), Map.of(), ProcessBuilder.Redirect.to(log.toFile()));
    }

    /** Lets a client exchange without a pause, and kills one of the processes meanwhile. */
    private static void killInTraffic(LineProcess client, LineProcess victim) throws IOException, InterruptedException {
        client.sendLine("loop");
        client.awaitLine(PeerMain.MARK + "looping", START_LIMIT);
        Thread.sleep(TRAFFIC_MILLIS);
        victim.kill();
    }

    private double idleProcessors(LineProcess server, LineProcess client) throws InterruptedException {
        long begin = System.nanoTime();
        Duration before = server.processorTime().plus(client.processorTime());
        Thread.sleep(pace.idleMillis());
        Duration used = server.processorTime().plus(client.processorTime()).minus(before);
        return (double) used.toNanos() / (System.nanoTime() - begin);
    }

    /** Returns a free port of the loopback address whose next port is also free. */
    private static int twoFreePorts() throws IOException {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        while (true) {
            try (ServerSocket first = new ServerSocket(0, 1, loopback)) {
                int port = first.getLocalPort();
                if (isFree(port + 1, loopback)) {
                    return port;
                }
            }
        }
    }

    private static boolean isFree(int port, InetAddress address) {
        try (ServerSocket _ = new ServerSocket(port, 1, address)) {
            return true;
        } catch (IOException e) {
            return false;
        }
    }
}
