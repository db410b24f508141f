package io.rdma4j.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.value.SendOpcode;
import io.rdma4j.wire.Bth;
import io.rdma4j.wire.Opcode;
import io.rdma4j.wire.XrcEth;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Extended reliable connections: an initiator, and a target whose XRC domain has several shared receive queues. */
class ExtendedConnectionTest {
    private static final int MTU = 1024;
    private static final int FIRST = 0x101;
    private static final int SECOND = 0xabcdef;
    private static final int SRQ_DOMAIN = 99;
    private static final long BASE = 0x5_0000_0000L;

    private final XrcDomain domain = new XrcDomain();
    private final List<Long> received = new ArrayList<>();
    private final List<Long> receivedBySecond = new ArrayList<>();
    private final SharedReceiveQueue first = queue(FIRST, received);
    private final SharedReceiveQueue second = queue(SECOND, receivedBySecond);
    private final Pair pair = pair();
    private final byte[] target = new byte[4096];
    private final MemoryRegion region =
            pair.b.memory.register(MemorySegment.ofArray(target), BASE, Pair.ALL_ACCESS, SRQ_DOMAIN);
    private final byte[] source = Pair.pattern(4096, 3);
    private final MemoryRegion local = pair.a.register(source, AccessFlag.LOCAL_WRITE.bit());

    private SharedReceiveQueue queue(int number, List<Long> to) {
        SharedReceiveQueue queue = new SharedReceiveQueue(
                8,
                2,
                SRQ_DOMAIN,
                () -> {},
                number,
                c -> to.add(c.status == CompletionStatus.SUCCESS ? c.workRequestId : -1));
        domain.add(queue);
        return queue;
    }

    private Pair pair() {
        Pair.Options options = new Pair.Options();
        options.domainB = domain;
        return new Pair(options);
    }

    private void post(SharedReceiveQueue queue, long id) {
        ReceiveRequest r = Objects.requireNonNull(queue.claim());
        r.workRequestId = id;
        r.list.add(region, 0, region.lengthBytes());
        queue.publish();
    }

    private SendRequest claim(SendOpcode opcode, int queue, int length) {
        SendRequest r = pair.a.claim(1, opcode);
        r.list.add(local, 0, length);
        r.remoteSharedReceiveQueue = queue;
        r.remoteAddress = BASE;
        r.remoteKey = region.key();
        r.swapOrAdd = 1;
        return r;
    }

    private CompletionStatus perform(SendOpcode opcode, int queue, int length) {
        pair.a.publish(claim(opcode, queue, length));
        pair.run();
        return pair.a.done.removeLast().status();
    }

    @Test
    void eachMessageTakesAReceiveOfTheQueueThatItNames() {
        post(first, 1);
        post(first, 2);
        post(second, 7);
        assertThat(perform(SendOpcode.SEND, SECOND, 3000)).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(perform(SendOpcode.SEND_WITH_IMMEDIATE, FIRST, 10)).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(perform(SendOpcode.RDMA_WRITE_WITH_IMMEDIATE, FIRST, 2000)).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(receivedBySecond).containsExactly(7L);
        assertThat(received).containsExactly(1L, 2L);
        assertThat(pair.b.done).isEmpty();
    }

    @Test
    void requestsCarryTheQueueNumberAfterTheBthAndResponsesDoNot() {
        post(first, 1);
        perform(SendOpcode.SEND, FIRST, 3000);
        perform(SendOpcode.RDMA_WRITE, FIRST, 3000);
        perform(SendOpcode.RDMA_READ, FIRST, 3000);
        perform(SendOpcode.FETCH_AND_ADD, FIRST, 8);
        assertThat(pair.trace).allMatch(w -> w.opcode().transport() == Opcode.Transport.XRC);
        assertThat(pair.trace).filteredOn(Pair.WirePacket::fromA).isNotEmpty().allSatisfy(w -> {
            assertThat(w.opcode().hasXrcEth()).isTrue();
            assertThat(XrcEth.sharedReceiveQueue(w.segment(), Bth.LENGTH)).isEqualTo(FIRST);
            assertThat(w.bytes()[Bth.LENGTH]).isZero();
        });
        assertThat(pair.trace)
                .filteredOn(w -> !w.fromA())
                .isNotEmpty()
                .noneMatch(w -> w.opcode().hasXrcEth());
        assertThat(pair.trace.getFirst().bytes()).hasSize(12 + 4 + MTU + 4);
    }

    @Test
    void everyOperationTransfersItsBytes() {
        post(first, 1);
        perform(SendOpcode.SEND, FIRST, 4096);
        assertThat(target).isEqualTo(source);
        Arrays.fill(target, (byte) 0);
        perform(SendOpcode.RDMA_WRITE, FIRST, 4096);
        assertThat(target).isEqualTo(source);
        Arrays.fill(target, (byte) 5);
        perform(SendOpcode.RDMA_READ, FIRST, 4096);
        assertThat(source).containsOnly(5);
        assertThat(perform(SendOpcode.COMPARE_AND_SWAP, FIRST, 8)).isEqualTo(CompletionStatus.SUCCESS);
    }

    @Test
    void memoryIsAccessedInTheProtectionDomainOfTheNamedQueue() {
        SharedReceiveQueue foreign = new SharedReceiveQueue(1, 1, SRQ_DOMAIN + 1, () -> {}, 5, c -> {});
        domain.add(foreign);
        assertThat(perform(SendOpcode.RDMA_WRITE, FIRST, 8)).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(perform(SendOpcode.RDMA_WRITE, 5, 8)).isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
    }

    /** A READ continues in the domain of the queue that it named, although a later request has named another one. */
    @Test
    void memoryChangedWithinARequestIsCheckedInTheDomainOfThatRequest() {
        int other = SRQ_DOMAIN + 1;
        domain.add(new SharedReceiveQueue(1, 1, other, () -> {}, 5, c -> {}));
        assertThat(perform(SendOpcode.RDMA_READ, FIRST, 8)).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(perform(SendOpcode.RDMA_WRITE, 5, 0)).isEqualTo(CompletionStatus.SUCCESS);
        MemoryRegion changed = Objects.requireNonNull(pair.b.memory.change(region, Pair.ALL_ACCESS, SRQ_DOMAIN));
        assertThat(findAgain()).isSameAs(changed);
        MemoryRegion moved = Objects.requireNonNull(pair.b.memory.change(region, Pair.ALL_ACCESS, other));
        assertThat(moved.isValid()).isTrue();
        assertThat(findAgain()).isNull();
    }

    private @Nullable MemoryRegion findAgain() {
        return pair.b.memory.findAgain(region, AccessFlag.REMOTE_READ.bit(), pair.b.queuePair);
    }

    @Test
    void unknownQueueNumberIsAnInvalidRequest() {
        assertThat(perform(SendOpcode.RDMA_WRITE, 0x999, 8)).isEqualTo(CompletionStatus.REMOTE_INVALID_REQUEST_ERROR);
        assertThat(pair.b.events).containsExactly(QueuePairEvent.REQUEST_ERROR, QueuePairEvent.LAST_RECEIVE_REACHED);
    }

    @Test
    void queueNumberMustNotChangeWithinAMessage() {
        post(first, 1);
        post(second, 2);
        pair.wire = w -> w.opcode() == Opcode.XRC_SEND_LAST ? List.of() : List.of(Pair.LATENCY_NANOS);
        pair.a.publish(claim(SendOpcode.SEND, FIRST, 2000));
        pair.run(pair.now + 10 * Pair.LATENCY_NANOS);
        Pair.WirePacket last = pair.trace.stream()
                .filter(w -> w.opcode() == Opcode.XRC_SEND_LAST)
                .findFirst()
                .orElseThrow();
        XrcEth.write(last.segment(), Bth.LENGTH, SECOND);
        pair.deliver(last);
        assertThat(received).containsExactly(-1L);
        assertThat(pair.b.queuePair.state()).isEqualTo(QueuePairState.ERROR);
        assertThat(second.size()).isEqualTo(1);
    }

    @Test
    void emptyQueueMakesTheInitiatorWait() {
        post(first, 1);
        pair.a.publish(claim(SendOpcode.SEND, SECOND, 8));
        pair.run(pair.now + 10 * Pair.LATENCY_NANOS);
        assertThat(pair.b.queuePair.counters().sentRnrNaks).isEqualTo(1);
        post(second, 2);
        pair.run();
        assertThat(receivedBySecond).containsExactly(2L);
        assertThat(first.size()).isEqualTo(1);
    }

    @Test
    void closedQueueIsNoLongerFound() {
        post(first, 1);
        assertThat(perform(SendOpcode.SEND, FIRST, 8)).isEqualTo(CompletionStatus.SUCCESS);
        domain.remove(first);
        first.close();
        assertThat(perform(SendOpcode.SEND, FIRST, 8)).isEqualTo(CompletionStatus.REMOTE_INVALID_REQUEST_ERROR);
        assertThat(domain.size()).isEqualTo(1);
    }

    @Test
    void initiatorServesNoRequests() {
        pair.deliver(Pair.forge(false, Opcode.XRC_SEND_ONLY, 0x2000, true, 8));
        assertThat(pair.a.queuePair.counters().badOpcode).isEqualTo(1);
        pair.pump();
        assertThat(pair.trace).isEmpty();
    }

    @Test
    void packetsOfTheOtherReliableTransportAreDropped() {
        pair.deliver(Pair.forge(true, Opcode.RC_SEND_ONLY, 0x1000, true, 8));
        assertThat(pair.b.queuePair.counters().badOpcode).isEqualTo(1);
    }

    @Test
    void lostPacketsAreRetransmittedAsOnAnyReliableConnection() {
        for (int i = 0; i < 5; i++) {
            post(first, i);
        }
        Random random = new Random(4);
        pair.wire = w -> random.nextInt(10) == 0 ? List.of() : List.of(Pair.LATENCY_NANOS);
        for (int i = 0; i < 5; i++) {
            pair.a.publish(claim(SendOpcode.SEND, FIRST, 4096));
            pair.a.publish(claim(SendOpcode.RDMA_READ, FIRST, 4096));
        }
        pair.run();
        assertThat(pair.a.statuses(false)).hasSize(10).containsOnly(CompletionStatus.SUCCESS);
        assertThat(received).containsExactly(0L, 1L, 2L, 3L, 4L);
    }

    @Test
    void domainFindsManyQueues() {
        List<SharedReceiveQueue> many = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            many.add(queue(i * 7919 % 1000 + 0x1000, new ArrayList<>()));
        }
        for (SharedReceiveQueue each : many) {
            assertThat(domain.find(each.number())).isSameAs(each);
        }
        many.forEach(domain::remove);
        assertThat(domain.size()).isEqualTo(2);
        assertThat(domain.find(SECOND)).isSameAs(second);
        assertThat(domain.find(many.getFirst().number())).isNull();
    }
}
