package io.rdma4j.programs;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeoutException;

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
        } catch (IOException | TimeoutException | RuntimeException e) {
            return Outcome.problem(program, transport, String.valueOf(e.getMessage()));
        } finally {
            Folders.delete(folder);
        }
    }

    private Outcome run(Path folder) throws IOException, InterruptedException, TimeoutException {
        int port = twoFreePorts();
        try (ProgramProcess server = start("server", program.server().words(program, port, folder))) {
            server.await(program.server().readyLine(), START_LIMIT);
            double rate;
            int tcpConnections;
            double idle;
            try (ProgramProcess client = start("client", program.client(port, pace))) {
                Duration limit = START_LIMIT.plusMillis(pace.warmUpMillis() + pace.measureMillis());
                rate = Double.parseDouble(client.await(ProgramProcess.MARK + "rate", limit));
                tcpConnections = TcpConnections.of(server.pid()) + TcpConnections.of(client.pid());
                idle = idleProcessors(server, client);
                killInTraffic(client, client);
            }
            try (ProgramProcess second = start("client", program.client(port, SECOND_CLIENT))) {
                second.await(ProgramProcess.MARK + "rate", START_LIMIT);
                killInTraffic(second, server);
                long begin = System.nanoTime();
                String failure = second.await(ProgramProcess.MARK + "failed", FAILURE_LIMIT);
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

    private ProgramProcess start(String role, List<String> words) throws IOException {
        Path log = logs.resolve(program.name() + "-" + transport + "-" + ++processes + "-" + role + ".log");
        return new ProgramProcess(transport.command(words), log);
    }

    /** Lets a client exchange without a pause, and kills one of the processes meanwhile. */
    private static void killInTraffic(ProgramProcess client, ProgramProcess victim)
            throws IOException, InterruptedException, TimeoutException {
        client.writeLine("loop");
        client.await(ProgramProcess.MARK + "looping", START_LIMIT);
        Thread.sleep(TRAFFIC_MILLIS);
        victim.kill();
    }

    private double idleProcessors(ProgramProcess server, ProgramProcess client) throws InterruptedException {
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
