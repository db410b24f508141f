package io.rdma4j.soft.device;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.transport.MemoryTable;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryWindow;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import io.rdma4j.verbs.XrcDomain;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Failed creations leak nothing: no number, no slot, no memory, no user count. */
class CreationTest {
    private static final QueuePairCapabilities CAPABILITIES = new QueuePairCapabilities(1, 1, 1, 1, 0);
    private static final SharedReceiveQueueInitAttributes SIZES = SharedReceiveQueueInitAttributes.of(1, 1);

    /** More than the maximum of any kind of object. */
    private static final int TRIES = Limits.MAX_COMPLETION_QUEUES + 1;

    private final SoftContext context = (SoftContext)
            Device.of(InetAddress.getLoopbackAddress()).orElseThrow().open();
    private final ProtectionDomain domain = context.createProtectionDomain();
    private final CompletionQueue completions = context.createCompletionQueue(1);

    @AfterEach
    void close() {
        context.close();
    }

    private static void refused(int times, Errno errno, Supplier<?> creation) {
        for (int i = 0; i < times; i++) {
            Errno error = errno(creation);
            if (error != errno) {
                throw new AssertionError("try " + i + " ended with " + error);
            }
        }
    }

    private static @Nullable Errno errno(Supplier<?> creation) {
        try {
            var _ = creation.get();
            return null;
        } catch (RdmaException e) {
            return e.errno();
        }
    }

    private QueuePairInitAttributes reliable(CompletionQueue queue) {
        return QueuePairInitAttributes.reliable(queue, CAPABILITIES);
    }

    /** Tries more times than there are numbers. */
    private void queuePairIsRefused(QueuePairInitAttributes attributes) {
        int before = context.engine().queuePairCount();
        refused(context.attributes().maxQueuePairs() + 1, Errno.EINVAL, () -> domain.createQueuePair(attributes));
        assertThat(context.engine().queuePairCount()).isEqualTo(before);
        domain.createQueuePair(reliable(completions)).close();
        completions.close();
        domain.close();
    }

    @Test
    void queuePairWithAClosedSharedReceiveQueueUsesNoNumber() {
        SharedReceiveQueue receives = domain.createSharedReceiveQueue(SIZES);
        receives.close();
        queuePairIsRefused(reliable(completions).withSharedReceiveQueue(receives));
    }

    @Test
    void queuePairWithAClosedXrcDomainUsesNoNumber() {
        XrcDomain extended = context.openXrcDomain();
        extended.close();
        queuePairIsRefused(QueuePairInitAttributes.extendedReceive(extended, completions));
    }

    @Test
    void queuePairWithAClosedCompletionQueueUsesNoNumber() {
        CompletionQueue closed = context.createCompletionQueue(1);
        closed.close();
        SharedReceiveQueue receives = domain.createSharedReceiveQueue(SIZES);
        QueuePairInitAttributes attributes = reliable(closed).withSharedReceiveQueue(receives);
        refused(1, Errno.EINVAL, () -> domain.createQueuePair(attributes));
        receives.close(); // has no user
        queuePairIsRefused(reliable(closed));
    }

    @Test
    void queuePairOfADomainNeedsAType() {
        queuePairIsRefused(reliable(completions).withType(null));
    }

    @Test
    void queuePairOfADomainNeedsACompletionQueueForReceives() {
        queuePairIsRefused(reliable(completions).withReceiveCompletions(null));
    }

    @Test
    void queuePairOfADomainNeedsACompletionQueueForSends() {
        queuePairIsRefused(reliable(completions).withCompletions(null).withReceiveCompletions(completions));
    }

    @Test
    void refusedSharedReceiveQueueLeavesNothing() {
        CompletionQueue closed = context.createCompletionQueue(1);
        closed.close();
        XrcDomain extended = context.openXrcDomain();
        XrcDomain closedDomain = context.openXrcDomain();
        closedDomain.close();
        int tries = Limits.MAX_SHARED_RECEIVE_QUEUES + 1;
        refused(
                tries,
                Errno.EINVAL,
                () -> domain.createSharedReceiveQueue(
                        SIZES.withXrcDomain(extended).withCompletions(closed)));
        refused(
                tries,
                Errno.EINVAL,
                () -> domain.createSharedReceiveQueue(
                        SIZES.withXrcDomain(closedDomain).withCompletions(completions)));
        refused(tries, Errno.EINVAL, () -> domain.createSharedReceiveQueue(SharedReceiveQueueInitAttributes.of(0, 1)));
        domain.createSharedReceiveQueue(SIZES.withXrcDomain(extended).withCompletions(completions))
                .close();
        extended.close();
        completions.close();
        domain.close();
    }

    @Test
    void refusedCompletionQueueLeavesNothing() {
        CompletionChannel channel = context.createCompletionChannel();
        CompletionChannel closed = context.createCompletionChannel();
        closed.close();
        refused(TRIES, Errno.EINVAL, () -> context.createCompletionQueue(1, closed));
        refused(TRIES, Errno.EINVAL, () -> context.createCompletionQueue(0, channel));
        context.createCompletionQueue(1, channel).close();
        channel.close();
    }

    @Test
    void memoryRegionThatIsRefusedIsNotInTheTable() {
        MemoryTable table = context.engines().memory();
        int before = table.size();
        MemorySegment readOnly = MemorySegment.ofArray(new byte[8]).asReadOnly();
        Arena arena = Arena.ofShared();
        MemorySegment freed = arena.allocate(8);
        arena.close();
        Set<AccessFlag> all = Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
        refused(1000, Errno.EINVAL, () -> domain.register(readOnly, all));
        refused(1000, Errno.EINVAL, () -> domain.register(freed, all));
        refused(
                1000,
                Errno.EINVAL,
                () -> domain.register(MemorySegment.ofArray(new byte[8]), Set.of(AccessFlag.REMOTE_WRITE)));
        assertThat(table.size()).isEqualTo(before);
        domain.close();
        refused(1000, Errno.EINVAL, () -> domain.register(MemorySegment.ofArray(new byte[8]), all));
        assertThat(table.size()).isEqualTo(before);
    }

    @Test
    void memoryWindowThatIsRefusedIsNotInTheTable() {
        MemoryTable table = context.engines().memory();
        int before = table.windowCount();
        domain.close();
        refused(1000, Errno.EINVAL, () -> domain.allocateMemoryWindow(MemoryWindow.Type.TYPE_1));
        assertThat(table.windowCount()).isEqualTo(before);
    }

    @Test
    void domainsAreRefusedAtTheirLimitOnly() {
        List<XrcDomain> extended = new ArrayList<>();
        List<ProtectionDomain> domains = new ArrayList<>(List.of(domain));
        while (extended.size() < Limits.MAX_XRC_DOMAINS) {
            extended.add(context.openXrcDomain());
        }
        while (domains.size() < Limits.MAX_PROTECTION_DOMAINS) {
            domains.add(context.createProtectionDomain());
        }
        for (int i = 0; i < 3; i++) {
            refused(10, Errno.ENOMEM, context::openXrcDomain);
            refused(10, Errno.ENOMEM, context::createProtectionDomain);
            extended.removeFirst().close();
            domains.removeFirst().close();
            extended.add(context.openXrcDomain());
            domains.add(context.createProtectionDomain());
        }
    }
}
