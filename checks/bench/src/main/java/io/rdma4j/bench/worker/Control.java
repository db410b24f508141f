package io.rdma4j.bench.worker;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A TCP connection between the two processes of a measurement, for everything that is not measured.
 *
 * <p>First both sides exchange numbers and texts in an agreed order, such as ports and keys. After that the passive
 * side calls {@link #serveQueries}, and the active side may query and stop it.
 */
public final class Control implements AutoCloseable {
    private static final int QUERY_CPU = 1;
    private static final int QUERY_COUNT = 2;
    private static final int QUERY_COMPILERS = 3;
    private static final int QUERY_ALLOCATED = 4;
    private static final int STOP = 5;

    private final Socket socket;
    private final DataInputStream in;
    private final DataOutputStream out;
    private final AtomicLong counter = new AtomicLong();
    private final CountDownLatch stop = new CountDownLatch(1);
    private volatile boolean stopped;

    private Control(Socket socket) throws IOException {
        this.socket = socket;
        socket.setTcpNoDelay(true);
        in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
        out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
    }

    /** Accepts the only connection of {@code listener}, on the passive side. */
    public static Control accept(ServerSocket listener) throws IOException {
        return new Control(listener.accept());
    }

    /** Connects the active side. */
    public static Control connect(int port) throws IOException {
        return new Control(new Socket(InetAddress.getLoopbackAddress(), port));
    }

    // ---- exchange

    /** Sends a number. */
    public void send(long value) throws IOException {
        out.writeLong(value);
        out.flush();
    }

    /** Receives a number. */
    public long receive() throws IOException {
        return in.readLong();
    }

    /** Sends a text. */
    public void sendText(String value) throws IOException {
        out.writeUTF(value);
        out.flush();
    }

    /** Receives a text. */
    public String receiveText() throws IOException {
        return in.readUTF();
    }

    /** Waits until the other side also calls this method. */
    public void awaitPeer() throws IOException {
        send(0);
        receive();
    }

    // ---- passive side

    /** Replies to the active side's queries in a separate thread, until the active side stops this one. */
    public void serveQueries() {
        Thread.ofPlatform().daemon().name("control").start(() -> {
            try {
                while (!stopped) {
                    serveQuery();
                }
            } catch (IOException closed) {
                markStopped();
            }
        });
    }

    private void serveQuery() throws IOException {
        int code = in.readInt();
        switch (code) {
            case QUERY_CPU -> out.writeLong(Processors.processCpuNanos());
            case QUERY_ALLOCATED -> out.writeLong(Footprint.allocatedBytes());
            case QUERY_COMPILERS -> out.writeLong(Processors.compilerTicks());
            case QUERY_COUNT -> out.writeLong(counter.get());
            case STOP -> out.writeLong(counter.get());
            default -> throw new IOException("unknown query " + code);
        }
        out.flush();
        if (code == STOP) {
            // Only after the reply: the process may exit once the stop is visible.
            markStopped();
        }
    }

    private void markStopped() {
        stopped = true;
        stop.countDown();
    }

    /** Returns whether the active side has finished or exited. */
    public boolean stopped() {
        return stopped;
    }

    /** Waits until the active side has finished or exited, without using the processor. */
    public void awaitStop() throws InterruptedException {
        stop.await();
    }

    /** Sets the count that the active side queries. Inexpensive; called by one thread. */
    public void count(long value) {
        counter.setRelease(value);
    }

    // ---- active side

    private long query(int code) throws IOException {
        out.writeInt(code);
        out.flush();
        return in.readLong();
    }

    /** Returns the processor time of the passive process in nanoseconds. */
    public long peerCpuNanos() throws IOException {
        return query(QUERY_CPU);
    }

    /** Returns {@link Footprint#allocatedBytes} of the passive process. */
    public long peerAllocatedBytes() throws IOException {
        return query(QUERY_ALLOCATED);
    }

    /** Returns {@link Processors#compilerTicks} of the passive process. */
    public long peerCompilerTicks() throws IOException {
        return query(QUERY_COMPILERS);
    }

    /** Returns the count of the passive side. */
    public long peerCount() throws IOException {
        return query(QUERY_COUNT);
    }

    /** Stops the passive side and returns its count. */
    public long stopPeer() throws IOException {
        return query(STOP);
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
