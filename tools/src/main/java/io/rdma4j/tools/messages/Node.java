package io.rdma4j.tools.messages;

import io.rdma4j.cm.CmId;
import io.rdma4j.cm.CmQueuePairAttributes;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.CompletionStatus;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.lang.foreign.Arena;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** One connection, datagram service or membership with what it needs to exchange messages. */
final class Node implements AutoCloseable {
    /** Bytes at the front of the receive of a datagram. */
    static final int ROUTE_BYTES = 40;

    private final CmId id;
    private final Arena arena = Arena.ofShared();
    private @Nullable ProtectionDomain domain;
    private @Nullable CompletionQueue sends;
    private @Nullable CompletionQueue receives;
    private @Nullable MemoryRegion region;
    private int messageBytes;

    /** Whether messages can be exchanged. */
    boolean connected;

    /** Where datagrams go; null before it is known. */
    @Nullable
    AddressHandle handle;

    /** Queue pair that datagrams go to. */
    int remoteQueuePair;

    /** Key that datagrams carry. */
    int remoteQueueKey;

    Node(CmId id) {
        this.id = id;
    }

    CmId id() {
        return id;
    }

    /** Makes a reliable connection's queue pair, with a completion queue for each direction. */
    void createConnection(int messages, int bytes) {
        ProtectionDomain made = createDomain();
        int entries = Math.max(1, messages);
        sends = id.verbs().createCompletionQueue(entries, this, null);
        receives = id.verbs().createCompletionQueue(entries, this, null);
        createQueuePair(made, entries, true);
        createMemory(made, messages, bytes, 0);
    }

    /** Makes a queue pair of datagrams, with one completion queue. */
    void createDatagrams(int messages, int bytes) {
        ProtectionDomain made = createDomain();
        int requests = Math.max(1, messages);
        sends = id.verbs().createCompletionQueue(2 * requests, this, null);
        receives = sends;
        createQueuePair(made, requests, false);
        createMemory(made, messages, bytes, ROUTE_BYTES);
    }

    private ProtectionDomain createDomain() {
        ProtectionDomain made = id.verbs().createProtectionDomain();
        domain = made;
        return made;
    }

    private void createQueuePair(ProtectionDomain made, int requests, boolean signalAll) {
        id.createQueuePair(
                made,
                new CmQueuePairAttributes(
                        new QueuePairCapabilities(requests, requests, 1, 1, 0),
                        sends,
                        receives,
                        signalAll,
                        this,
                        null));
    }

    private void createMemory(ProtectionDomain made, int messages, int bytes, int before) {
        messageBytes = bytes;
        if (messages > 0) {
            region = made.register(arena.allocate((long) bytes + before), AccessFlag.LOCAL_WRITE);
        }
    }

    private QueuePair queuePair() {
        return Objects.requireNonNull(id.queuePair());
    }

    MemoryRegion region() {
        return Objects.requireNonNull(region);
    }

    CompletionQueue sends() {
        return Objects.requireNonNull(sends);
    }

    CompletionQueue receives() {
        return Objects.requireNonNull(receives);
    }

    ProtectionDomain domain() {
        return Objects.requireNonNull(domain);
    }

    void postReceives(int messages) {
        for (int i = 0; i < messages; i++) {
            queuePair().postReceive(new ReceiveWorkRequest().reset(i).into(region()));
        }
    }

    void postSends(int messages) {
        for (int i = 0; i < messages; i++) {
            queuePair().postSend(new SendWorkRequest().reset(i).from(region(), 0, messageBytes));
        }
    }

    /** Posts datagrams that carry the own queue pair's number. */
    void postDatagrams(int messages, boolean signaled) {
        for (int i = 0; i < messages; i++) {
            SendWorkRequest request = new SendWorkRequest()
                    .reset(i)
                    .immediate(queuePair().number())
                    .from(region(), 0, messageBytes)
                    .to(Objects.requireNonNull(handle), remoteQueuePair, remoteQueueKey);
            queuePair().postSend(signaled ? request.signaled() : request);
        }
    }

    /** Why the peer took none of the messages that were sent, or null if it took one or more. */
    @Nullable
    CompletionStatus refusalOfSends() {
        WorkCompletion[] one = WorkCompletion.array(1);
        CompletionStatus first = null;
        while (sends().poll(one) == 1) {
            if (one[0].isSuccess()) {
                return null;
            }
            first = first == null ? one[0].status() : first;
        }
        return first;
    }

    @Override
    public void close() {
        if (handle != null) {
            handle.close();
        }
        id.destroyQueuePair();
        if (sends != null) {
            sends.close();
        }
        if (receives != null && !receives.equals(sends)) {
            receives.close();
        }
        if (region != null) {
            region.close();
        }
        if (domain != null) {
            domain.close();
        }
        id.close();
        arena.close();
    }
}
