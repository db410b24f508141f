package io.rdma4j.tools.cmtime;

import io.rdma4j.cm.AddressLookupException;
import io.rdma4j.cm.spi.HostLookup;
import io.rdma4j.tools.messages.MessageReport;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * TCP connections by which the instances find each other and keep in step, as the C tool's. The instance that can bind the
 * controller's address is the root; the others, its leaves, connect to it. Each leaf sends its {@link PeerRecord}, the root
 * answers with all of them. Then, at every step, each leaf sends a byte and waits for the root to send it back, which the
 * root does when it has heard from all.
 */
final class OutOfBand implements AutoCloseable {
    private static final int LEAST_PORT = 0;
    private static final int MOST_PORT = 0xffff;
    private static final int RECORD_TIMEOUT_MILLIS = 20_000;
    private static final int CONNECT_TIMEOUT_MILLIS = 5_000;

    /** How long a leaf tries again when nobody listens: the root may have been started at the same moment. */
    private static final long START_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final long GLANCE_MILLIS = 100;
    private static final int LOST = -1;

    /** The connection to another instance, and the bytes that came. */
    private static final class Link {
        final Socket socket;
        final String name;
        final LinkedBlockingQueue<Integer> bytes = new LinkedBlockingQueue<>();

        Link(Socket socket) throws IOException {
            this.socket = socket;
            socket.setTcpNoDelay(true);
            socket.setSoTimeout(RECORD_TIMEOUT_MILLIS);
            name = socket.getInetAddress().getHostAddress() + " port " + socket.getPort();
        }
    }

    private final MessageReport report;
    private final StepCounts<Step> progress;
    private final @Nullable ServerSocket listening;
    private final List<Link> links = new ArrayList<>();
    private volatile boolean ending;

    private OutOfBand(MessageReport report, StepCounts<Step> progress, @Nullable ServerSocket listening) {
        this.report = report;
        this.progress = progress;
        this.listening = listening;
    }

    // ---- finding each other

    /**
     * Becomes the root if the controller's address is one of this host and free, else connects to it.
     *
     * @throws CmtimeFailure if neither works; the reason has been printed
     */
    static OutOfBand open(String controller, String port, MessageReport report, StepCounts<Step> progress)
            throws CmtimeFailure {
        InetSocketAddress address = new InetSocketAddress(lookUp(controller, report), portNumber(port, report));
        AtomicReference<String> refusal = new AtomicReference<>("");
        ServerSocket listening = tryBind(address, refusal);
        OutOfBand made = new OutOfBand(report, progress, listening);
        if (listening == null) {
            try {
                made.links.add(new Link(connect(address)));
            } catch (IOException e) {
                made.close();
                report.explain("there is no instance at the controller's address " + text(address) + ": "
                        + e.getMessage() + " (to be it: " + refusal.get() + "). Start the instance on that host first");
                throw new CmtimeFailure();
            }
        } else {
            report.line("Running as OOB root");
        }
        return made;
    }

    private static InetAddress lookUp(String controller, MessageReport report) throws CmtimeFailure {
        try {
            return HostLookup.first("getaddrinfo", controller, null, false);
        } catch (AddressLookupException e) {
            report.errorLine("getaddrinfo error: " + e.reason().text());
            report.explain(String.valueOf(e.getMessage()));
            throw new CmtimeFailure();
        }
    }

    private static int portNumber(String port, MessageReport report) throws CmtimeFailure {
        try {
            int number = Integer.parseInt(port);
            if (number >= LEAST_PORT && number <= MOST_PORT) {
                return number;
            }
        } catch (NumberFormatException name) {
            // Told below.
        }
        report.errorLine("getaddrinfo error: " + AddressLookupException.Reason.SERVICE_UNKNOWN.text());
        report.explain("'" + port + "' is no port number, which is 0 to 65535");
        throw new CmtimeFailure();
    }

    private static @Nullable ServerSocket tryBind(InetSocketAddress address, AtomicReference<String> refusal) {
        try {
            ServerSocket socket = new ServerSocket();
            try {
                socket.setReuseAddress(true);
                socket.bind(address);
                return socket;
            } catch (IOException othersAddress) {
                refusal.set(String.valueOf(othersAddress.getMessage()));
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
                        || System.nanoTime() - began > START_NANOS) {
                    throw e;
                }
            }
            try {
                Thread.sleep(GLANCE_MILLIS);
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
     * Tells all instances about each other.
     *
     * @param own of this instance
     * @param patienceMillis how long the root waits for the next leaf; 0 for ever
     * @return the root's record first
     * @throws CmtimeFailure if that fails; the reason has been printed
     */
    List<PeerRecord> mesh(PeerRecord own, int patienceMillis) throws CmtimeFailure {
        List<PeerRecord> all = new ArrayList<>();
        try {
            if (listening == null) {
                Link root = links.getFirst();
                root.socket.getOutputStream().write(own.toBytes());
                root.socket.setSoTimeout(0); // the root waits for the others
                while (all.size() < own.peers()) {
                    all.add(read(root, own));
                }
            } else {
                all.add(own);
                gather(listening, own, all, patienceMillis);
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
            report.explain("an instance was lost while all were told about each other: " + e.getMessage());
            throw new CmtimeFailure();
        }
        return all;
    }

    private void gather(ServerSocket socket, PeerRecord own, List<PeerRecord> all, int patienceMillis)
            throws IOException, CmtimeFailure {
        socket.setSoTimeout(patienceMillis);
        while (all.size() < own.peers()) {
            try {
                links.add(new Link(socket.accept()));
            } catch (SocketTimeoutException e) {
                report.explain(String.format(
                        Locale.ROOT,
                        "of %d instances %d came, and no more for %d s. Start the servers: cmtime -L -C %s",
                        own.peers(),
                        all.size(),
                        patienceMillis / 1000,
                        socket.getInetAddress().getHostAddress()));
                throw new CmtimeFailure();
            }
            Link leaf = links.getLast();
            try {
                all.add(read(leaf, own));
            } catch (CmtimeFailure quarrel) {
                leaf.socket.getOutputStream().write(own.toBytes()); // so that it finds the same reason
                throw quarrel;
            }
        }
        socket.close();
    }

    private PeerRecord read(Link link, PeerRecord own) throws IOException, CmtimeFailure {
        byte[] bytes = link.socket.getInputStream().readNBytes(PeerRecord.BYTES);
        if (bytes.length < PeerRecord.BYTES) {
            report.explain("the instance at " + link.name + " has ended");
            throw new CmtimeFailure();
        }
        Optional<PeerRecord> record = PeerRecord.parse(bytes);
        if (record.isEmpty()) {
            report.explain("what came from " + link.name + " is not from a cmtime");
            throw new CmtimeFailure();
        }
        Optional<String> quarrel = own.quarrel(record.get(), link.name);
        if (quarrel.isPresent()) {
            report.explain(quarrel.get());
            throw new CmtimeFailure();
        }
        return record.get();
    }

    // ---- keeping in step

    private void listen(Link link) {
        try {
            for (int one = link.socket.getInputStream().read();
                    one != LOST;
                    one = link.socket.getInputStream().read()) {
                link.bytes.add(one);
            }
        } catch (IOException lost) {
            link.bytes.add(LOST);
        }
        link.bytes.add(LOST);
        if (!ending) {
            progress.fail(() -> report.explain("the instance at " + link.name + " has ended before the test was done"));
        }
    }

    /** From now on instances may end when they have passed the next step. */
    void ending() {
        ending = true;
    }

    /**
     * Waits until all instances have come to a barrier.
     *
     * @param patienceNanos how long
     * @throws CmtimeFailure if they do not, or the run has failed; the reason has been printed
     */
    void sync(Barrier barrier, long patienceNanos) throws CmtimeFailure {
        long end = System.nanoTime() + Math.min(patienceNanos, Long.MAX_VALUE / 2);
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
        Integer came = null;
        while (came == null) {
            progress.throwIfFailed();
            if (System.nanoTime() - endNanos > 0) {
                progress.fail(() -> report.explain("the instance at " + link.name
                        + " does not come to the next step. Start all with the same -c and -P"));
                throw new CmtimeFailure();
            }
            try {
                came = link.bytes.poll(GLANCE_MILLIS, TimeUnit.MILLISECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new CmtimeFailure();
            }
        }
        if (came != step) {
            boolean lost = came == LOST;
            progress.fail(() -> report.explain("the instance at " + link.name
                    + (lost
                            ? " has ended before the test was done"
                            : " does another step. Start all with the same -P")));
            throw new CmtimeFailure();
        }
    }

    @Override
    public void close() {
        abandon();
    }

    /** Closes everything, from any thread: who waits for other instances waits no longer. */
    void abandon() {
        ending = true;
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
