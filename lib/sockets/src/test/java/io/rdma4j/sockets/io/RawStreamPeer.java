package io.rdma4j.sockets.io;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.PortSpace;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.RemoteMemory;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.wire.rsocket.BufferDescriptor;
import io.rdma4j.wire.rsocket.ConnectData;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A scripted peer of a stream. It connects with the data of rsocket, and then does only what a test requests. It posts
 * no receives, so it never acknowledges a message.
 */
final class RawStreamPeer implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    /** Queue pair numbers that do not exist. Reusing one would end the earlier connection. */
    private static final AtomicInteger QUEUE_PAIRS = new AtomicInteger(16);

    private final EventChannel channel = EventChannel.open();
    private final CmId id = channel.createId(PortSpace.TCP);
    private final Arena arena = Arena.ofShared();
    private @Nullable MemoryRegion table;

    /** Creates a peer at an address, with a resolved route to a listener. */
    private RawStreamPeer(InetAddress source, InetSocketAddress listener) {
        id.resolveAddress(new InetSocketAddress(source, 0), listener, PATIENCE);
        await(CmEvent.Type.ADDRESS_RESOLVED);
        id.resolveRoute(PATIENCE);
        await(CmEvent.Type.ROUTE_RESOLVED);
    }

    /** Creates a connected peer. */
    static RawStreamPeer connected(InetAddress source, InetSocketAddress listener) {
        RawStreamPeer peer = new RawStreamPeer(source, listener);
        peer.id.createQueuePair(QueuePairInitAttributes.of(new QueuePairCapabilities(4, 4, 1, 1, 0)));
        peer.id.connect(request(0));
        peer.await(CmEvent.Type.ESTABLISHED);
        return peer;
    }

    /** Creates a connected peer that receives: a few control messages, and writes to its table. */
    static RawStreamPeer receiving(InetAddress source, InetSocketAddress listener) {
        RawStreamPeer peer = new RawStreamPeer(source, listener);
        peer.id.createQueuePair(QueuePairInitAttributes.of(new QueuePairCapabilities(4, 4, 1, 1, 0)));
        MemoryRegion table = peer.id
                .protectionDomain()
                .register(peer.arena.allocate(64), AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
        peer.table = table;
        for (int i = 0; i < 4; i++) {
            Objects.requireNonNull(peer.id.queuePair()).postReceive(new ReceiveWorkRequest().reset(i));
        }
        peer.id.connect(request(0, table.address(), table.remoteKey()));
        peer.await(CmEvent.Type.ESTABLISHED);
        return peer;
    }

    /** Creates a peer that has sent its request and does not confirm the reply. */
    static RawStreamPeer unconfirmed(InetAddress source, InetSocketAddress listener) {
        RawStreamPeer peer = new RawStreamPeer(source, listener);
        peer.id.connect(request(QUEUE_PAIRS.incrementAndGet()));
        return peer;
    }

    private static ConnectionParameters request(int queuePairNumber) {
        return request(queuePairNumber, 0x1000, 1);
    }

    private static ConnectionParameters request(int queuePairNumber, long tableAddress, int tableKey) {
        BufferDescriptor table = new BufferDescriptor(tableAddress, tableKey, 2);
        BufferDescriptor buffer = new BufferDescriptor(0x2000, 1, 65_536);
        byte[] data = new ConnectData(false, true, 384, 0, table, buffer).toByteArray();
        return ConnectionParameters.NONE
                .withPrivateData(data)
                .withFlowControl(true)
                .withRetries(7, 7)
                .withQueuePairNumber(queuePairNumber);
    }

    /** Writes a 1 into memory of the other end, and returns the status of the write. */
    CompletionStatus write(long remoteAddress, int remoteKey) {
        try (Arena writing = Arena.ofShared();
                MemoryRegion one =
                        id.protectionDomain().register(writing.allocateFrom(ValueLayout.JAVA_BYTE, (byte) 1))) {
            return complete(SendWorkRequest.write(1, one, new RemoteMemory(remoteAddress, remoteKey, 1)));
        }
    }

    /**
     * Sends a message of one byte, which does not fit into the receives of a stream, and returns its completion status.
     */
    CompletionStatus send() {
        try (Arena sending = Arena.ofShared();
                MemoryRegion one = id.protectionDomain().register(sending.allocate(1))) {
            return complete(SendWorkRequest.send(1, one));
        }
    }

    /** Sends a control word several times, each after the previous one was acknowledged. */
    void sendControlWord(int word, int times) {
        for (int i = 0; i < times; i++) {
            assertThat(complete(new SendWorkRequest().reset(1).write(0, 0).withImmediate(word)))
                    .isEqualTo(CompletionStatus.SUCCESS);
        }
    }

    /** Posts a request, and returns the status of its completion. */
    private CompletionStatus complete(SendWorkRequest request) {
        QueuePair queuePair = Objects.requireNonNull(id.queuePair());
        queuePair.postSend(request.signaled());
        WorkCompletion[] one = WorkCompletion.array(1);
        assertThat(queuePair.sendCompletions().await(one, PATIENCE)).isEqualTo(1);
        return one[0].status();
    }

    /** Disconnects with the connection manager, without ending the stream. */
    void disconnect() {
        id.disconnect();
    }

    /** Returns whether the request was answered. */
    boolean isAnswered() {
        try (CmEvent event = channel.poll()) {
            return event != null && event.type() == CmEvent.Type.CONNECT_RESPONSE;
        }
    }

    /** Waits for the next event, which is of this type. */
    void await(CmEvent.Type type) {
        try (CmEvent event = channel.await(PATIENCE)) {
            assertThat(event == null ? null : event.type()).as("%s", event).isEqualTo(type);
        }
    }

    /** Returns an address of the loopback network that no other test uses. */
    static InetAddress loopback() {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        return InetAddress.ofLiteral(
                "127.%d.%d.%d".formatted(random.nextInt(1, 255), random.nextInt(256), random.nextInt(1, 255)));
    }

    @Override
    public void close() {
        if (table != null) {
            table.close();
        }
        id.close();
        arena.close();
        channel.close();
    }
}
