package io.rdma4j.tools.pingpong;

import java.io.IOException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;

/**
 * The TCP connection to one peer of ibv_xsrq_pingpong, over which the two tell where they are, and at the end that they
 * are done: a target must not go while the other side may still send to it.
 */
final class XsrqPeer implements AutoCloseable {
    private static final byte[] END = {'E', 'N', 'D', 0};
    private static final int TIMEOUT_MILLIS = 30_000;
    private static final int GLANCE_MILLIS = 1;

    private final Socket socket;
    private final PingpongCalls calls;
    private final byte[] end = new byte[END.length];
    private int endBytes;

    XsrqPeer(Socket socket, PingpongCalls calls) {
        this.socket = socket;
        this.calls = calls;
    }

    /**
     * Takes the peer's address.
     *
     * @param index place among the clients
     */
    XsrqDestination receive(int index) throws PingpongFailure {
        byte[] bytes = new byte[0];
        String reason = "the peer sent something else, or nothing";
        try {
            socket.setSoTimeout(TIMEOUT_MILLIS);
            bytes = socket.getInputStream().readNBytes(XsrqDestination.TEXT_BYTES);
        } catch (IOException e) {
            reason = e.getMessage();
        }
        String why = reason;
        return XsrqDestination.parse(new String(bytes, 0, Math.max(0, bytes.length - 1), StandardCharsets.US_ASCII))
                .orElseThrow(() -> calls.failure(
                        String.format(
                                Locale.ROOT,
                                "0/%d: Couldn't read remote address [%d]",
                                XsrqDestination.TEXT_BYTES,
                                index),
                        why));
    }

    /** Tells the own address. */
    void send(XsrqDestination local) throws PingpongFailure {
        write((local.toText() + '\0').getBytes(StandardCharsets.US_ASCII), "Couldn't send local address");
    }

    /** Says that this side is done. */
    void sendEnd() throws PingpongFailure {
        write(END, "Couldn't send termination ack");
    }

    private void write(byte[] bytes, String line) throws PingpongFailure {
        try {
            socket.getOutputStream().write(bytes);
        } catch (IOException e) {
            throw calls.failure(line, e.getMessage());
        }
    }

    /** Whether the peer has ended without having said that it is done. */
    boolean isGone() {
        try {
            socket.setSoTimeout(GLANCE_MILLIS);
            return !readEnd();
        } catch (SocketTimeoutException quiet) {
            return false;
        } catch (IOException broken) {
            return true;
        }
    }

    /** Waits until the peer is done. */
    void awaitEnd() throws PingpongFailure {
        String reason = "the peer has gone. Do both sides use the same -n and -s?";
        try {
            socket.setSoTimeout(0);
            if (readEnd()) {
                if (!Arrays.equals(end, END)) {
                    throw calls.failure("Invalid termination ack was accepted");
                }
                return;
            }
        } catch (IOException e) {
            reason = e.getMessage();
        }
        throw calls.failure(
                String.format(Locale.ROOT, "%d/%d: Couldn't read remote termination ack", endBytes, END.length),
                reason);
    }

    /** Reads what is left of the peer's last word; false if it has closed before. */
    private boolean readEnd() throws IOException {
        while (endBytes < end.length) {
            int count = socket.getInputStream().read(end, endBytes, end.length - endBytes);
            if (count < 0) {
                return false;
            }
            endBytes += count;
        }
        return true;
    }

    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException e) {
            // All that was to be said has been said.
            return;
        }
    }
}
