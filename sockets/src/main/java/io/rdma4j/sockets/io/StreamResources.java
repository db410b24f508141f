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

    /** Batches that one call takes: a peer may say more than anybody asked for. */
    private static final int MOST_BATCHES = 16;

    private static final int MOST_PIECES = 2;
    private static final int ALIGNMENT = 64;

    private final CompletionHub hub;
    private final Releases releases = new Releases();
    private final Arena arena = Arena.ofShared();
    private final ProtectionDomain domain;

    /** Memory of the user. */
    private final ArrayDeque<MemoryRegion> mapped = new ArrayDeque<>();

    private final WorkCompletion[] completions = WorkCompletion.array(BATCH);
    private final int queueEntries;
    private final CompletionQueue queue;
    private final QueuePair queuePair;
    private final QueuePairPort port;
    private final StreamProtocol protocol;
    private final boolean hasImmediate;
    private boolean armed;
    private boolean closed;

    /**
     * Makes all that a stream needs on the identifier's device; where that fails, nothing stays. It has a protection domain
     * of its own, so that its peer cannot reach memory of other connections, whatever keys it knows.
     *
     * @param target hears of completions
     */
    StreamResources(CmId id, StreamSizes wanted, CompletionHub.Target target) {
        try {
            releases.add(arena::close);
            DeviceContext context = id.verbs();
            DeviceAttributes limits = context.attributes();
            StreamSizes sizes = wanted.fitted(limits.maxQueuePairWorkRequests());
            hasImmediate = context.device().transportType() != TransportType.IWARP;
            hub = CompletionHub.of(context);
            domain = context.createProtectionDomain();
            releases.add(domain::close);
            releases.add(() -> mapped.forEach(MemoryRegion::close));
            MemoryRegion local = register(StreamMemory.localBytes(sizes), AccessFlag.LOCAL_WRITE);
            MemoryRegion received = registerForPeer(sizes.receiveBufferBytes());
            MemoryRegion table = registerForPeer(StreamMemory.tableBytes(sizes));
            MemoryRegion words = hasImmediate
                    ? local
                    : register(
                            QueuePairPort.wordBytes(sizes.sendQueue(), sizes.receiveQueue()), AccessFlag.LOCAL_WRITE);
            queueEntries = sizes.sendQueue() + sizes.receiveQueue();
            queue = context.createCompletionQueue(queueEntries, target, hub.channel());
            releases.add(() -> Releases.closeUninterruptibly(queue));
            int inlineBytes = Math.min(sizes.inlineBytes(), limits.maxInlineBytes());
            queuePair = id.createQueuePair(
                    domain,
                    new CmQueuePairAttributes(
                            new QueuePairCapabilities(
                                    sizes.sendQueue(), sizes.receiveQueue(), MOST_PIECES, 1, inlineBytes),
                            queue,
                            queue,
                            false,
                            null,
                            null));
            releases.add(id::destroyQueuePair);
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
        } catch (RuntimeException | Error failed) {
            releases.closeAfter(failed);
            throw failed;
        }
    }

    private MemoryRegion registerForPeer(long bytes) {
        return register(bytes, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
    }

    private MemoryRegion register(long bytes, AccessFlag... access) {
        MemorySegment memory = arena.allocate(bytes, ALIGNMENT);
        MemoryRegion region = domain.register(memory, access);
        releases.add(region::close);
        return region;
    }

    /** Registers memory of the user that the peer may write to. */
    MemoryRegion map(MemorySegment memory) {
        MemoryRegion region = domain.register(memory, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
        mapped.push(region);
        return region;
    }

    /** Most payload bytes of a packet. */
    int pathMtuBytes() {
        return queuePair.query().pathMtu().bytes();
    }

    /** Takes {@link #map} back, if that was not done already. */
    void unmap(MemoryRegion region) {
        if (mapped.remove(region)) {
            region.close();
        }
    }

    CompletionHub hub() {
        return hub;
    }

    StreamProtocol protocol() {
        return protocol;
    }

    /**
     * Gives the protocol what has completed, {@value #MOST_BATCHES} batches at most; drives the device.
     *
     * @return whether more may have completed
     */
    boolean progress() {
        if (closed) {
            return false; // the hub may have had something to tell when it was closed
        }
        int batches = 0;
        int count;
        do {
            count = queue.poll(completions);
            for (int i = 0; i < count; i++) {
                take(completions[i]);
            }
            batches++;
        } while (count == completions.length && batches < MOST_BATCHES);
        if (count > 0 || batches > 1) {
            protocol.update();
        }
        return count == completions.length;
    }

    /** Gives the protocol all that has completed before this call, and then tells it that the connection has gone. */
    void disconnected() {
        try {
            for (int left = queueEntries; left > 0 && progress(); left -= BATCH * MOST_BATCHES) {
                // The queue holds no more than its entries: what it held is taken.
            }
        } finally {
            protocol.onDisconnected();
        }
    }

    private void take(WorkCompletion completion) {
        long place = completion.id();
        if ((place & QueuePairPort.RECEIVE) == 0) {
            protocol.onSendCompleted(place, completion.isSuccess());
            return;
        }
        if (!completion.isSuccess()) {
            protocol.onReceiveFailed();
            return;
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
        releases.close();
    }
}
