package io.rdma4j.tools.cmtime;

import io.rdma4j.cm.AddressLookupException;
import io.rdma4j.cm.spi.HostLookup;
import io.rdma4j.cm.spi.ServiceLookup;
import io.rdma4j.tools.messages.MessageReport;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The TCP connections by which the instances find each other and synchronize, as in the C tool.
 *
 * <p>The instance that can bind the controller's address is the root. The others, its leaves, connect to it. Each leaf
 * sends its {@link PeerRecord}, and the root replies with all records.
 *
 * <p>At every barrier each leaf sends a byte and waits for the root to return it. The root does so when it has received
 * the byte from all leaves.
 */
final class OutOfBand implements AutoCloseable {
    private static final int RECORD_TIMEOUT_MILLIS = 20_000;
    private static final int CONNECT_TIMEOUT_MILLIS = 5_000;

    /** The time for which a leaf retries a refused connection, because the root may start at the same time. */
    private static final long CONNECT_RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final long POLL_MILLIS = 100;
    private static final int LOST = -1;

    /** A connection to another instance, and the bytes received on it. */
    private static final class Link {
        final Socket socket;
        final String name;
        final LinkedBlockingQueue<Integer> bytes = new LinkedBlockingQueue<>();

        /** Closes the socket if its options cannot be set. */
        Link(Socket socket) throws IOException {
            this.socket = socket;
            try {
                socket.setTcpNoDelay(true);
                socket.setSoTimeout(RECORD_TIMEOUT_MILLIS);
            } catch (IOException e) {
                socket.close();
                throw e;
            }
            name = socket.getInetAddress().getHostAddress() + " port " + socket.getPort();
        }
    }

    private final MessageReport report;
    private final StepCounts<Step> progress;
    private final @Nullable ServerSocket listening;
    private final List<Link> links = new CopyOnWriteArrayList<>();
    private volatile boolean exitAllowed;

    private OutOfBand(MessageReport report, StepCounts<Step> progress, @Nullable ServerSocket listening) {
        this.report = report;
        this.progress = progress;
        this.listening = listening;
    }

    // ---- set-up

    /**
     * Becomes the root if the controller's address is local and free, and otherwise connects to the root.
     *
     * @throws CmtimeFailure if neither is possible; the reason has been printed
     */
    static OutOfBand open(String controller, String port, MessageReport report, StepCounts<Step> progress)
            throws CmtimeFailure {
        InetSocketAddress address = lookUp(controller, port, report);
        AtomicReference<String> refusal = new AtomicReference<>("");
        ServerSocket listening = tryBind(address, refusal);
        OutOfBand outOfBand = new OutOfBand(report, progress, listening);
        if (listening == null) {
            try {
                outOfBand.links.add(new Link(connect(address)));
            } catch (IOException e) {
                outOfBand.close();
                report.explain("there is no instance at the controller's address " + text(address) + ": "
                        + e.getMessage() + " (cannot bind it here: " + refusal.get()
                        + "). Start the instance on that host first");
                throw new CmtimeFailure();
            }
        } else {
            report.line("Running as OOB root");
        }
        return outOfBand;
    }

    private static InetSocketAddress lookUp(String controller, String port, MessageReport report) throws CmtimeFailure {
        try {
            return new InetSocketAddress(
                    HostLookup.first("getaddrinfo", controller, null, false),
                    ServiceLookup.port("getaddrinfo", port, ServiceLookup.Protocol.TCP));
        } catch (AddressLookupException e) {
            report.errorLine("getaddrinfo error: " + e.reason().text());
            report.explain(String.valueOf(e.getMessage()));
            throw new CmtimeFailure();
        }
    }

    private static @Nullable ServerSocket tryBind(InetSocketAddress address, AtomicReference<String> refusal) {
        try {
            ServerSocket socket = new ServerSocket();
            try {
                socket.setReuseAddress(true);
                socket.bind(address);
                return socket;
            } catch (IOException bindFailure) {
                refusal.set(String.valueOf(bindFailure.getMessage()));
                socket.close();
            }
        } catch (IOException e) {
            throw new IllegalStateException("a socket that was not used cannot be closed", e);
        }
        return null;
    }

    private static Socket connect(InetSocketAddress address) throws IOException {
        long began = System.nanoTime();
        while (true) {
            Socket socket = new Socket();
            try {
                socket.connect(address, CONNECT_TIMEOUT_MILLIS);
                return socket;
            } catch (IOException e) {
                socket.close();
                if (e instanceof SocketTimeoutException
                        || e instanceof NoRouteToHostException
                        || System.nanoTime() - began > CONNECT_RETRY_NANOS) {
                    throw e;
                }
            }
            try {
                Thread.sleep(POLL_MILLIS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IOException("interrupted", e);
            }
        }
    }

    private static String text(InetSocketAddress address) {
        return address.getAddress().getHostAddress() + " port " + address.getPort();
    }

    /**
     * Exchanges the records of all instances.
     *
     * @param self the record of this instance
     * @param acceptTimeoutMillis the time that the root waits for the next leaf; 0 for no limit
     * @return all records, the root's first
     * @throws CmtimeFailure if this fails; the reason has been printed
     */
    List<PeerRecord> mesh(PeerRecord self, int acceptTimeoutMillis) throws CmtimeFailure {
        List<PeerRecord> all = new ArrayList<>();
        try {
            if (listening == null) {
                Link root = links.getFirst();
                root.socket.getOutputStream().write(self.toBytes());
                root.socket.setSoTimeout(0); // the root waits for the other leaves
                while (all.size() < self.peers()) {
                    all.add(read(root, self));
                }
            } else {
                all.add(self);
                gather(listening, self, all, acceptTimeoutMillis);
                for (Link leaf : links) {
                    for (PeerRecord each : all) {
                        leaf.socket.getOutputStream().write(each.toBytes());
                    }
                }
            }
            for (Link link : links) {
                link.socket.setSoTimeout(0);
                Thread.ofVirtual().name("cmtime-peer").start(() -> listen(link));
            }
        } catch (IOException e) {
            report.explain("the connection to an instance was lost during start-up: " + e.getMessage());
            throw new CmtimeFailure();
        }
        return all;
    }

    private void gather(ServerSocket socket, PeerRecord self, List<PeerRecord> all, int acceptTimeoutMillis)
            throws IOException, CmtimeFailure {
        socket.setSoTimeout(acceptTimeoutMillis);
        while (all.size() < self.peers()) {
            try {
                links.add(new Link(socket.accept()));
            } catch (SocketTimeoutException e) {
                report.explain(String.format(
                        Locale.ROOT,
                        "%d of %d instances have connected, and no other within %d s."
                                + " Start the servers: cmtime -L -C %s",
                        all.size(),
                        self.peers(),
                        acceptTimeoutMillis / 1000,
                        socket.getInetAddress().getHostAddress()));
                throw new CmtimeFailure();
            }
            Link leaf = links.getLast();
            try {
                all.add(read(leaf, self));
            } catch (CmtimeFailure mismatch) {
                leaf.socket.getOutputStream().write(self.toBytes()); // so that the leaf reports the same reason
                throw mismatch;
            }
        }
        socket.close();
    }

    private PeerRecord read(Link link, PeerRecord self) throws IOException, CmtimeFailure {
        byte[] bytes = link.socket.getInputStream().readNBytes(PeerRecord.BYTES);
        if (bytes.length < PeerRecord.BYTES) {
            report.explain("the instance at " + link.name + " has ended");
            throw new CmtimeFailure();
        }
        Optional<PeerRecord> record = PeerRecord.parse(bytes);
        if (record.isEmpty()) {
            report.explain("the data received from " + link.name + " is not from a cmtime");
            throw new CmtimeFailure();
        }
        Optional<String> mismatch = self.mismatch(record.get(), link.name);
        if (mismatch.isPresent()) {
            report.explain(mismatch.get());
            throw new CmtimeFailure();
        }
        return record.get();
    }

    // ---- synchronization

    private void listen(Link link) {
        try {
            for (int one = link.socket.getInputStream().read();
                    one != LOST;
                    one = link.socket.getInputStream().read()) {
                link.bytes.add(one);
            }
        } catch (IOException lost) {
            // Reported below, as is the end of the stream.
        } finally {
            link.bytes.add(LOST); // also after an OutOfMemoryError, which ends this thread
        }
        if (!exitAllowed) {
            progress.fail(() -> report.explain("the instance at " + link.name + " has ended before the test was done"));
        }
    }

    /** Allows the other instances to exit after the next step. */
    void allowExit() {
        exitAllowed = true;
    }

    /**
     * Waits until all instances have reached a barrier.
     *
     * @param timeoutNanos the maximum time to wait
     * @throws CmtimeFailure on timeout, or if the run has failed; the reason has been printed
     */
    void sync(Barrier barrier, long timeoutNanos) throws CmtimeFailure {
        long end = System.nanoTime() + Math.min(timeoutNanos, Long.MAX_VALUE / 2);
        if (listening == null) {
            send(barrier.code());
        }
        for (Link link : links) {
            expect(link, barrier.code(), end);
        }
        if (listening != null) {
            send(barrier.code());
        }
    }

    private void send(int step) throws CmtimeFailure {
        for (Link link : links) {
            try {
                link.socket.getOutputStream().write(step);
            } catch (IOException e) {
                progress.fail(() -> report.explain("the instance at " + link.name + " has ended: " + e.getMessage()));
                throw new CmtimeFailure();
            }
        }
    }

    private void expect(Link link, int step, long endNanos) throws CmtimeFailure {
        Integer received = null;
        while (received == null) {
            progress.throwIfFailed();
            if (System.nanoTime() - endNanos > 0) {
                progress.fail(() -> report.explain("the instance at " + link.name
                        + " does not reach the next step. Start all with the same -c and -P"));
                throw new CmtimeFailure();
            }
            try {
                received = link.bytes.poll(POLL_MILLIS, TimeUnit.MILLISECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new CmtimeFailure();
            }
        }
        if (received != step) {
            boolean lost = received == LOST;
            progress.fail(() -> report.explain("the instance at " + link.name
                    + (lost
                            ? " has ended before the test was done"
                            : " is at another step. Start all with the same -P")));
            throw new CmtimeFailure();
        }
    }

    @Override
    public void close() {
        abandon();
    }

    /** Closes all connections. Callable from any thread; it releases threads that wait for other instances. */
    void abandon() {
        exitAllowed = true;
        try {
            if (listening != null) {
                listening.close();
            }
            for (Link link : links) {
                link.socket.close();
            }
        } catch (IOException e) {
            report.explain("a connection to another instance could not be closed: " + e.getMessage());
        }
    }
}
