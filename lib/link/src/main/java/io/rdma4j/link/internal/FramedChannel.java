package io.rdma4j.link.internal;

import io.rdma4j.link.LocalChannel;
import java.nio.ByteBuffer;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A channel of complete messages over a stream of bytes. Each message is sent as its length in two bytes, network byte
 * order, followed by its content.
 *
 * <p>The socket's buffer is the queue. If it accepts only part of a message, the rest is kept here and written first;
 * until then, further messages are dropped, and control messages wait (decision 055). The channel is closed if the peer
 * violates the framing.
 */
public final class FramedChannel implements LocalChannel {
    private static final int PREFIX_BYTES = 2;
    private static final int INPUT_BYTES = 64 * 1024;
    private static final ByteBuffer EMPTY = ByteBuffer.allocate(0);

    private final ByteStream stream;
    private final ByteBuffer output = ByteBuffer.allocateDirect(PREFIX_BYTES + MAX_MESSAGE_BYTES);

    /** Received bytes, from {@link #parsed} to the position. */
    private final ByteBuffer input = ByteBuffer.allocateDirect(INPUT_BYTES);

    private final ByteBuffer message = input.duplicate();

    /** The waiting control messages, by subject, in the order in which they are sent. */
    private final Map<Object, ByteBuffer> unsentControl = new LinkedHashMap<>();

    private int parsed;
    private boolean inputEnded;
    private boolean closed;

    /**
     * Creates a channel.
     *
     * @param stream connected stream; the channel closes it
     */
    public FramedChannel(ByteStream stream) {
        this.stream = stream;
        output.limit(0);
    }

    /**
     * Returns the size of a message in bytes.
     *
     * @throws IllegalArgumentException if it is larger than {@link #MAX_MESSAGE_BYTES}
     */
    public static int messageBytes(ByteBuffer header, ByteBuffer body) {
        int bytes = header.remaining() + body.remaining();
        if (bytes > MAX_MESSAGE_BYTES) {
            throw new IllegalArgumentException(
                    "a message of " + bytes + " bytes is longer than " + MAX_MESSAGE_BYTES + " bytes");
        }
        return bytes;
    }

    /** Returns a message with its length in front, as it is sent, in a direct buffer. */
    public static ByteBuffer framed(ByteBuffer message) {
        int bytes = messageBytes(message, EMPTY);
        ByteBuffer framed = ByteBuffer.allocateDirect(PREFIX_BYTES + bytes);
        return framed.putShort((short) bytes).put(message.duplicate()).flip();
    }

    @Override
    public boolean send(ByteBuffer header, ByteBuffer body) {
        int bytes = messageBytes(header, body);
        return !closed && flush() && write(header, body, bytes);
    }

    @Override
    public void sendControl(Object subject, ByteBuffer control) {
        int bytes = messageBytes(control, EMPTY);
        if (closed || flush() && write(control, EMPTY, bytes)) {
            return;
        }
        ByteBuffer copy = ByteBuffer.allocate(bytes);
        copy.put(0, control, control.position(), bytes);
        unsentControl.remove(subject); // a later message is sent after those that wait
        unsentControl.put(subject, copy);
        if (!closed) {
            stream.wantsWrite(true);
        }
    }

    @Override
    public boolean hasUnsentControl() {
        return !closed && !unsentControl.isEmpty();
    }

    /** Writes a message, at least in part, when nothing else is left to write. Returns false if the stream accepts nothing now. */
    private boolean write(ByteBuffer header, ByteBuffer body, int bytes) {
        output.clear();
        output.putShort((short) bytes);
        output.put(PREFIX_BYTES, header, header.position(), header.remaining());
        output.put(PREFIX_BYTES + header.remaining(), body, body.position(), body.remaining());
        output.position(0).limit(PREFIX_BYTES + bytes);
        int written = stream.write(output);
        if (written <= 0) {
            output.limit(output.position());
            closed |= written == ByteStream.ENDED;
            return false;
        }
        if (output.hasRemaining()) {
            stream.wantsWrite(true);
        }
        return true;
    }

    /**
     * Writes the rest of a partly written message, and the control messages that wait. Returns true if nothing is left and the channel
     * is open.
     */
    private boolean flush() {
        if (!output.hasRemaining() && unsentControl.isEmpty()) {
            return true;
        }
        if (!flushOutput() || !flushControl()) {
            return false;
        }
        stream.wantsWrite(false);
        return true;
    }

    private boolean flushOutput() {
        if (output.hasRemaining() && stream.write(output) == ByteStream.ENDED) {
            closed = true;
            output.limit(output.position());
            stream.wantsWrite(false);
        }
        return !closed && !output.hasRemaining();
    }

    private boolean flushControl() {
        Iterator<ByteBuffer> waiting = unsentControl.values().iterator();
        while (waiting.hasNext()) {
            ByteBuffer next = waiting.next();
            if (!write(next, EMPTY, next.remaining())) {
                return false;
            }
            waiting.remove();
            if (output.hasRemaining()) {
                return false; // the rest of this message comes before the next one
            }
        }
        return true;
    }

    @Override
    public @Nullable ByteBuffer poll() {
        if (!closed) {
            flush();
        }
        ByteBuffer next = nextMessage();
        if (next == null && !inputEnded) {
            fill();
            next = nextMessage();
        }
        return next;
    }

    /** Returns the next complete message of the input, or null. */
    private @Nullable ByteBuffer nextMessage() {
        int available = input.position() - parsed;
        if (available < PREFIX_BYTES) {
            return null;
        }
        int bytes = input.getShort(parsed) & 0xffff;
        if (bytes > MAX_MESSAGE_BYTES) {
            input.clear();
            parsed = 0;
            end();
            return null;
        }
        if (available - PREFIX_BYTES < bytes) {
            return null;
        }
        int start = parsed + PREFIX_BYTES;
        parsed = start + bytes;
        message.limit(start + bytes).position(start);
        return message;
    }

    private void fill() {
        if (parsed == input.position()) {
            input.clear();
            parsed = 0;
        } else if (INPUT_BYTES - parsed < PREFIX_BYTES + MAX_MESSAGE_BYTES) {
            input.flip().position(parsed);
            input.compact();
            parsed = 0;
        }
        if (stream.read(input) == ByteStream.ENDED) {
            end();
        }
    }

    private void end() {
        inputEnded = true;
        closed = true;
        unsentControl.clear();
        stream.close();
    }

    @Override
    public boolean isClosed() {
        return closed;
    }

    @Override
    public void close() {
        end();
    }
}
