package io.rdma4j.tools.perftest;

import io.rdma4j.tools.command.ReceiveTimeout;
import io.rdma4j.tools.command.TerminalText;
import io.rdma4j.tools.command.ToolFailure;
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

/** A control channel over a TCP connection. */
final class TcpControlChannel implements ControlChannel {
    private static final byte[] DONE = {'d', 'o', 'n', 'e', 0};
    private static final int PAUSE_NANOS = 50_000;
    private static final int POLLS_PER_PAUSE = 64;

    private final Console console;
    private final SocketChannel channel;
    private @Nullable Runnable progressTask;
    private @Nullable ByteBuffer early;
    private boolean expectsRuns;

    private TcpControlChannel(Console console, SocketChannel channel) throws IOException {
        this.console = console;
        this.channel = channel;
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        channel.configureBlocking(false);
    }

    /** Connects to the server, from {@code source} unless it is null. */
    static TcpControlChannel connect(Console console, @Nullable InetAddress source, InetSocketAddress server)
            throws IOException {
        SocketChannel channel = SocketChannel.open();
        try {
            if (source != null) {
                channel.bind(new InetSocketAddress(source, 0));
            }
            channel.connect(server);
            return new TcpControlChannel(console, channel);
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    /** Waits for the client to connect. */
    static TcpControlChannel accept(Console console, InetSocketAddress local) throws IOException {
        try (ServerSocketChannel listener = ServerSocketChannel.open()) {
            listener.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            listener.bind(local, 1);
            return new TcpControlChannel(console, listener.accept());
        }
    }

    /** Returns the local address of the connection. */
    InetAddress localAddress() throws IOException {
        return ((InetSocketAddress) channel.getLocalAddress()).getAddress();
    }

    @Override
    public void send(byte[] data) throws ToolFailure {
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
    public byte[] receive(int length) throws ToolFailure {
        ByteBuffer data = ByteBuffer.allocate(length);
        takeEarly(data);
        ReceiveTimeout timeout = new ReceiveTimeout();
        try {
            while (data.hasRemaining()) {
                int count = channel.read(data);
                if (count < 0) {
                    throw peerClosed("it closed the connection");
                }
                if (count > 0) {
                    timeout.restart();
                    continue;
                }
                // A message that has started must be completed in time, even while the peer may be measuring.
                if ((!expectsRuns || data.position() > 0) && timeout.isExpired()) {
                    throw console.noParameters(timeout);
                }
                pause();
            }
        } catch (IOException e) {
            throw peerClosed(String.valueOf(e.getMessage()));
        }
        return data.array();
    }

    private void takeEarly(ByteBuffer data) {
        ByteBuffer received = early;
        if (received != null && data.hasRemaining()) {
            data.put(received.get());
            early = null;
        }
    }

    private ToolFailure peerClosed(String why) {
        return console.failure(
                " Unable to read from socket/rdma_cm",
                "the peer has exited, or was started with other options: " + why);
    }

    private void pause() {
        Runnable task = progressTask;
        if (task == null) {
            LockSupport.parkNanos(PAUSE_NANOS);
            return;
        }
        for (int i = 0; i < POLLS_PER_PAUSE; i++) {
            task.run();
        }
    }

    @Override
    public void sendDestination(PerftestDestination destination) throws ToolFailure {
        send(destination.toText());
    }

    @Override
    public PerftestDestination receiveDestination() throws ToolFailure {
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
    public void driveWith(@Nullable Runnable task) {
        progressTask = task;
    }

    @Override
    public boolean isClosed() {
        if (early != null) {
            return false;
        }
        ByteBuffer one = ByteBuffer.allocate(1);
        try {
            int count = channel.read(one);
            if (count > 0) {
                early = one.flip();
            }
            return count < 0;
        } catch (IOException e) {
            return true;
        }
    }

    @Override
    public void sendDone() throws ToolFailure {
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
