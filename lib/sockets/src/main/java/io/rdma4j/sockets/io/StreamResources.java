package io.rdma4j.sockets.io;

import io.rdma4j.cm.CmId;
import io.rdma4j.sockets.stream.StreamMemory;
import io.rdma4j.sockets.stream.StreamProtocol;
import io.rdma4j.sockets.stream.StreamSizes;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceAttributes;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.TransportType;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.wait.Signal;
import io.rdma4j.verbs.wait.WaitDriver;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.util.ArrayDeque;

/** The queue pair, completion queue and registered memory of one stream. Not thread safe. */
final class StreamResources implements AutoCloseable {
    private static final int BATCH = 16;

    /** Maximum number of batches in one call, since a peer may send more than the caller wants to process. */
    private static final int MAX_BATCHES = 16;

    private static final int MAX_PIECES = 2;
    private static final int ALIGNMENT = 64;

    private final QueueNotifications notifications;
    private final Releases releases = new Releases();
    private final MemoryPool.Block block;
    private final ProtectionDomain domain;

    /** Memory of the application. */
    private final ArrayDeque<MemoryRegion> mapped = new ArrayDeque<>();

    private final WorkCompletion[] completions = WorkCompletion.array(BATCH);
    private final int queueEntries;
    private final CompletionQueue queue;
    private final QueuePair queuePair;
    private final QueuePairPort port;
    private final StreamProtocol protocol;
    private final boolean hasImmediate;
    private long completionCount;
    private boolean ended;
    private boolean closed;

    /**
     * Creates all resources of a stream on the identifier's device. If that fails, all of them are released. Each
     * stream has a separate protection domain, so that its peer cannot access memory of other connections, even if it
     * knows their keys.
     *
     * @param changed raised at completions after {@link #arm} has requested it
     */
    StreamResources(CmId id, StreamSettings settings, Signal changed) {
        MemoryPool.Block taken = null;
        try {
            DeviceContext context = id.verbs();
            DeviceAttributes limits = context.attributes();
            hasImmediate = context.device().transportType() != TransportType.IWARP;
            int controlReceives = hasImmediate ? 0 : StreamProtocol.CONTROL_RECEIVES;
            StreamSizes sizes = settings.sizes().fitted(limits.maxQueuePairWorkRequests() - controlReceives);
            int receives = sizes.receiveQueue() + controlReceives;
            long localBytes = StreamMemory.localBytes(sizes);
            long tableBytes = StreamMemory.tableBytes(sizes);
            long wordBytes = hasImmediate ? 0 : QueuePairPort.wordBytes(sizes.sendQueue(), receives);
            taken = MemoryPool.ofStreams()
                    .take(aligned(localBytes)
                            + aligned(sizes.receiveBufferBytes())
                            + aligned(tableBytes)
                            + aligned(wordBytes));
            block = taken;
            SegmentAllocator memory = SegmentAllocator.slicingAllocator(taken.memory());
            domain = context.createProtectionDomain();
            releases.add(domain::close);
            releases.add(this::closeMapped);
            GrownMemory grown = new GrownMemory(domain);
            releases.add(grown::close);
            MemoryRegion local = register(memory, localBytes, AccessFlag.LOCAL_WRITE);
            MemoryRegion received = registerForPeer(memory, sizes.receiveBufferBytes());
            MemoryRegion table = registerForPeer(memory, tableBytes);
            MemoryRegion words = hasImmediate ? local : register(memory, wordBytes, AccessFlag.LOCAL_WRITE);
            queueEntries = sizes.sendQueue() + receives;
            notifications = new QueueNotifications(context, changed);
            releases.add(notifications::close);
            queue = context.createCompletionQueue(queueEntries, notifications.channel());
            releases.add(queue::close);
            int inlineBytes = Math.min(sizes.inlineBytes(), limits.maxInlineBytes());
            queuePair = id.createQueuePair(
                    domain,
                    QueuePairInitAttributes.of(
                                    new QueuePairCapabilities(sizes.sendQueue(), receives, MAX_PIECES, 1, inlineBytes))
                            .withCompletions(queue));
            releases.add(id::destroyQueuePair);
            port = new QueuePairPort(
                    queuePair,
                    local,
                    words,
                    grown,
                    inlineBytes,
                    sizes.sendQueue(),
                    settings.limits().initialCredits(sizes) + controlReceives,
                    hasImmediate);
            protocol = new StreamProtocol(
                    sizes,
                    settings.limits(),
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
            if (releases.closeAfter(failed) && taken != null) {
                MemoryPool.ofStreams().give(taken);
            }
            throw failed;
        }
    }

    private static long aligned(long bytes) {
        return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }

    private MemoryRegion registerForPeer(SegmentAllocator memory, long bytes) {
        return register(memory, bytes, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
    }

    private MemoryRegion register(SegmentAllocator memory, long bytes, AccessFlag... access) {
        MemoryRegion region = domain.register(memory.allocate(bytes, ALIGNMENT), access);
        releases.add(region::close);
        return region;
    }

    /** Registers memory of the application that the peer may write to. */
    MemoryRegion map(MemorySegment memory) {
        MemoryRegion region = domain.register(memory, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
        mapped.push(region);
        return region;
    }

    /** Returns whether the device uses iWARP. */
    boolean isIwarp() {
        return !hasImmediate;
    }

    /** Returns the attributes of the queue pair. */
    QueuePairAttributes queuePairAttributes() {
        return queuePair.query();
    }

    /** Deregisters memory of {@link #map}; has no effect if it is not registered. */
    void unmap(MemoryRegion region) {
        if (mapped.remove(region)) {
            region.close();
        }
    }

    /** Returns the driver that makes progress while a thread waits for completions. */
    WaitDriver waitDriver() {
        return notifications.driver();
    }

    StreamProtocol protocol() {
        return protocol;
    }

    /**
     * Passes completions to the protocol, at most {@value #MAX_BATCHES} batches, and drives the device.
     *
     * @return true if there may be more completions
     */
    boolean progress() {
        if (ended) {
            return false;
        }
        notifications.take();
        int batches = 0;
        int count;
        do {
            count = queue.poll(completions);
            completionCount += count;
            for (int i = 0; i < count; i++) {
                take(completions[i]);
            }
            batches++;
        } while (count == completions.length && batches < MAX_BATCHES);
        if (count > 0 || batches > 1) {
            protocol.update();
        }
        return count == completions.length;
    }

    /** Returns the number of completions so far. It grows whenever the peer has acknowledged or sent anything. */
    long completions() {
        return completionCount;
    }

    /** Passes all earlier completions to the protocol, then reports the end of the connection to it. */
    void disconnected() {
        try {
            for (int remaining = queueEntries; remaining > 0 && progress(); remaining -= BATCH * MAX_BATCHES) {
                // The queue holds at most its number of entries, so all earlier completions are handled.
            }
        } finally {
            protocol.onDisconnected();
        }
    }

    private void take(WorkCompletion completion) {
        long id = completion.id();
        if ((id & QueuePairPort.RECEIVE) == 0) {
            protocol.onSendCompleted(id, completion.isSuccess());
            return;
        }
        if (!completion.isSuccess()) {
            protocol.onReceiveFailed();
            return;
        }
        id &= ~QueuePairPort.RECEIVE;
        int word = hasImmediate ? completion.immediate() : port.receivedWord(id);
        port.postReceive(id);
        protocol.onReceived(word, hasImmediate ? (int) completion.byteLength() : -1);
    }

    /** Requests a notification of the next completion; see {@link QueueNotifications#arm}. */
    boolean arm() {
        return !ended && notifications.arm(queue);
    }

    private void closeMapped() {
        try {
            Releases.closeAll(mapped, MemoryRegion::close);
        } finally {
            mapped.clear();
        }
    }

    /**
     * Revokes the peer's access to memory of the application, and ends the use of all other resources: later calls have
     * no effect. {@link #close} releases the rest, and needs no lock.
     */
    void end() {
        ended = true;
        closeMapped();
    }

    @Override
    public void close() {
        ended = true;
        if (!closed) {
            closed = true;
            releases.close(); // if that fails, the device may still use the memory, so the pool must not
            MemoryPool.ofStreams().give(block);
        }
    }
}
