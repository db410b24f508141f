package io.rdma4j.bench.project;

import io.rdma4j.bench.worker.Control;
import io.rdma4j.bench.worker.WorkerAddresses;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.PortSpace;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.WorkCompletion;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * One end of reliable connections with a common completion queue, and a region of memory that the peer may access. Not
 * thread safe.
 */
final class RdmaEnd implements AutoCloseable {
    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    /**
     * The RNR timer: 0.64 ms, as perftest uses without the connection manager.
     *
     * <p>With the connection manager it is 655 ms. An end that gets no processor for a while runs out of receives, and
     * that wait would dominate the measurement.
     */
    static final int RNR_TIMER = 12;

    /** The sizes of an end. */
    record Shape(int queuePairs, int sends, int receives, long regionBytes, int vector) {}

    private final Deque<AutoCloseable> resources = new ArrayDeque<>();
    private final List<QueuePair> queuePairs = new ArrayList<>();
    private final MemoryRegion region;
    private final CompletionQueue completions;
    private final CompletionChannel channel;
    private final WorkCompletion[] batch = WorkCompletion.array(64);
    private long remoteAddress;
    private int remoteKey;

    private RdmaEnd(List<CmId> ids, Shape shape) {
        CmId first = ids.getFirst();
        DeviceContext context = first.verbs();
        ProtectionDomain domain = keep(context.createProtectionDomain());
        channel = keep(context.createCompletionChannel());
        completions = keep(context.createCompletionQueue(
                shape.queuePairs() * (shape.sends() + shape.receives()) + 1, null, channel, shape.vector()));
        Arena arena = Arena.ofShared();
        resources.push(arena);
        region = keep(domain.register(
                arena.allocate(shape.regionBytes(), 4096),
                AccessFlag.LOCAL_WRITE,
                AccessFlag.REMOTE_WRITE,
                AccessFlag.REMOTE_READ,
                AccessFlag.REMOTE_ATOMIC));
        QueuePairCapabilities capabilities = new QueuePairCapabilities(shape.sends(), shape.receives(), 1, 1, 0);
        for (CmId id : ids) {
            queuePairs.add(id.createQueuePair(domain, QueuePairInitAttributes.reliable(completions, capabilities)));
            resources.push(id::destroyQueuePair);
        }
    }

    private <T extends AutoCloseable> T keep(T object) {
        resources.push(object);
        return object;
    }

    /** Creates the passive end. */
    static RdmaEnd serve(Control control, Shape shape) throws IOException {
        CmId listener = CmId.create(PortSpace.TCP);
        listener.bindAddress(new InetSocketAddress(WorkerAddresses.SERVER, 0));
        listener.listen(shape.queuePairs());
        control.send(listener.sourcePort());
        List<CmId> ids = new ArrayList<>();
        for (int i = 0; i < shape.queuePairs(); i++) {
            ids.add(listener.getRequest());
        }
        RdmaEnd end = new RdmaEnd(ids, shape);
        for (CmId id : ids) {
            id.accept(ConnectionParameters.defaults());
        }
        for (QueuePair queuePair : end.queuePairs) {
            queuePair.modify(new QueuePairAttributes().minRnrTimer(RNR_TIMER));
        }
        end.exchange(control);
        return end;
    }

    /** Creates the active end. */
    static RdmaEnd connect(Control control, Shape shape) throws IOException, InterruptedException {
        InetSocketAddress source = new InetSocketAddress(WorkerAddresses.CLIENT, 0);
        InetSocketAddress destination = new InetSocketAddress(WorkerAddresses.SERVER, (int) control.receive());
        List<CmId> ids = new ArrayList<>();
        for (int i = 0; i < shape.queuePairs(); i++) {
            CmId id = CmId.create(PortSpace.TCP);
            id.resolveAddress(source, destination, TIMEOUT);
            id.resolveRoute(TIMEOUT);
            ids.add(id);
        }
        RdmaEnd end = new RdmaEnd(ids, shape);
        List<Thread> connecting = new ArrayList<>();
        // All requests concurrently: the other end replies to none before it has received them all.
        for (CmId id : ids) {
            connecting.add(Thread.ofVirtual().start(() -> id.connect()));
        }
        for (Thread thread : connecting) {
            thread.join();
        }
        end.exchange(control);
        return end;
    }

    private void exchange(Control control) throws IOException {
        control.send(region.address());
        control.send(region.remoteKey());
        remoteAddress = control.receive();
        remoteKey = (int) control.receive();
    }

    QueuePair queuePair() {
        return queuePairs.getFirst();
    }

    List<QueuePair> queuePairs() {
        return queuePairs;
    }

    MemoryRegion region() {
        return region;
    }

    CompletionQueue completions() {
        return completions;
    }

    CompletionChannel channel() {
        return channel;
    }

    long remoteAddress() {
        return remoteAddress;
    }

    int remoteKey() {
        return remoteKey;
    }

    /**
     * Polls once and returns the number of completions, which {@link #completion} returns. All of them are successful.
     */
    int poll() throws IOException {
        int count = completions.poll(batch);
        for (int i = 0; i < count; i++) {
            if (!batch[i].isSuccess()) {
                throw new IOException("a work request failed: " + batch[i]);
            }
        }
        return count;
    }

    /** Polls, and blocks if there are no completions; may return 0. */
    int await() throws IOException {
        int count = pollOrRequestEvent();
        if (count == 0) {
            channel.await().acknowledgeEvents(1);
            count = poll();
        }
        return count;
    }

    /** Polls, and blocks for at most a time if there are no completions; may return 0. */
    int await(Duration timeout) throws IOException {
        int count = pollOrRequestEvent();
        if (count == 0) {
            CompletionQueue reported = channel.await(timeout);
            if (reported != null) {
                reported.acknowledgeEvents(1);
            }
            count = poll();
        }
        return count;
    }

    private int pollOrRequestEvent() throws IOException {
        int count = poll();
        if (count == 0) {
            completions.requestNotification(false);
            count = poll();
        }
        return count;
    }

    WorkCompletion completion(int index) {
        return batch[index];
    }

    /** Closes everything except the identifiers, which end with the process. */
    @Override
    public void close() {
        while (!resources.isEmpty()) {
            try {
                resources.pop().close();
            } catch (Exception e) {
                throw new IllegalStateException("closing failed", e);
            }
        }
    }
}
