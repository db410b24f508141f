package io.rdma4j.tools.top;

import io.rdma4j.soft.report.StackReport;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Reads the reports of processes from their sockets. A report is bounded in time and length, and checked. */
public final class StackReader {
    private static final long MAX_NANOS = 1_000_000_000;
    private static final int CHUNK_BYTES = 64 << 10;

    private StackReader() {}

    /**
     * The answers of all processes.
     *
     * @param reports the reports, by process and slot
     * @param problems a line for each process that did not return a valid report
     */
    public record Answers(List<StackReport> reports, List<String> problems) {}

    /**
     * Reads the reports from sockets, some of which may belong to killed processes. Takes at most about one second.
     *
     * @throws InterruptedException if the thread is interrupted
     */
    public static Answers readAll(List<Path> sockets) throws InterruptedException {
        List<StackReport> reports = new ArrayList<>();
        List<String> problems = new ArrayList<>();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<Optional<StackReport>>> answers = sockets.stream()
                    .map(socket -> threads.submit(() -> read(socket)))
                    .toList();
            for (int i = 0; i < answers.size(); i++) {
                try {
                    answers.get(i).get().ifPresent(reports::add);
                } catch (ExecutionException e) {
                    String reason = answers.get(i).exceptionNow().getMessage();
                    problems.add(sockets.get(i).getFileName() + ": " + reason);
                }
            }
        }
        reports.sort(Comparator.comparingLong(StackReport::pid).thenComparingInt(StackReport::slot));
        return new Answers(reports, problems);
    }

    /** Returns the report from a socket, or empty if no process listens on it. */
    static Optional<StackReport> read(Path socket) throws IOException, InterruptedException {
        long giveUpNanos = System.nanoTime() + MAX_NANOS;
        try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            channel.configureBlocking(false);
            if (!connects(channel, socket)) {
                return Optional.empty();
            }
            return Optional.of(StackReport.decode(readFully(channel, giveUpNanos)));
        }
    }

    private static boolean connects(SocketChannel channel, Path socket) throws IOException, InterruptedException {
        try {
            boolean isConnected = channel.connect(UnixDomainSocketAddress.of(socket));
            while (!isConnected) {
                Thread.sleep(1);
                isConnected = channel.finishConnect();
            }
            return true;
        } catch (ConnectException e) {
            return false;
        } catch (SocketException e) {
            // No such file: the process has exited since the directory was listed.
            if (!socket.toFile().exists()) {
                return false;
            }
            throw e;
        }
    }

    private static byte[] readFully(SocketChannel channel, long giveUpNanos) throws IOException, InterruptedException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        ByteBuffer chunk = ByteBuffer.allocate(CHUNK_BYTES);
        for (int count = channel.read(chunk); count >= 0; count = channel.read(chunk)) {
            if (bytes.size() + count > StackReport.MAX_BYTES) {
                throw new IOException("the report is longer than " + StackReport.MAX_BYTES + " bytes");
            }
            bytes.write(chunk.array(), 0, count);
            chunk.clear();
            if (System.nanoTime() - giveUpNanos > 0) {
                throw new IOException("the process does not answer; it may be stopped");
            }
            if (count == 0) {
                Thread.sleep(1);
            }
        }
        return bytes.toByteArray();
    }
}
