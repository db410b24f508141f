package io.rdma4j.tools.cmtime;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.Optional;

/** Gives the fuzz target of texts access to the records that cmtime exchanges over TCP. */
public final class OutOfBandRecords {
    /** The byte by which the target of texts selects this parser. */
    private static final byte PARSER = 6;

    private OutOfBandRecords() {}

    /**
     * Parses a record of the peer, of the length that is read from the connection.
     *
     * @throws AssertionError if a parsed record differs after it is written and parsed again
     */
    public static void check(byte[] bytes) {
        Optional<PeerRecord> record = PeerRecord.parse(Arrays.copyOf(bytes, PeerRecord.BYTES));
        if (record.isPresent() && !PeerRecord.parse(record.get().toBytes()).equals(record)) {
            throw new AssertionError("a written record is parsed to an equal one");
        }
    }

    /** Returns a seed of the target. */
    public static byte[] seed() {
        byte[] record =
                new PeerRecord(new InetSocketAddress(InetAddress.getLoopbackAddress(), 7174), 10, 3, true).toBytes();
        byte[] seed = new byte[record.length + 1];
        seed[0] = PARSER;
        System.arraycopy(record, 0, seed, 1, record.length);
        return seed;
    }
}
