package io.rdma4j.sockets.io;

import io.rdma4j.sockets.stream.StreamProtocol;
import io.rdma4j.verbs.RdmaException;
import java.io.IOException;
import java.net.SocketException;
import java.nio.ByteBuffer;

/** What a connected endpoint does with its stream, in the terms of java.net. Under the endpoint's lock. */
final class ConnectedStream {
    /** So many calls in a row may be made without a look at what has come: the end of the connection, for one. */
    private static final int MOST_BLIND_CALLS = 16;

    private final StreamResources resources;
    private final StreamProtocol protocol;
    private final WaitList waiting;
    private int blindCalls;

    /** A stream; who waits for it is told of what one call does not take. */
    ConnectedStream(StreamResources resources, WaitList waiting) {
        this.waiting = waiting;
        this.resources = resources;
        this.protocol = resources.protocol();
    }

    /** Gives what is there without a look for more, which would cost what is told at {@link #beforeWrite}. */
    int receive(ByteBuffer target, boolean leave) throws IOException {
        progressUnless(protocol.availableBytes() > 0);
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
        beforeWrite(source.remaining());
        return protocol.write(source);
    }

    int writeMapped(ByteBuffer source, long offset) throws IOException {
        progress();
        requireWritable();
        return protocol.writeMapped(source, offset);
    }

    /**
     * What fits leaves at once. To look for input first would cost a system call, and have the device send the bare
     * acknowledgement of what the application is answering ahead of the answer.
     */
    private void beforeWrite(int bytes) throws IOException {
        progressUnless(protocol.hasSpaceFor(bytes));
        requireWritable();
    }

    private void progressUnless(boolean canDoWithout) {
        if (canDoWithout && blindCalls < MOST_BLIND_CALLS) {
            blindCalls++;
        } else {
            progress();
        }
    }

    private boolean progress() {
        blindCalls = 0;
        return resources.progress();
    }

    private void requireWritable() throws IOException {
        if (protocol.isOutputShut() || !protocol.isOpen()) {
            String broken = protocol.isBroken();
            throw broken == null ? new SocketException("Broken pipe") : SocketFailures.reset(broken);
        }
    }

    int availableBytes() {
        progress();
        return protocol.availableBytes();
    }

    void shutdownInput() {
        protocol.shutdownInput();
    }

    void shutdownOutput() {
        protocol.shutdownOutput();
    }

    void keepAlive() {
        progress();
        protocol.keepAlive();
    }

    /** What it is ready for. */
    int readiness(SocketEndpoint.Look look) {
        try {
            look(look);
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
            look(SocketEndpoint.Look.TO_WAIT);
        } catch (RdmaException broken) {
            return true;
        }
        return protocol.isQuiet() || protocol.isBroken() != null;
    }

    private void look(SocketEndpoint.Look look) {
        if (look == SocketEndpoint.Look.KNOWN) {
            return;
        }
        boolean more = progress();
        if (look == SocketEndpoint.Look.TO_WAIT) {
            more = resources.arm() ? progress() : more; // what came before it was armed is not told
            if (more) {
                waiting.signalAll(); // nor is what one call does not take
            }
        }
    }

    /** What it is made of. */
    StreamResources resources() {
        return resources;
    }
}
