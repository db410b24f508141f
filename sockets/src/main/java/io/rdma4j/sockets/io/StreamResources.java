package io.rdma4j.sockets.io;

import io.rdma4j.cm.CmId;
import io.rdma4j.cm.CmQueuePairAttributes;
import io.rdma4j.sockets.stream.StreamMemory;
import io.rdma4j.sockets.stream.StreamProtocol;
import io.rdma4j.sockets.stream.StreamSizes;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceAttributes;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.TransportType;
import io.rdma4j.verbs.WorkCompletion;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;

/** Queue pair, completion queue and registered memory of one stream. Not thread safe. */
final class StreamResources implements AutoCloseable {
    private static final int BATCH = 16;
    private static final int MOST_PIECES = 2;
    private static final int ALIGNMENT = 64;

    private final CmId id;
    private final CompletionHub hub;
    private final Arena arena = Arena.ofShared();
    private final ArrayDeque<MemoryRegion> regions = new ArrayDeque<>();
    private final WorkCompletion[] completions = WorkCompletion.array(BATCH);
    private final CompletionQueue queue;
    private final QueuePair queuePair;
    private final QueuePairPort port;
    private final StreamProtocol protocol;
    private final boolean hasImmediate;
    private boolean armed;
    private boolean closed;

    /**
     * Makes all that a stream needs on the identifier's device.
     *
     * @param target hears of completions
     */
    StreamResources(CmId id, StreamSizes wanted, CompletionHub.Target target) {
        this.id = id;
        DeviceContext context = id.verbs();
        DeviceAttributes limits = context.attributes();
        StreamSizes sizes = wanted.fitted(limits.maxQueuePairWorkRequests());
        hasImmediate = context.device().transportType() != TransportType.IWARP;
        hub = CompletionHub.of(context);
        queue = context.createCompletionQueue(sizes.sendQueue() + sizes.receiveQueue(), target, hub.channel());
        int inlineBytes = Math.min(sizes.inlineBytes(), limits.maxInlineBytes());
        queuePair = id.createQueuePair(
                null,
                new CmQueuePairAttributes(
                        new QueuePairCapabilities(sizes.sendQueue(), sizes.receiveQueue(), MOST_PIECES, 1, inlineBytes),
                        queue,
                        queue,
                        false,
                        null,
                        null));
        MemoryRegion local = register(StreamMemory.localBytes(sizes), AccessFlag.LOCAL_WRITE);
        MemoryRegion received = registerForPeer(sizes.receiveBufferBytes());
        MemoryRegion table = registerForPeer(StreamMemory.tableBytes(sizes));
        MemoryRegion words = hasImmediate
                ? local
                : register(QueuePairPort.wordBytes(sizes.sendQueue(), sizes.receiveQueue()), AccessFlag.LOCAL_WRITE);
        port = new QueuePairPort(
                queuePair, local, words, inlineBytes, sizes.sendQueue(), sizes.receiveQueue(), hasImmediate);
        protocol = new StreamProtocol(
                sizes,
                new StreamMemory(
                        local.memory(),
                        received.memory(),
                        received.address(),
                        received.remoteKey(),
                        table.memory(),
                        table.address(),
                        table.remoteKey()),
                port,
                hasImmediate);
    }

    private MemoryRegion registerForPeer(long bytes) {
        return register(bytes, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
    }

    private MemoryRegion register(long bytes, AccessFlag... access) {
        MemorySegment memory = arena.allocate(bytes, ALIGNMENT);
        MemoryRegion region = protectionDomain().register(memory, access);
        regions.push(region);
        return region;
    }

    private ProtectionDomain protectionDomain() {
        return id.protectionDomain();
    }

    /** Registers memory of the user that the peer may write to. */
    MemoryRegion map(MemorySegment memory) {
        MemoryRegion region = protectionDomain().register(memory, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
        regions.push(region);
        return region;
    }

    /** Most payload bytes of a packet. */
    int pathMtuBytes() {
        return queuePair.query().pathMtu().bytes();
    }

    /** Takes {@link #map} back. */
    void unmap(MemoryRegion region) {
        regions.remove(region);
        region.close();
    }

    CompletionHub hub() {
        return hub;
    }

    StreamProtocol protocol() {
        return protocol;
    }

    /** Gives the protocol everything that has completed; drives the device. Returns whether anything had. */
    boolean progress() {
        if (closed) {
            return false; // the hub may have had something to tell when it was closed
        }
        boolean any = false;
        int count;
        do {
            count = queue.poll(completions);
            for (int i = 0; i < count; i++) {
                take(completions[i]);
            }
            any |= count > 0;
        } while (count == completions.length);
        if (any) {
            protocol.update();
        }
        return any;
    }

    private void take(WorkCompletion completion) {
        long place = completion.id();
        if ((place & QueuePairPort.RECEIVE) == 0) {
            protocol.onSendCompleted(place, completion.isSuccess());
            return;
        }
        if (!completion.isSuccess()) {
            return; // flushed: the sends tell why, or the connection manager
        }
        place &= ~QueuePairPort.RECEIVE;
        int word = hasImmediate ? completion.immediate() : port.receivedWord(place);
        port.postReceive(place);
        protocol.onReceived(word, hasImmediate ? (int) completion.byteLength() : -1);
    }

    /**
     * Has the hub told of the next completion. What came before this call is not told of.
     *
     * @return whether this call did it; false if it was done and nothing has come since
     */
    boolean arm() {
        if (armed || closed) {
            return false;
        }
        queue.requestNotification(false);
        armed = true;
        return true;
    }

    /** The hub has told. */
    void disarmed() {
        armed = false;
    }

    @Override
    public void close() {
        closed = true;
        id.destroyQueuePair();
        queue.close();
        regions.forEach(MemoryRegion::close);
        regions.clear();
        arena.close();
    }
}
