package io.rdma4j.bench.project;

import io.rdma4j.cm.CmId;
import io.rdma4j.cm.DatagramParameters;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * A queue pair of unreliable datagrams and its receives. Not thread safe.
 *
 * <p>The receive with number {@code n} uses slot {@code n}.
 */
final class DatagramEnd implements AutoCloseable {
    private static final int OUTBOX_BYTES = 4096;
    private static final int ROUTE_HEADER_BYTES = 40;

    private final CmId id;
    private final Arena arena = Arena.ofShared();
    private final ProtectionDomain domain;
    private final CompletionQueue completions;
    private final QueuePair queuePair;
    private final MemoryRegion region;
    private final int slotBytes;
    private final WorkCompletion[] batch = WorkCompletion.array(64);
    private final ReceiveWorkRequest[] receives = new ReceiveWorkRequest[64];
    private int receiveCount;

    DatagramEnd(CmId id, int sends, int receives, int messageBytes) {
        this.id = id;
        domain = id.verbs().createProtectionDomain();
        completions = id.verbs().createCompletionQueue(sends + receives + 1);
        slotBytes = ROUTE_HEADER_BYTES + ((messageBytes + 7) & -8);
        region = domain.register(
                arena.allocate(OUTBOX_BYTES + (long) receives * slotBytes, 4096), AccessFlag.LOCAL_WRITE);
        queuePair = id.createQueuePair(
                domain,
                QueuePairInitAttributes.of(
                        QueuePairType.UNRELIABLE_DATAGRAM,
                        completions,
                        new QueuePairCapabilities(sends, receives, 1, 1, 0)));
        Arrays.setAll(this.receives, _ -> new ReceiveWorkRequest());
        for (int i = 0; i < receives; i++) {
            prepareReceive(i);
        }
        postReceives();
    }

    int queuePairNumber() {
        return queuePair.number();
    }

    /** Returns the memory that messages are sent from. */
    MemorySegment outbox() {
        return region.memory();
    }

    /** Sets the first {@code bytes} of the outbox as the message of a request. */
    void fill(SendWorkRequest request, int bytes) {
        request.from(region, 0, bytes);
    }

    /** Posts requests as one batch. */
    void post(SendWorkRequest... requests) {
        queuePair.postSends(requests, requests.length);
    }

    /** Prepares a receive into a slot; {@link #postReceives} posts the prepared ones. */
    void prepareReceive(long slot) {
        receives[receiveCount++].reset(slot).into(region, OUTBOX_BYTES + slot * slotBytes, slotBytes);
        if (receiveCount == receives.length) {
            postReceives();
        }
    }

    void postReceives() {
        queuePair.postReceives(receives, receiveCount);
        receiveCount = 0;
    }

    /** Returns the message in a slot, without the route header. */
    MemorySegment received(long slot) {
        return region.memory()
                .asSlice(OUTBOX_BYTES + slot * slotBytes + ROUTE_HEADER_BYTES, slotBytes - ROUTE_HEADER_BYTES);
    }

    AddressHandle address(DatagramParameters peer) {
        return domain.createAddressHandle(peer.addressVector());
    }

    AddressHandle senderAddress(WorkCompletion completion) {
        MemorySegment slot = region.memory().asSlice(OUTBOX_BYTES + completion.id() * slotBytes, slotBytes);
        return domain.createAddressHandle(completion, slot, id.portNumber());
    }

    int poll() throws IOException {
        int count = completions.poll(batch);
        for (int i = 0; i < count; i++) {
            if (!batch[i].isSuccess()) {
                throw new IOException("a work request failed: " + batch[i]);
            }
        }
        return count;
    }

    WorkCompletion completion(int index) {
        return batch[index];
    }

    @Override
    public void close() {
        id.destroyQueuePair();
        region.close();
        completions.close();
        arena.close();
    }
}
