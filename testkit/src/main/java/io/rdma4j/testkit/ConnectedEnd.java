package io.rdma4j.testkit;

import io.rdma4j.cm.CmId;
import io.rdma4j.cm.CmVerbs;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RemoteMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * One end of a {@link ConnectedPair}. Its objects are closed with the pair; a program may close them before. Thread safe, except for
 * {@link #verbs}.
 */
public final class ConnectedEnd {
    /** The memory of each end begins at a page, so that runs with the same seed have the same addresses. */
    private static final int PAGE_BYTES = 4096;

    private final TestHost host;
    private final EventChannel events;
    private final CmId id;
    private final QueuePair queuePair;
    private final CompletionQueue sendCompletions;
    private final CompletionQueue receiveCompletions;
    private final MemoryRegion region;
    private final CmVerbs verbs;

    ConnectedEnd(TestHost host, EventChannel events, CmId id, long memoryBytes) {
        this.host = host;
        this.events = events;
        this.id = id;
        queuePair = Objects.requireNonNull(id.queuePair());
        sendCompletions = queuePair.sendCompletions();
        receiveCompletions = queuePair.receiveCompletions();
        region = id.protectionDomain()
                .register(
                        Arena.ofAuto().allocate(memoryBytes, PAGE_BYTES),
                        AccessFlag.LOCAL_WRITE,
                        AccessFlag.REMOTE_READ,
                        AccessFlag.REMOTE_WRITE,
                        AccessFlag.REMOTE_ATOMIC);
        verbs = new CmVerbs(id);
    }

    /** Returns the host of this end. */
    public TestHost host() {
        return host;
    }

    /** Returns the channel with the events of the identifier, such as that the peer has disconnected. */
    public EventChannel events() {
        return events;
    }

    /** Returns the identifier. It is asynchronous, so that one thread can use both ends: its calls do not wait for their events. */
    public CmId id() {
        return id;
    }

    /** Returns the queue pair, ready to send. */
    public QueuePair queuePair() {
        return queuePair;
    }

    /** Returns the completion queue of send work requests, which has a channel. */
    public CompletionQueue sendCompletions() {
        return sendCompletions;
    }

    /** Returns the completion queue of receives, which has a channel. */
    public CompletionQueue receiveCompletions() {
        return receiveCompletions;
    }

    /** Returns the registered memory, which the peer may read, write and change by atomic operations. */
    public MemoryRegion region() {
        return region;
    }

    /** Returns the memory of {@link #region}; its bytes are zero at first. */
    public MemorySegment memory() {
        return region.memory();
    }

    /** Returns the memory as the peer names it in its READs and WRITEs. */
    public RemoteMemory remote() {
        return region.remote();
    }

    /** Returns calls that post work requests and wait for completions; for one thread at a time. */
    public CmVerbs verbs() {
        return verbs;
    }

    void close() {
        region.close();
        id.close();
        events.close();
    }

    @Override
    public String toString() {
        return "end of a connection at " + host;
    }
}
