package io.rdma4j.tools.perftest;

import io.rdma4j.tools.command.TerminalText;
import io.rdma4j.tools.command.ToolFailure;
import io.rdma4j.value.PathMtu;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * Perftest's exchange of parameters and results over a {@link ControlChannel}. The client sends first, then the server.
 * All numbers are in network byte order.
 */
final class Handshake {
    /** The version of the protocol, which perftest 4.5 uses. */
    static final String VERSION = "6.06";

    private static final double OLDEST = 5.70;
    private static final int VERSION_BYTES = 16;
    private static final int MTU_BYTES = 2;

    /**
     * Prefix of the number of queue pairs. It follows the zero that ends the version, where perftest's C programs send
     * and read nothing.
     */
    private static final String QUEUE_PAIRS = "q=";

    private final ControlChannel control;
    private final Settings settings;
    private final Console console;

    Handshake(ControlChannel control, Settings settings, Console console) {
        this.control = control;
        this.settings = settings;
        this.console = console;
    }

    ControlChannel control() {
        return control;
    }

    private byte[] exchange(byte[] local) throws ToolFailure {
        if (settings.isClient()) {
            control.send(local);
            return control.receive(local.length);
        }
        byte[] reply = control.receive(local.length);
        control.send(local);
        return reply;
    }

    /** Exchanges the destinations of a queue pair of each side. Also serves as a barrier. */
    PerftestDestination exchange(PerftestDestination local) throws ToolFailure {
        if (settings.isClient()) {
            control.sendDestination(local);
            return control.receiveDestination();
        }
        PerftestDestination reply = control.receiveDestination();
        control.sendDestination(local);
        return reply;
    }

    /** Checks the peer's version and number of queue pairs, and agrees on the cycle buffer and the cache line size. */
    void agreeOnParameters() throws ToolFailure {
        if (settings.skipVersions) {
            return;
        }
        ByteBuffer version = ByteBuffer.allocate(VERSION_BYTES);
        version.put(VERSION.getBytes(StandardCharsets.US_ASCII)).put((byte) 0);
        version.put((QUEUE_PAIRS + settings.queuePairs).getBytes(StandardCharsets.US_ASCII));
        byte[] reply = exchange(version.array());
        checkVersion(reply);
        checkQueuePairs(reply);
        settings.cycleBytes = largest("page size", settings.cycleBytes);
        settings.cacheLineBytes = largest("cache line size", settings.cacheLineBytes);
    }

    private void checkVersion(byte[] reply) throws ToolFailure {
        String version = new String(reply, StandardCharsets.ISO_8859_1).split("\0", 2)[0];
        double number;
        try {
            number = Double.parseDouble(version);
        } catch (NumberFormatException e) {
            throw console.failure(
                    "Current implementation is not compatible with versions older than 5.70",
                    "the peer sent the version '" + TerminalText.of(version) + "'; is it the same tool?");
        }
        if (number < OLDEST) {
            throw console.failure(
                    "Current implementation is not compatible with versions older than 5.70",
                    "the peer has version " + TerminalText.of(version));
        }
        control.peerVersion(number);
    }

    /**
     * Checks that both sides have the same number of queue pairs, since they exchange their destinations one by one.
     */
    private void checkQueuePairs(byte[] reply) throws ToolFailure {
        String[] words = new String(reply, StandardCharsets.ISO_8859_1).split("\0", -1);
        String field = words.length < 2 ? "" : words[1];
        if (!field.matches(QUEUE_PAIRS + "[0-9]{1,5}")) {
            return; // perftest's C programs do not send it
        }
        int peerQueuePairs = Integer.parseInt(field.substring(QUEUE_PAIRS.length()));
        if (peerQueuePairs != settings.queuePairs) {
            throw console.failure(
                    " Failed to exchange data between server and clients",
                    "this side was started with -q " + settings.queuePairs + " and the peer with -q " + peerQueuePairs
                            + "; start both with the same -q");
        }
    }

    private int largest(String name, int local) throws ToolFailure {
        int other = ByteBuffer.wrap(
                        exchange(ByteBuffer.allocate(4).putInt(local).array()))
                .getInt();
        if (other < 0 || other > Settings.LARGEST_BYTES) {
            throw console.failure(
                    " Failed to exchange " + name + " data between server and client",
                    "the peer sent " + other + "; is it the same tool?");
        }
        return Math.max(local, other);
    }

    /** Agrees on the smaller of the two path MTUs. */
    PathMtu agreeOnMtu(PathMtu local) throws ToolFailure {
        if (settings.skipVersions) {
            return local;
        }
        byte[] text = new byte[MTU_BYTES];
        text[0] = (byte) ('0' + local.code());
        int other = exchange(text)[0] - '0';
        return other >= 1 && other < local.code() ? PathMtu.ofCode(other) : local;
    }

    /** Sends this side's figures and returns the peer's. */
    BandwidthFigures exchange(BandwidthFigures local) throws ToolFailure {
        return new BandwidthFigures(
                exchange(local.sizeBytes()),
                exchange(local.iterations()),
                exchange(local.peak()),
                exchange(local.average()),
                exchange(local.messageRate()));
    }

    private long exchange(long local) throws ToolFailure {
        return ByteBuffer.wrap(exchange(ByteBuffer.allocate(8).putLong(local).array()))
                .getLong();
    }

    private double exchange(double local) throws ToolFailure {
        return Double.longBitsToDouble(exchange(Double.doubleToRawLongBits(local)));
    }

    /** Waits until the peer has also finished, and sends the final message. */
    void close(PerftestDestination local) throws ToolFailure {
        exchange(local);
        control.sendDone();
    }
}
