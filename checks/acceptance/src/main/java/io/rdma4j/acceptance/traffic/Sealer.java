package io.rdma4j.acceptance.traffic;

import io.rdma4j.value.Gid;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Icrc;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.nio.ByteBuffer;

/** Sets the ICRC of packets with one source, which may be forged, and one destination. Not thread safe. */
public final class Sealer {
    private final Frame frame = new Frame();
    private final Icrc icrc = new Icrc();

    /**
     * Sets source and destination.
     *
     * @param from source address
     * @param fromPort source UDP port
     * @param to destination address
     */
    public Sealer(InetAddress from, int fromPort, InetAddress to) {
        Gid source = Gid.of(from);
        Gid destination = Gid.of(to);
        frame.sourceHigh = source.high();
        frame.sourceLow = source.low();
        frame.sourcePort = fromPort;
        frame.destinationHigh = destination.high();
        frame.destinationLow = destination.low();
    }

    /** Sets the last four of {@code length} bytes to the ICRC of those before. A packet has at least 16 bytes. */
    public void seal(byte[] packet, int length) {
        frame.segment = MemorySegment.ofArray(packet);
        frame.buffer = ByteBuffer.wrap(packet);
        frame.length = length;
        icrc.seal(frame);
    }
}
