package io.rdma4j.tools.perftest;

import io.rdma4j.tools.TerminalText;
import io.rdma4j.verbs.PathMtu;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * The questions and answers of perftest over a {@link ControlChannel}: the client speaks first, the server answers. All numbers are
 * in network order.
 */
final class Handshake {
    /** Version of the protocol, that of perftest 4.5. */
    static final String VERSION = "6.06";

    private static final double OLDEST = 5.70;
    private static final int VERSION_BYTES = 16;
    private static final int MTU_BYTES = 2;

    /** Behind the zero that ends the version, where perftest's own programs say and read nothing. */
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

    private byte[] exchange(byte[] mine) throws PerftestFailure {
        if (settings.isClient()) {
            control.send(mine);
            return control.receive(mine.length);
        }
        byte[] answer = control.receive(mine.length);
        control.send(mine);
        return answer;
    }

    /** Tells where a queue pair is, and hears where the peer's is. Also used to wait for each other. */
    PerftestDestination swap(PerftestDestination mine) throws PerftestFailure {
        if (settings.isClient()) {
            control.sendDestination(mine);
            return control.receiveDestination();
        }
        PerftestDestination answer = control.receiveDestination();
        control.sendDestination(mine);
        return answer;
    }

    /** Agrees on versions and on the memory that small messages go round in. */
    void greet() throws PerftestFailure {
        if (settings.silentVersions) {
            return;
        }
        ByteBuffer version = ByteBuffer.allocate(VERSION_BYTES);
        version.put(VERSION.getBytes(StandardCharsets.US_ASCII)).put((byte) 0);
        version.put((QUEUE_PAIRS + settings.queuePairs).getBytes(StandardCharsets.US_ASCII));
        byte[] answer = exchange(version.array());
        checkVersion(answer);
        checkQueuePairs(answer);
        settings.cycleBytes = largest("page size", settings.cycleBytes);
        settings.cacheLineBytes = largest("cache line size", settings.cacheLineBytes);
    }

    private void checkVersion(byte[] answer) throws PerftestFailure {
        String version = new String(answer, StandardCharsets.ISO_8859_1).split("\0", 2)[0];
        double number;
        try {
            number = Double.parseDouble(version);
        } catch (NumberFormatException e) {
            throw console.failure(
                    "Current implementation is not compatible with versions older than 5.70",
                    "the peer says '" + TerminalText.of(version) + "'; is it the same tool?");
        }
        if (number < OLDEST) {
            throw console.failure(
                    "Current implementation is not compatible with versions older than 5.70",
                    "the peer has version " + TerminalText.of(version));
        }
    }

    /** Both must have as many queue pairs: each tells the places of its own one by one, and hears as many. */
    private void checkQueuePairs(byte[] answer) throws PerftestFailure {
        String[] words = new String(answer, StandardCharsets.ISO_8859_1).split("\0", -1);
        String told = words.length < 2 ? "" : words[1];
        if (!told.matches(QUEUE_PAIRS + "[0-9]{1,5}")) {
            return; // it is perftest's own program, which does not tell
        }
        int theirs = Integer.parseInt(told.substring(QUEUE_PAIRS.length()));
        if (theirs != settings.queuePairs) {
            throw console.failure(
                    " Failed to exchange data between server and clients",
                    "this side was started with -q " + settings.queuePairs + " and the peer with -q " + theirs
                            + "; start both with the same -q");
        }
    }

    private int largest(String what, int mine) throws PerftestFailure {
        int other = ByteBuffer.wrap(exchange(ByteBuffer.allocate(4).putInt(mine).array()))
                .getInt();
        if (other < 0 || other > Settings.LARGEST_BYTES) {
            throw console.failure(
                    " Failed to exchange " + what + " data between server and client",
                    "the peer says " + other + "; is it the same tool?");
        }
        return Math.max(mine, other);
    }

    /** The smaller of both sides' path MTUs. */
    PathMtu agree(PathMtu mine) throws PerftestFailure {
        if (settings.silentVersions) {
            return mine;
        }
        byte[] text = new byte[MTU_BYTES];
        text[0] = (byte) ('0' + mine.code());
        int other = exchange(text)[0] - '0';
        return other >= 1 && other < mine.code() ? PathMtu.ofCode(other) : mine;
    }

    /** Tells the own figures and hears the peer's. */
    BandwidthFigures swap(BandwidthFigures mine) throws PerftestFailure {
        return new BandwidthFigures(
                swap(mine.sizeBytes()),
                swap(mine.iterations()),
                swap(mine.peak()),
                swap(mine.average()),
                swap(mine.messageRate()));
    }

    private long swap(long mine) throws PerftestFailure {
        return ByteBuffer.wrap(exchange(ByteBuffer.allocate(8).putLong(mine).array()))
                .getLong();
    }

    private double swap(double mine) throws PerftestFailure {
        return Double.longBitsToDouble(swap(Double.doubleToRawLongBits(mine)));
    }

    /** Says that this side is done, and waits for the peer to be. */
    void close(PerftestDestination mine) throws PerftestFailure {
        swap(mine);
        control.sayDone();
    }
}
