package io.rdma4j.tools.pingpong;

import io.rdma4j.tools.command.ToolFailure;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;

/**
 * The TCP connection to one peer of ibv_xsrq_pingpong. The two sides exchange their addresses over it, and at the end a
 * termination message: a target must not be closed while the peer may still send to it.
 */
final class XsrqPeer implements AutoCloseable {
    private static final byte[] END = {'E', 'N', 'D', 0};
    private static final int TIMEOUT_MILLIS = 30_000;
    private static final int POLL_MILLIS = 1;

    private final Socket socket;
    private final PingpongCalls calls;
    private final byte[] end = new byte[END.length];
    private int endBytes;

    XsrqPeer(Socket socket, PingpongCalls calls) {
        this.socket = socket;
        this.calls = calls;
    }

    /**
     * Receives the peer's address.
     *
     * @param index the index of the peer among the clients
     */
    XsrqDestination receive(int index) throws ToolFailure {
        byte[] bytes = new byte[0];
        String reason = "the peer sent no valid address";
        try {
            socket.setSoTimeout(TIMEOUT_MILLIS);
            bytes = socket.getInputStream().readNBytes(XsrqDestination.TEXT_BYTES);
        } catch (IOException e) {
            reason = e.getMessage();
        }
        String explanation = reason;
        return XsrqDestination.parse(new String(bytes, 0, Math.max(0, bytes.length - 1), StandardCharsets.US_ASCII))
                .orElseThrow(() -> calls.failure(
                        String.format(
                                Locale.ROOT,
                                "0/%d: Couldn't read remote address [%d]",
                                XsrqDestination.TEXT_BYTES,
                                index),
                        explanation));
    }

    /** Sends this side's address. */
    void send(XsrqDestination local) throws ToolFailure {
        write((local.toText() + '\0').getBytes(StandardCharsets.US_ASCII), "Couldn't send local address");
    }

    /** Sends the termination message. */
    void sendEnd() throws ToolFailure {
        write(END, "Couldn't send termination ack");
    }

    private void write(byte[] bytes, String line) throws ToolFailure {
        try {
            socket.getOutputStream().write(bytes);
        } catch (IOException e) {
            throw calls.failure(line, e.getMessage());
        }
    }

    /** Returns whether the peer closed the connection before its termination message. */
    boolean isClosed() {
        try {
            socket.setSoTimeout(POLL_MILLIS);
            return !readEnd();
        } catch (SocketTimeoutException open) {
            return false;
        } catch (IOException closed) {
            return true;
        }
    }

    /** Waits for the peer's termination message. */
    void awaitEnd() throws ToolFailure {
        String reason = "the peer has exited. Do both sides use the same -n and -s?";
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

    /**
     * Reads the rest of the peer's termination message. Returns false if the peer closes the connection before its end.
     */
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
            // All messages have been exchanged.
            return;
        }
    }
}
