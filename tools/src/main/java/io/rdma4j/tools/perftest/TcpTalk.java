package io.rdma4j.tools.perftest;

import io.rdma4j.tools.TerminalText;
import io.rdma4j.tools.messages.Patience;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** Talks over a TCP connection. */
final class TcpTalk implements ControlChannel {
    private static final byte[] DONE = {'d', 'o', 'n', 'e', 0};
    private static final int GLANCE_NANOS = 50_000;
    private static final int DRIVES_PER_LOOK = 64;

    private final Console console;
    private final SocketChannel channel;
    private @Nullable Runnable drive;
    private @Nullable ByteBuffer early;
    private boolean expectsRuns;

    private TcpTalk(Console console, SocketChannel channel) throws IOException {
        this.console = console;
        this.channel = channel;
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        channel.configureBlocking(false);
    }

    /** Connects to the server. */
    static TcpTalk connect(Console console, @Nullable InetAddress source, InetSocketAddress server) throws IOException {
        SocketChannel channel = SocketChannel.open();
        try {
            if (source != null) {
                channel.bind(new InetSocketAddress(source, 0));
            }
            channel.connect(server);
            return new TcpTalk(console, channel);
        } catch (IOException e) {
            channel.close();
            throw e;
        }
    }

    /** Waits for the client. */
    static TcpTalk accept(Console console, InetSocketAddress local) throws IOException {
        try (ServerSocketChannel listener = ServerSocketChannel.open()) {
            listener.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            listener.bind(local, 1);
            return new TcpTalk(console, listener.accept());
        }
    }

    /** The address that the connection has on this side. */
    InetAddress localAddress() throws IOException {
        return ((InetSocketAddress) channel.getLocalAddress()).getAddress();
    }

    @Override
    public void send(byte[] data) throws PerftestFailure {
        ByteBuffer rest = ByteBuffer.wrap(data);
        try {
            while (rest.hasRemaining()) {
                if (channel.write(rest) == 0) {
                    pause();
                }
            }
        } catch (IOException e) {
            throw console.failure(" Unable to write to socket/rdma_cm", e.getMessage());
        }
    }

    @Override
    public byte[] receive(int length) throws PerftestFailure {
        ByteBuffer data = ByteBuffer.allocate(length);
        takeEarly(data);
        Patience patience = new Patience();
        try {
            while (data.hasRemaining()) {
                int came = channel.read(data);
                if (came < 0) {
                    throw gone("it has closed the connection");
                }
                if (came > 0) {
                    patience.refresh();
                    continue;
                }
                // What has begun to come must go on, also while the peer may measure: it expects an answer to it.
                if ((!expectsRuns || data.position() > 0) && patience.isOver()) {
                    throw console.silence(patience);
                }
                pause();
            }
        } catch (IOException e) {
            throw gone(String.valueOf(e.getMessage()));
        }
        return data.array();
    }

    private void takeEarly(ByteBuffer data) {
        ByteBuffer kept = early;
        if (kept != null && data.hasRemaining()) {
            data.put(kept.get());
            early = null;
        }
    }

    private PerftestFailure gone(String why) {
        return console.failure(
                " Unable to read from socket/rdma_cm", "the peer has ended, or was started with other options: " + why);
    }

    private void pause() {
        Runnable work = drive;
        if (work == null) {
            LockSupport.parkNanos(GLANCE_NANOS);
            return;
        }
        for (int i = 0; i < DRIVES_PER_LOOK; i++) {
            work.run();
        }
    }

    @Override
    public void sendDestination(PerftestDestination destination) throws PerftestFailure {
        send(destination.toText());
    }

    @Override
    public PerftestDestination receiveDestination() throws PerftestFailure {
        byte[] text = receive(PerftestDestination.TEXT_BYTES);
        PerftestDestination destination = PerftestDestination.ofText(text);
        if (destination == null) {
            String line = new String(text, StandardCharsets.ISO_8859_1).split("\0", 2)[0].strip();
            throw console.failure(
                    "Couldn't parse line <" + TerminalText.of(line) + ">",
                    "both sides must be the same tool with the same options");
        }
        return destination;
    }

    @Override
    public void expectRuns() {
        expectsRuns = true;
    }

    @Override
    public void driveBy(@Nullable Runnable work) {
        drive = work;
    }

    @Override
    public boolean isOver() {
        if (early != null) {
            return false;
        }
        ByteBuffer one = ByteBuffer.allocate(1);
        try {
            int came = channel.read(one);
            if (came > 0) {
                early = one.flip();
            }
            return came < 0;
        } catch (IOException e) {
            return true;
        }
    }

    @Override
    public void sayDone() throws PerftestFailure {
        send(DONE);
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            console.explain(e.getMessage());
        }
    }
}
