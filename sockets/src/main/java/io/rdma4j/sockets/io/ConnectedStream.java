package io.rdma4j.sockets.io;

import io.rdma4j.sockets.stream.StreamProtocol;
import io.rdma4j.verbs.RdmaException;
import java.io.IOException;
import java.net.SocketException;
import java.nio.ByteBuffer;

/** What a connected endpoint does with its stream, in the terms of java.net. Under the endpoint's lock. */
final class ConnectedStream {
    private final StreamResources resources;
    private final StreamProtocol protocol;

    ConnectedStream(StreamResources resources) {
        this.resources = resources;
        this.protocol = resources.protocol();
    }

    int receive(ByteBuffer target, boolean leave) throws IOException {
        resources.progress();
        int count = leave ? protocol.peek(target) : protocol.read(target);
        if (count > 0 || !target.hasRemaining()) {
            return count;
        }
        String broken = protocol.isBroken();
        if (broken != null) {
            throw SocketFailures.reset(broken);
        }
        return protocol.isInputEnded() ? -1 : 0;
    }

    int write(ByteBuffer source) throws IOException {
        requireWritable();
        return protocol.write(source);
    }

    int writeMapped(ByteBuffer source, long offset) throws IOException {
        requireWritable();
        return protocol.writeMapped(source, offset);
    }

    private void requireWritable() throws IOException {
        resources.progress();
        if (protocol.isOutputShut() || !protocol.isOpen()) {
            String broken = protocol.isBroken();
            throw broken == null ? new SocketException("Broken pipe") : SocketFailures.reset(broken);
        }
    }

    int availableBytes() {
        resources.progress();
        return protocol.availableBytes();
    }

    void shutdownInput() {
        protocol.shutdownInput();
    }

    void shutdownOutput() {
        protocol.shutdownOutput();
    }

    void keepAlive() {
        resources.progress();
        protocol.keepAlive();
    }

    /** What it is ready for; {@code toWait} has the hub told of what comes after this. */
    int readiness(boolean toWait) {
        try {
            look(toWait);
        } catch (RdmaException broken) {
            return Readiness.IN | Readiness.OUT | Readiness.ERROR;
        }
        int ready = protocol.availableBytes() > 0 || protocol.isInputEnded() ? Readiness.IN : 0;
        ready |= protocol.canWrite() || protocol.isOutputShut() || !protocol.isOpen() ? Readiness.OUT : 0;
        ready |= protocol.isDisconnected() ? Readiness.HANG_UP : 0;
        return protocol.isBroken() == null ? ready : ready | Readiness.IN | Readiness.ERROR;
    }

    /** Whether the peer has all that was written, or never will; who waits for it is told of what comes after this. */
    boolean isQuiet() {
        try {
            look(true);
        } catch (RdmaException broken) {
            return true;
        }
        return protocol.isQuiet() || protocol.isBroken() != null;
    }

    private void look(boolean toWait) {
        resources.progress();
        if (toWait && resources.arm()) {
            resources.progress(); // what came before it was armed is not told
        }
    }

    /** What it is made of. */
    StreamResources resources() {
        return resources;
    }
}
