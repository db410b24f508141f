package io.rdma4j.acceptance.traffic;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.value.PortSpace;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.wire.rsocket.BufferDescriptor;
import io.rdma4j.wire.rsocket.ConnectData;
import io.rdma4j.wire.rsocket.ControlWord;
import java.lang.foreign.Arena;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Objects;
import java.util.function.UnaryOperator;

/** A peer of an RDMA socket that uses the verbs to send what its script requests. Not thread safe. */
public final class HostilePeer implements AutoCloseable {
    private static final Duration STEP = Duration.ofSeconds(5);
    private static final long WAIT_LIMIT_NANOS = 300_000_000;
    private static final int DEPTH = 64;
    private static final int BYTES = 1 << 20;
    private static final int TABLE_BYTES = 4096;
    private static final int BUFFER_BYTES = 65_536;
    private static final int CREDITS = 384;

    private final CmId id = CmId.create(PortSpace.TCP);
    private final Arena arena = Arena.ofShared();
    private final Deque<Runnable> resources = new ArrayDeque<>();
    private final QueuePair queuePair;
    private final MemoryRegion memory;
    private final WorkCompletion[] batch = WorkCompletion.array(DEPTH);
    private final ReceiveWorkRequest receive = new ReceiveWorkRequest();
    private final ConnectData server;

    /**
     * Connects.
     *
     * @param change changes the connection data of a correct peer
     * @throws io.rdma4j.verbs.RdmaException if the server rejects the connection
     */
    public HostilePeer(InetSocketAddress from, InetSocketAddress to, UnaryOperator<byte[]> change) {
        resources.push(arena::close);
        resources.push(id::close); // closing twice is allowed
        try {
            id.resolveAddress(from, to, STEP);
            id.resolveRoute(STEP);
            queuePair =
                    id.createQueuePair(QueuePairInitAttributes.of(new QueuePairCapabilities(DEPTH, DEPTH, 1, 1, 0)));
            memory = id.protectionDomain().register(arena.allocate(BYTES), VerbsSide.ALL);
            resources.push(memory::close);
            resources.push(id::close);
            for (int i = 0; i < DEPTH; i++) {
                queuePair.postReceive(receive.reset(0).into(memory, 0, TABLE_BYTES));
            }
            id.connect(ConnectionParameters.defaults().withRetries(2, 1).withPrivateData(change.apply(correctData())));
            CmEvent event = Objects.requireNonNull(id.event(), "a connection without an event");
            server = Objects.requireNonNull(ConnectData.parse(event.privateData()), "a server without connection data");
        } catch (RuntimeException e) {
            release();
            throw e;
        }
    }

    /** Returns the connection data of a correct peer. */
    private byte[] correctData() {
        return new ConnectData(
                        false,
                        true,
                        CREDITS,
                        0,
                        new BufferDescriptor(memory.address(), memory.remoteKey(), 2),
                        new BufferDescriptor(memory.address() + TABLE_BYTES, memory.remoteKey(), BUFFER_BYTES))
                .toByteArray();
    }

    /** Returns the part of the server's buffer that its connection data offers. */
    public BufferDescriptor buffer() {
        return server.buffer();
    }

    /** Returns the server's table. */
    public BufferDescriptor table() {
        return server.table();
    }

    /** Posts a request and waits briefly for its completion, whose status is ignored. */
    public void post(UnaryOperator<SendWorkRequest> request) {
        queuePair.postSend(request.apply(new SendWorkRequest().reset(1)).signaled());
        CompletionQueue sends = Objects.requireNonNull(id.sendCompletions());
        CompletionQueue receives = Objects.requireNonNull(id.receiveCompletions());
        for (long begin = System.nanoTime(); sends.poll(batch) == 0; Thread.onSpinWait()) {
            int received = receives.poll(batch);
            for (int i = 0; i < received; i++) {
                if (batch[i].isSuccess()) {
                    queuePair.postReceive(receive.reset(0).into(memory, 0, TABLE_BYTES));
                }
            }
            if (System.nanoTime() - begin > WAIT_LIMIT_NANOS) {
                return;
            }
        }
    }

    /** Sends a control word of the protocol. */
    public void sendControlWord(int kind, int value) {
        post(request -> request.write(0, 0).withImmediate(ControlWord.of(kind, value)));
    }

    /** Writes {@code length} bytes of this side's memory. */
    public void write(long address, int key, int length) {
        post(request -> request.write(address, key).from(memory, 0, length));
    }

    /** Reads {@code length} bytes. */
    public void read(long address, int key, int length) {
        post(request -> request.read(address, key).from(memory, 0, length));
    }

    /** Sends a message of {@code length} bytes. */
    public void send(int length) {
        post(request -> request.from(memory, 0, length));
    }

    /** Writes an entry of the server's table and announces it with a credit update. */
    public void offer(int entry, BufferDescriptor offered, int credit) {
        ByteBuffer bytes = memory.memory().asByteBuffer().order(ByteOrder.nativeOrder());
        offered.write(bytes, 0);
        post(request -> request.write(
                        server.table().address() + (long) entry * BufferDescriptor.LENGTH,
                        server.table().key())
                .from(memory, 0, BufferDescriptor.LENGTH)
                .withImmediate(ControlWord.of(ControlWord.CREDIT, credit)));
    }

    @Override
    public void close() {
        release();
    }

    private void release() {
        while (!resources.isEmpty()) {
            resources.pop().run();
        }
    }
}
