package io.rdma4j.tools.messages;

import io.rdma4j.cm.CmId;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.CompletionStatus;
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
import java.lang.foreign.Arena;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** One connection, datagram service or group membership, with the resources for exchanging messages. */
final class Node implements AutoCloseable {
    /** The space for the network header at the start of a datagram's receive buffer, in bytes. */
    static final int GRH_BYTES = 40;

    private final CmId id;
    private final Arena arena = Arena.ofShared();
    private @Nullable ProtectionDomain domain;
    private @Nullable CompletionQueue sends;
    private @Nullable CompletionQueue receives;
    private @Nullable MemoryRegion region;
    private int messageBytes;

    /** True if messages can be exchanged. */
    boolean connected;

    /** The destination of datagrams, or null before it is known. */
    @Nullable
    AddressHandle handle;

    /** The queue pair number to which datagrams are sent. */
    int remoteQueuePair;

    /** The queue key that datagrams carry. */
    int remoteQueueKey;

    Node(CmId id) {
        this.id = id;
    }

    CmId id() {
        return id;
    }

    /** Creates a reliable connection's queue pair, with a completion queue for each direction. */
    void createConnection(int messages, int bytes) {
        ProtectionDomain pd = createDomain();
        int entries = Math.max(1, messages);
        sends = id.verbs().createCompletionQueue(entries, this, null, 0);
        receives = id.verbs().createCompletionQueue(entries, this, null, 0);
        createQueuePair(pd, entries, true, true);
        createMemory(pd, messages, bytes, 0);
    }

    /**
     * Creates a datagram queue pair with one completion queue.
     *
     * @param loopback false to keep it from receiving its own datagrams to a multicast group
     */
    void createDatagrams(int messages, int bytes, boolean loopback) {
        ProtectionDomain pd = createDomain();
        int requests = Math.max(1, messages);
        sends = id.verbs().createCompletionQueue(2 * requests, this, null, 0);
        receives = sends;
        createQueuePair(pd, requests, false, loopback);
        createMemory(pd, messages, bytes, GRH_BYTES);
    }

    private ProtectionDomain createDomain() {
        ProtectionDomain pd = id.verbs().createProtectionDomain();
        domain = pd;
        return pd;
    }

    private void createQueuePair(ProtectionDomain pd, int requests, boolean signalAll, boolean loopback) {
        id.createQueuePair(
                pd,
                QueuePairInitAttributes.of(new QueuePairCapabilities(requests, requests, 1, 1, 0))
                        .withCompletions(sends)
                        .withReceiveCompletions(receives)
                        .withSignalAll(signalAll)
                        .withContext(this)
                        .withBlockMulticastLoopback(!loopback));
    }

    private void createMemory(ProtectionDomain pd, int messages, int bytes, int before) {
        messageBytes = bytes;
        if (messages > 0) {
            region = pd.register(arena.allocate((long) bytes + before), AccessFlag.LOCAL_WRITE);
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

    /** Posts datagrams that carry this side's queue pair number as immediate data. */
    void postDatagrams(int messages, boolean signaled) {
        for (int i = 0; i < messages; i++) {
            SendWorkRequest request = new SendWorkRequest()
                    .reset(i)
                    .withImmediate(queuePair().number())
                    .from(region(), 0, messageBytes)
                    .to(Objects.requireNonNull(handle), remoteQueuePair, remoteQueueKey);
            queuePair().postSend(signaled ? request.signaled() : request);
        }
    }

    /** Returns the status of the first failed send, or null if a send succeeded or none failed. */
    @Nullable
    CompletionStatus sendFailure() {
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
