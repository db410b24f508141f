package io.rdma4j.tools.cmtime;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.Optional;

/** Lets the fuzz target of texts in: what one cmtime tells the other over TCP. */
public final class OutOfBandRecords {
    /** How the target of texts chooses who reads. */
    private static final byte READER = 6;

    private OutOfBandRecords() {}

    /**
     * Reads a record from the peer, of the length that is read from the connection.
     *
     * @throws AssertionError if it is read as something that is not the same when it is written and read again
     */
    public static void check(byte[] bytes) {
        Optional<PeerRecord> record = PeerRecord.parse(Arrays.copyOf(bytes, PeerRecord.BYTES));
        if (record.isPresent() && !PeerRecord.parse(record.get().toBytes()).equals(record)) {
            throw new AssertionError("a record that is written is read as the same");
        }
    }

    /** An input of the target. */
    public static byte[] seed() {
        byte[] record =
                new PeerRecord(new InetSocketAddress(InetAddress.getLoopbackAddress(), 7174), 10, 3, true).toBytes();
        byte[] seed = new byte[record.length + 1];
        seed[0] = READER;
        System.arraycopy(record, 0, seed, 1, record.length);
        return seed;
    }
}
