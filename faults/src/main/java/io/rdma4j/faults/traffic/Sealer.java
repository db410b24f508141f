package io.rdma4j.faults.traffic;

import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Gid;
import io.rdma4j.wire.Icrc;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.nio.ByteBuffer;

/** Makes the ICRC of a packet right, for one sender, who may be a lie, and one receiver. Not thread safe. */
public final class Sealer {
    private final Frame frame = new Frame();
    private final Icrc icrc = new Icrc();

    /**
     * A sender and a receiver.
     *
     * @param from address that packets seem to come from
     * @param fromPort UDP port that they seem to come from
     * @param to address that they go to
     */
    public Sealer(InetAddress from, int fromPort, InetAddress to) {
        Gid source = gid(from);
        Gid destination = gid(to);
        frame.sourceHigh = source.high();
        frame.sourceLow = source.low();
        frame.sourcePort = fromPort;
        frame.destinationHigh = destination.high();
        frame.destinationLow = destination.low();
    }

    private static Gid gid(InetAddress address) {
        io.rdma4j.verbs.Gid gid = io.rdma4j.verbs.Gid.of(address);
        return new Gid(gid.high(), gid.low());
    }

    /** Makes the last four of {@code length} bytes the ICRC of those before. They are at least 16. */
    public void seal(byte[] packet, int length) {
        frame.segment = MemorySegment.ofArray(packet);
        frame.buffer = ByteBuffer.wrap(packet);
        frame.length = length;
        icrc.seal(frame);
    }
}
