package io.rdma4j.sockets.io;

import io.rdma4j.sockets.stream.StreamProtocol;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.wait.Signal;
import java.io.IOException;
import java.net.SocketException;
import java.nio.ByteBuffer;

/**
 * The calls of a connected endpoint on its stream, with the exceptions of java.net. Called with the endpoint's lock
 * held.
 */
final class ConnectedStream {
    /**
     * Maximum number of consecutive calls without polling, so that events such as the end of the connection are
     * noticed.
     */
    private static final int MAX_CALLS_WITHOUT_POLL = 16;

    private final StreamResources resources;
    private final StreamProtocol protocol;
    private final Signal changed;
    private int callsWithoutPoll;

    /** Creates a stream. {@code changed} is raised if a call leaves completions unhandled. */
    ConnectedStream(StreamResources resources, Signal changed) {
        this.changed = changed;
        this.resources = resources;
        this.protocol = resources.protocol();
    }

    /**
     * Receives available bytes. If there are any, does not poll for more, for the reasons given at
     * {@link #beforeWrite}.
     */
    int receive(ByteBuffer target, boolean leave) throws IOException {
        progressUnless(protocol.availableBytes() > 0);
        int count = leave ? protocol.peek(target) : protocol.read(target);
        if (count > 0 || !target.hasRemaining()) {
            return count;
        }
        String broken = protocol.failure();
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
     * Polls before a write only if the data does not fit. Polling costs a system call. It also makes the device send a
     * separate acknowledgement of the request to which the application is responding, ahead of the response.
     */
    private void beforeWrite(int bytes) throws IOException {
        progressUnless(protocol.hasSpaceFor(bytes));
        requireWritable();
    }

    private void progressUnless(boolean canSkip) {
        if (canSkip && callsWithoutPoll < MAX_CALLS_WITHOUT_POLL) {
            callsWithoutPoll++;
        } else {
            progress();
        }
    }

    private boolean progress() {
        callsWithoutPoll = 0;
        return resources.progress();
    }

    private void requireWritable() throws IOException {
        if (protocol.isOutputShut() || !protocol.isOpen()) {
            String broken = protocol.failure();
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

    /** Sends a keep-alive. Returns the number of completions before it. */
    long keepAlive() {
        progress();
        protocol.keepAlive();
        return resources.completions();
    }

    long completionsToWait() {
        check(SocketEndpoint.Check.ARM);
        return resources.completions();
    }

    /** Returns the readiness of the stream. */
    int readiness(SocketEndpoint.Check check) {
        try {
            check(check);
        } catch (RdmaException broken) {
            return Readiness.IN | Readiness.OUT | Readiness.ERROR;
        }
        int ready = protocol.availableBytes() > 0 || protocol.isInputEnded() ? Readiness.IN : 0;
        ready |= protocol.canWrite() || protocol.isOutputShut() || !protocol.isOpen() ? Readiness.OUT : 0;
        ready |= protocol.isDisconnected() ? Readiness.HANG_UP : 0;
        return protocol.failure() == null ? ready : ready | Readiness.IN | Readiness.ERROR;
    }

    /**
     * Returns whether the peer has received all written bytes, or can no longer receive them. Waiters are notified of
     * later changes.
     */
    boolean isQuiet() {
        try {
            check(SocketEndpoint.Check.ARM);
        } catch (RdmaException broken) {
            return true;
        }
        return protocol.isQuiet() || protocol.failure() != null;
    }

    private void check(SocketEndpoint.Check check) {
        boolean more = progress();
        if (check == SocketEndpoint.Check.ARM) {
            more = resources.arm() ? progress() : more; // completions before arming are not reported
            if (more) {
                changed.raise(); // nor are completions that the call left unhandled
            }
        }
    }

    /** Returns the resources of the stream. */
    StreamResources resources() {
        return resources;
    }
}
