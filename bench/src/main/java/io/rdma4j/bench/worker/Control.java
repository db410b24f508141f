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
 * A TCP connection between the two processes of a measurement, for what is not measured: ports and keys before, and the
 * end. First both sides exchange numbers and texts in an agreed order; then the passive side calls {@link #answer}, and
 * from then on the active side may ask and stop it.
 */
public final class Control implements AutoCloseable {
    private static final int ASK_CPU = 1;
    private static final int ASK_COUNT = 2;
    private static final int ASK_COMPILERS = 3;
    private static final int ASK_ALLOCATED = 4;
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

    /** The passive side: takes the one connection of {@code listener}. */
    public static Control accept(ServerSocket listener) throws IOException {
        return new Control(listener.accept());
    }

    /** The active side. */
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

    /** Waits until the other side calls it too. */
    public void meet() throws IOException {
        send(0);
        receive();
    }

    // ---- passive side

    /** Answers the active side from now on, in a thread of its own, until that stops this side. */
    public void answer() {
        Thread.ofPlatform().daemon().name("control").start(() -> {
            try {
                while (!stopped) {
                    answerOne();
                }
            } catch (IOException gone) {
                noteStop();
            }
        });
    }

    private void answerOne() throws IOException {
        int question = in.readInt();
        switch (question) {
            case ASK_CPU -> out.writeLong(Processors.processCpuNanos());
            case ASK_ALLOCATED -> out.writeLong(Footprint.allocatedBytes());
            case ASK_COMPILERS -> out.writeLong(Processors.compilerTicks());
            case ASK_COUNT -> out.writeLong(counter.get());
            case STOP -> out.writeLong(counter.get());
            default -> throw new IOException("question " + question + " is none");
        }
        out.flush();
        if (question == STOP) {
            // Only now: the process may end as soon as it is known.
            noteStop();
        }
    }

    private void noteStop() {
        stopped = true;
        stop.countDown();
    }

    /** Whether the active side is done, or gone. */
    public boolean stopped() {
        return stopped;
    }

    /** Waits until the active side is done, or gone, without using the processor. */
    public void awaitStop() throws InterruptedException {
        stop.await();
    }

    /** Tells how much has arrived; cheap, from one thread. */
    public void count(long value) {
        counter.setRelease(value);
    }

    // ---- active side

    private long ask(int question) throws IOException {
        out.writeInt(question);
        out.flush();
        return in.readLong();
    }

    /** Processor time that the passive process has used, in nanoseconds. */
    public long peerCpuNanos() throws IOException {
        return ask(ASK_CPU);
    }

    /** {@link Footprint#allocatedBytes} of the passive process. */
    public long peerAllocatedBytes() throws IOException {
        return ask(ASK_ALLOCATED);
    }

    /** {@link Processors#compilerTicks} of the passive process. */
    public long peerCompilerTicks() throws IOException {
        return ask(ASK_COMPILERS);
    }

    /** What the passive side has counted. */
    public long peerCount() throws IOException {
        return ask(ASK_COUNT);
    }

    /** Ends the passive side; what it had counted. */
    public long stopPeer() throws IOException {
        return ask(STOP);
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
