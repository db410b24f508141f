package io.rdma4j.bench.project;

import io.rdma4j.bench.worker.Control;
import io.rdma4j.bench.worker.WorkerAddresses;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.CmQueuePairAttributes;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.PortSpace;
import io.rdma4j.verbs.AccessFlag;
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
 * One end of reliable connections, all with one completion queue, and a region of memory that the other end may use. Not
 * thread safe.
 */
final class RdmaEnd implements AutoCloseable {
    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    /**
     * 0.64 ms, as perftest has it without the connection manager. That leaves it at 655 ms: an end that gets no processor for
     * a moment runs out of receives, and what is measured then is that wait.
     */
    private static final int RNR_TIMER = 12;

    /** Sizes of an end. */
    record Shape(int queuePairs, int sends, int receives, long regionBytes, int vector) {}

    private final Deque<AutoCloseable> made = new ArrayDeque<>();
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
        made.push(arena);
        region = keep(domain.register(
                arena.allocate(shape.regionBytes(), 4096),
                AccessFlag.LOCAL_WRITE,
                AccessFlag.REMOTE_WRITE,
                AccessFlag.REMOTE_READ,
                AccessFlag.REMOTE_ATOMIC));
        QueuePairCapabilities capabilities = new QueuePairCapabilities(shape.sends(), shape.receives(), 1, 1, 0);
        for (CmId id : ids) {
            queuePairs.add(id.createQueuePair(
                    domain, CmQueuePairAttributes.of(QueuePairInitAttributes.reliable(completions, capabilities))));
            made.push(id::destroyQueuePair);
        }
    }

    private <T extends AutoCloseable> T keep(T object) {
        made.push(object);
        return object;
    }

    /** The passive end. */
    static RdmaEnd serve(Control control, Shape shape) throws IOException {
        CmId listener = CmId.create(PortSpace.TCP, null);
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

    /** The active end. */
    static RdmaEnd connect(Control control, Shape shape) throws IOException, InterruptedException {
        InetSocketAddress source = new InetSocketAddress(WorkerAddresses.CLIENT, 0);
        InetSocketAddress destination = new InetSocketAddress(WorkerAddresses.SERVER, (int) control.receive());
        List<CmId> ids = new ArrayList<>();
        for (int i = 0; i < shape.queuePairs(); i++) {
            CmId id = CmId.create(PortSpace.TCP, null);
            id.resolveAddress(source, destination, TIMEOUT);
            id.resolveRoute(TIMEOUT);
            ids.add(id);
        }
        RdmaEnd end = new RdmaEnd(ids, shape);
        List<Thread> connecting = new ArrayList<>();
        // All requests at once: the other end answers none before it has seen them all.
        for (CmId id : ids) {
            connecting.add(Thread.ofVirtual().start(() -> id.connect(null)));
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

    /** Polls once; how many completions are in {@link #completion}. Each is a success. */
    int poll() throws IOException {
        int count = completions.poll(batch);
        for (int i = 0; i < count; i++) {
            if (!batch[i].isSuccess()) {
                throw new IOException("a work request failed: " + batch[i]);
            }
        }
        return count;
    }

    /** Polls, and blocks if there is nothing; may return 0. */
    int await() throws IOException {
        int count = poll();
        if (count == 0) {
            completions.requestNotification(false);
            count = poll();
            if (count == 0 && channel.await() != null) {
                completions.acknowledgeEvents(1);
                count = poll();
            }
        }
        return count;
    }

    WorkCompletion completion(int index) {
        return batch[index];
    }

    /** Gives up all but the identifiers, which end with the process. */
    @Override
    public void close() {
        while (!made.isEmpty()) {
            try {
                made.pop().close();
            } catch (Exception e) {
                throw new IllegalStateException("closing failed", e);
            }
        }
    }
}
