package io.rdma4j.conformance.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.DatagramParameters;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.cm.MulticastJoinAttributes;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.PortSpace;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Objects;

/** A datagram identifier with a queue pair and posted receives, that joins groups. */
final class GroupMember implements AutoCloseable {
    private static final int HEADER_BYTES = 40;
    private static final int SLOT_BYTES = 64;
    private static final int RECEIVES = 16;
    private static final long QUIET_NANOS = 30_000_000;

    final EventChannel channel = EventChannel.open();
    final CmId id;
    private final MemorySegment memory = Arena.ofAuto().allocate((RECEIVES + 1) * SLOT_BYTES);
    private final MemoryRegion region;

    /** Creates a member that is bound to a local address. */
    GroupMember(InetAddress local) {
        id = channel.createId(PortSpace.UDP, "member");
        id.bindAddress(new InetSocketAddress(local, 0));
        id.createQueuePair(QueuePairInitAttributes.of(Session.SIZES));
        region = id.protectionDomain().register(memory, AccessFlag.LOCAL_WRITE);
        for (int i = 0; i < RECEIVES; i++) {
            queuePair().postReceive(new ReceiveWorkRequest().reset(i).into(region, (long) i * SLOT_BYTES, SLOT_BYTES));
        }
    }

    QueuePair queuePair() {
        return Objects.requireNonNull(id.queuePair());
    }

    /** Joins a group and waits for the event, which must report success; it is acknowledged. */
    DatagramParameters join(InetAddress group) {
        return join(MulticastJoinAttributes.of(group), "a context");
    }

    DatagramParameters join(MulticastJoinAttributes attributes, Object context) {
        id.joinMulticast(attributes, context);
        CmEvent.MulticastJoin event = (CmEvent.MulticastJoin) Session.expect(channel, CmEvent.Type.MULTICAST_JOIN);
        assertThat(event.id()).isSameAs(id);
        assertThat(event.context()).isSameAs(context);
        return event.group();
    }

    void send(DatagramParameters to, int mark) {
        long at = (long) RECEIVES * SLOT_BYTES;
        memory.set(ValueLayout.JAVA_INT, at, mark);
        try (AddressHandle handle = id.protectionDomain().createAddressHandle(to.addressVector())) {
            queuePair()
                    .postSend(new SendWorkRequest()
                            .reset(mark)
                            .to(handle, to.queuePairNumber(), to.queueKey())
                            .from(region, at, 4)
                            .signaled());
            assertThat(await(id.sendCompletions(), Session.PATIENCE.toNanos())).isEqualTo(mark);
        }
    }

    /** Returns the mark of the next datagram. */
    int receive() {
        long slot = await(id.receiveCompletions(), Session.PATIENCE.toNanos());
        assertThat(slot).as("nothing came").isNotNegative();
        return memory.get(ValueLayout.JAVA_INT, slot * SLOT_BYTES + HEADER_BYTES);
    }

    void assertQuiet() {
        assertThat(await(id.receiveCompletions(), QUIET_NANOS)).isEqualTo(-1);
    }

    private static long await(@org.jspecify.annotations.Nullable CompletionQueue queue, long patienceNanos) {
        WorkCompletion[] one = WorkCompletion.array(1);
        long giveUp = System.nanoTime() + patienceNanos;
        while (Objects.requireNonNull(queue).poll(one) == 0) {
            if (System.nanoTime() - giveUp > 0) {
                return -1;
            }
        }
        assertThat(one[0].status()).isEqualTo(CompletionStatus.SUCCESS);
        return one[0].id();
    }

    @Override
    public void close() {
        id.destroyQueuePair();
        region.close();
        id.close();
        channel.close();
    }
}
