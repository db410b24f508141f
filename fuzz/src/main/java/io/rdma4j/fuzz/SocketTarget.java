package io.rdma4j.fuzz;

import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Packet;
import java.util.stream.Stream;

/** F5: what a peer says to an RDMA socket; the first bit of the input chooses between streams and datagrams. */
public final class SocketTarget implements FuzzTarget {
    /** Creates the target. */
    public SocketTarget() {}

    @Override
    public void run(byte[] input) {
        Script script = new Script(input);
        if (script.flag()) {
            new DatagramTalk(script).run();
        } else {
            new StreamTalk(script).run();
        }
    }

    @Override
    public Stream<byte[]> seeds() {
        Stream<byte[]> captured = Stream.of("rstream", "riostream", "rcpp").map(name -> {
            ScriptWriter seed = new ScriptWriter().u8(0, 0);
            StreamTalk.connect(seed);
            Packet packet = new Packet();
            for (Frame frame : Captures.frames(name)) {
                if (packet.parse(frame) == Packet.Result.OK && packet.opcode().hasImmediate()) {
                    StreamTalk.word(seed, packet.immediate(), packet.payloadLength());
                }
            }
            return seed.bytes();
        });
        return Stream.concat(captured, Stream.concat(StreamTalk.seeds(), DatagramTalk.seeds()));
    }
}
