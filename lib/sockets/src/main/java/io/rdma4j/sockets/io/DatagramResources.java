package io.rdma4j.sockets.io;

import io.rdma4j.cm.CmId;
import io.rdma4j.sockets.datagram.DatagramAddress;
import io.rdma4j.sockets.datagram.DatagramPath;
import io.rdma4j.sockets.datagram.DatagramProtocol;
import io.rdma4j.sockets.datagram.DatagramSizes;
import io.rdma4j.sockets.datagram.LocalEnd;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.AddressVector;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceAttributes;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.wait.Signal;
import io.rdma4j.verbs.wait.WaitDriver;
import io.rdma4j.wire.rsocket.DatagramHeader;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import org.jspecify.annotations.Nullable;

/**
 * The queue pair, completion queue and registered memory of one local address of a datagram socket. The queue pair is
 * bound to the socket's port in the connection manager's space of datagram ports. Not thread safe.
 *
 * <p>The path to a peer is determined by its IP address. Over RoCE, no further resolution is necessary, so no method
 * blocks.
 */
final class DatagramResources implements AutoCloseable, LocalEnd.Receives {
    /** Completions polled at a time. */
    static final int BATCH = 16;

    /** Maximum number of batches in one call, since peers may send faster than datagrams are processed. */
    static final int MAX_BATCHES = 16;

    private static final int ALIGNMENT = 64;
    private static final int HOP_LIMIT = 64;
    private static final long RECEIVE = 1L << 62;

    private final CmId id;
    private final QueueNotifications notifications;
    private final Releases releases = new Releases();
    private final Arena arena = Arena.ofShared();
    private final WorkCompletion[] completions = WorkCompletion.array(BATCH);
    private final SendWorkRequest send = new SendWorkRequest();
    private final ReceiveWorkRequest receive = new ReceiveWorkRequest();
    private final CompletionQueue queue;
    private final QueuePair queuePair;
    private final MemoryRegion sendMemory;
    private final MemoryRegion receiveMemory;
    private final LocalEnd end;
    private final int inlineBytes;
    private final int mtuBytes;
    private final int stride;
    private final int sourceGidIndex;
    private @Nullable String failure;

    private DatagramResources(CmId id, DatagramAddress address, DatagramSettings settings, Signal changed) {
        this.id = id;
        try {
            releases.add(id::close);
            releases.add(arena::close);
            id.setReuseAddress(settings.reuseAddress());
            id.bindAddress(DatagramAddresses.socketAddress(address));
            DeviceContext context = id.verbs();
            DeviceAttributes limits = context.attributes();
            DatagramSizes sizes = settings.sizes().fitted(limits.maxQueuePairWorkRequests());
            inlineBytes = Math.min(sizes.inlineBytes(), limits.maxInlineBytes());
            sourceGidIndex = context.gidIndex(id.portNumber(), DatagramAddresses.gid(address));
            // Fits the longest datagram of the network: some devices fail a queue pair on a datagram that is too long.
            mtuBytes = context.port(id.portNumber()).activeMtu().bytes();
            stride = LocalEnd.ROUTE_BYTES + Math.max(DatagramSizes.SLOT_BYTES, mtuBytes);
            sendMemory = register((long) sizes.sendSlots() * DatagramSizes.SLOT_BYTES);
            receiveMemory = register((long) sizes.receiveSlots() * stride);
            notifications = new QueueNotifications(context, changed);
            releases.add(notifications::close);
            queue = context.createCompletionQueue(sizes.sendSlots() + sizes.receiveSlots(), notifications.channel());
            releases.add(queue::close);
            queuePair = id.createQueuePair(QueuePairInitAttributes.of(
                            new QueuePairCapabilities(sizes.sendSlots(), sizes.receiveSlots(), 1, 1, inlineBytes))
                    .withCompletions(queue));
            releases.add(id::destroyQueuePair);
            end = new LocalEnd(
                    address, queuePair.number(), sizes, sendMemory.memory(), receiveMemory.memory(), stride, this);
            end.postAll();
        } catch (RuntimeException | Error failed) {
            releases.closeAfter(failed);
            throw failed;
        }
    }

    /**
     * Creates all resources of a local address. If that fails, all of them are released.
     *
     * @param service creates the identifier
     * @param address an address of this host, with the socket's port
     * @param changed raised at completions after {@link #arm} has requested it
     */
    static DatagramResources open(
            ConnectionService service, DatagramAddress address, DatagramSettings settings, Signal changed) {
        return new DatagramResources(service.createDatagramId(), address, settings, changed);
    }

    private MemoryRegion register(long bytes) {
        MemoryRegion region = id.protectionDomain().register(arena.allocate(bytes, ALIGNMENT), AccessFlag.LOCAL_WRITE);
        releases.add(region::close);
        return region;
    }

    LocalEnd end() {
        return end;
    }

    /** Returns the driver that makes progress while a thread waits for completions. */
    WaitDriver waitDriver() {
        return notifications.driver();
    }

    /** Returns the reason why the queue pair has failed, or null. */
    @Nullable
    String failure() {
        return failure;
    }

    // ---- sending and receiving

    /** Returns the path to a peer. */
    DatagramPath path(DatagramAddress peer, int typeOfService) {
        AddressHandle handle = id.protectionDomain()
                .createAddressHandle(AddressVector.of(sourceGidIndex, DatagramAddresses.gid(peer))
                        .withDestinationScope(peer.scope())
                        .withHopLimit(HOP_LIMIT)
                        .withTrafficClass(typeOfService)
                        .withPort(id.portNumber()));
        int maxBytes = Math.min(DatagramSizes.SLOT_BYTES, mtuBytes); // the queue pair keeps its initial MTU
        return new DatagramPath() {
            @Override
            public int maxBytes() {
                return maxBytes;
            }

            @Override
            public void send(int slot, int length, int queuePairNumber) {
                post(slot, length, handle, queuePairNumber);
            }

            @Override
            public void close() {
                try {
                    handle.close();
                } catch (RuntimeException refused) { // the caller sends to another peer, or also closes other paths
                    logger().log(Level.DEBUG, "Closing an address handle failed", refused);
                }
            }
        };
    }

    private void post(int slot, int length, AddressHandle handle, int queuePairNumber) {
        send.reset(slot)
                .from(sendMemory, (long) slot * DatagramSizes.SLOT_BYTES, length)
                .to(handle, queuePairNumber, DatagramHeader.QUEUE_KEY)
                .signaled();
        if (length <= inlineBytes) {
            send.inline();
        }
        queuePair.postSend(send);
    }

    @Override
    public void post(int slot) {
        queuePair.postReceive(receive.reset(RECEIVE | slot).into(receiveMemory, (long) slot * stride, stride));
    }

    /**
     * Passes completions to the protocol, at most {@value #MAX_BATCHES} batches, and drives the device.
     *
     * @return true if there may be more completions
     */
    boolean progress(DatagramProtocol protocol, long nowNanos) {
        notifications.take();
        for (int batch = 0; batch < MAX_BATCHES && failure == null; batch++) {
            int count = queue.poll(completions);
            for (int i = 0; i < count; i++) {
                take(completions[i], protocol, nowNanos);
            }
            if (count < completions.length) {
                return false;
            }
        }
        return failure == null;
    }

    private void take(WorkCompletion completion, DatagramProtocol protocol, long nowNanos) {
        boolean isReceive = (completion.id() & RECEIVE) != 0;
        int slot = (int) (completion.id() & ~RECEIVE);
        if (!completion.isSuccess()) {
            failure = completion.toString();
        }
        if (!isReceive) {
            protocol.onSent(end, slot);
        } else if (completion.isSuccess()) {
            protocol.onReceived(
                    end,
                    slot,
                    (int) completion.byteLength(),
                    completion.hasGlobalRoute(),
                    completion.sourceQueuePairNumber(),
                    nowNanos);
        }
    }

    /** Requests a notification of the next completion; see {@link QueueNotifications#arm}. */
    boolean arm() {
        return notifications.arm(queue);
    }

    @Override
    public void close() {
        releases.close();
    }

    /** Looked up for each message: a logger in a field would set up logging before the program can configure it. */
    private static Logger logger() {
        return System.getLogger(DatagramResources.class.getName());
    }
}
