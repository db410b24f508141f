package io.rdma4j.fuzz;

import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Packet;
import java.util.stream.Stream;

/** F5: messages of a peer to an RDMA socket. The first bit of the input selects streams or datagrams. */
public final class SocketTarget implements FuzzTarget {
    /** Creates the target. */
    public SocketTarget() {}

    @Override
    public void run(byte[] input) {
        Script script = new Script(input);
        if (script.flag()) {
            new DatagramSession(script).run();
        } else {
            new StreamSession(script).run();
        }
    }

    @Override
    public Stream<byte[]> seeds() {
        Stream<byte[]> captured = Stream.of("rstream", "riostream", "rcpp").map(name -> {
            ScriptWriter seed = new ScriptWriter().u8(0, 0);
            StreamSession.connect(seed);
            Packet packet = new Packet();
            for (Frame frame : Captures.frames(name)) {
                if (packet.parse(frame) == Packet.Result.OK && packet.opcode().hasImmediate()) {
                    StreamSession.controlWord(seed, packet.immediate(), packet.payloadLength());
                }
            }
            return seed.bytes();
        });
        return Stream.concat(captured, Stream.concat(StreamSession.seeds(), DatagramSession.seeds()));
    }
}
