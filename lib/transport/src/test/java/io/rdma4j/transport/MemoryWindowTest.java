package io.rdma4j.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.value.SendOpcode;
import io.rdma4j.wire.Opcode;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Memory windows: B binds them, and A accesses memory through them. */
class MemoryWindowTest {
    private static final int BYTES = 4096;
    private static final int REMOTE =
            AccessFlag.REMOTE_WRITE.bit() | AccessFlag.REMOTE_READ.bit() | AccessFlag.REMOTE_ATOMIC.bit();
    private static final int REGION = AccessFlag.LOCAL_WRITE.bit() | AccessFlag.MEMORY_WINDOW_BIND.bit();
    private static final long BASE = 0x1_0000_0000L;

    private final Pair pair = new Pair();
    private final MemoryTable memory = pair.b.memory;
    private final byte[] target = new byte[BYTES];
    private final MemoryRegion region = register(REGION);
    private final byte[] source = Pair.pattern(BYTES, 9);
    private final MemoryRegion local = pair.a.register(source, AccessFlag.LOCAL_WRITE.bit());
    private final MemoryWindow window = memory.allocateWindow(true, Pair.PD);

    private MemoryRegion register(int access) {
        return memory.register(MemorySegment.ofArray(target), BASE, access, Pair.PD);
    }

    private void bind(MemoryWindow which, int key, @Nullable MemoryRegion to, long offset, long length, int access) {
        SendRequest r = pair.b.claim(77, SendOpcode.BIND_MEMORY_WINDOW);
        r.window = which;
        r.remoteKey = key;
        r.bindRegion = to;
        r.bindOffset = offset;
        r.bindLength = length;
        r.bindAccess = access;
        pair.b.publish(r);
        pair.run();
    }

    private CompletionStatus bindStatus(
            MemoryWindow which, @Nullable MemoryRegion to, long offset, long length, int access) {
        bind(which, which.key() + 1, to, offset, length, access);
        return pair.b.done.removeLast().status();
    }

    private void bindAll() {
        assertThat(bindStatus(window, region, 0, BYTES, REMOTE)).isEqualTo(CompletionStatus.SUCCESS);
    }

    private void localInvalidate(int key) {
        SendRequest r = pair.b.claim(78, SendOpcode.LOCAL_INVALIDATE);
        r.invalidateKey = key;
        pair.b.publish(r);
        pair.run();
    }

    /** Performs a WRITE, READ or atomic of A and returns its status. */
    private CompletionStatus access(SendOpcode opcode, int key, long address, int length) {
        SendRequest r = pair.a.claim(5, opcode);
        r.list.add(local, 0, length);
        r.remoteKey = key;
        r.remoteAddress = address;
        r.swapOrAdd = 1;
        pair.a.publish(r);
        pair.run();
        return pair.a.done.removeLast().status();
    }

    private CompletionStatus write(int key, long address, int length) {
        return access(SendOpcode.RDMA_WRITE, key, address, length);
    }

    @Test
    void withheldMemoryIsNotAccessibleThroughItsWindows() {
        bindAll();
        memory.setAccessible(region, false);
        assertThat(memory.find(window.key(), BASE, 1, AccessFlag.REMOTE_READ.bit(), pair.b.queuePair))
                .isNull();
        assertThat(memory.deregister(region)).isFalse();
        memory.setAccessible(region, true);
        assertThat(write(window.key(), BASE, 100)).isEqualTo(CompletionStatus.SUCCESS);
    }

    @Test
    void withheldMemoryCanBeDeregisteredButNotBound() {
        memory.setAccessible(region, false);
        assertThat(bindStatus(window, region, 0, BYTES, REMOTE)).isEqualTo(CompletionStatus.MEMORY_WINDOW_BIND_ERROR);
        assertThat(memory.deregister(region)).isTrue();
        memory.setAccessible(region, true);
        assertThat(region.isValid()).isFalse();
    }

    @Test
    void withheldMemoryStaysWithheldWhenItsRightsChange() {
        memory.setAccessible(region, false);
        MemoryRegion changed = memory.change(region, REGION | REMOTE, Pair.PD);
        assertThat(changed).isNotNull().matches(present -> !present.isValid());
    }

    @Test
    void onlyTheBoundRangeIsAccessibleByTheNewKey() {
        int fresh = window.key();
        assertThat(bindStatus(window, region, 100, 200, REMOTE)).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(window.key()).isEqualTo(fresh + 1);
        assertThat(write(window.key(), BASE + 100, 200)).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(target).startsWith(new byte[100]);
        assertThat(target[100]).isEqualTo(source[0]);
        assertThat(target[299]).isEqualTo(source[199]);
        assertThat(access(SendOpcode.RDMA_READ, window.key(), BASE + 100, 200)).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(access(SendOpcode.FETCH_AND_ADD, window.key(), BASE + 104, 8))
                .isEqualTo(CompletionStatus.SUCCESS);
        assertThat(write(window.key(), BASE + 101, 200)).isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
    }

    @ParameterizedTest
    @ValueSource(longs = {BASE + 99, BASE + 300, -16, BASE})
    void addressOutsideTheRangeIsRefused(long address) {
        assertThat(bindStatus(window, region, 100, 200, REMOTE)).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(write(window.key(), address, 1)).isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
    }

    @Test
    void keyFromBeforeTheBindIsRefused() {
        int fresh = window.key();
        bindAll();
        assertThat(write(fresh, BASE, 8)).isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
    }

    @Test
    void unboundWindowIsRefused() {
        assertThat(write(window.key(), BASE, 8)).isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
    }

    @ParameterizedTest
    @EnumSource(
            value = SendOpcode.class,
            names = {"RDMA_WRITE", "RDMA_READ", "FETCH_AND_ADD"})
    void windowGrantsOnlyItsOwnRights(SendOpcode opcode) {
        int right = switch (opcode) {
            case RDMA_WRITE -> AccessFlag.REMOTE_WRITE.bit();
            case RDMA_READ -> AccessFlag.REMOTE_READ.bit();
            default -> AccessFlag.REMOTE_ATOMIC.bit();
        };
        assertThat(bindStatus(window, region, 0, 64, right)).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(access(opcode, window.key(), BASE, 8)).isEqualTo(CompletionStatus.SUCCESS);
        MemoryWindow other = memory.allocateWindow(true, Pair.PD);
        assertThat(bindStatus(other, region, 0, 64, REMOTE & ~right)).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(access(opcode, other.key(), BASE, 8)).isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
    }

    @Test
    void zeroBasedWindowStartsAtZero() {
        assertThat(bindStatus(window, region, 64, 64, REMOTE | AccessFlag.ZERO_BASED.bit()))
                .isEqualTo(CompletionStatus.SUCCESS);
        assertThat(write(window.key(), 0, 64)).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(target[64]).isEqualTo(source[0]);
        assertThat(write(window.key(), 1, 64)).isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
    }

    // ---- bind ----

    @Test
    void invalidBindsAreRefused() {
        List<CompletionStatus> statuses = new ArrayList<>();
        List<MemoryRegion> regions = List.of(
                register(AccessFlag.LOCAL_WRITE.bit()), // C10-73: no right to bind
                register(AccessFlag.MEMORY_WINDOW_BIND.bit()), // C10-74: not writable
                memory.register(MemorySegment.ofArray(target), BASE, REGION, Pair.PD + 1),
                register(REGION | AccessFlag.ZERO_BASED.bit()));
        for (MemoryRegion each : regions) {
            statuses.add(onFreshPair(t -> t.bindStatus(t.window, t.copyOf(each), 0, 8, REMOTE)));
        }
        statuses.add(onFreshPair(t -> t.bindStatus(t.window, t.region, BYTES - 7, 8, REMOTE))); // C10-75: outside
        statuses.add(onFreshPair(t -> t.bindStatus(t.window, t.region, -1, 8, REMOTE)));
        statuses.add(onFreshPair(t -> t.bindStatus(t.window, t.region, 0, 0, REMOTE))); // o10-37.2.40
        statuses.add(onFreshPair(t -> t.bindStatus(t.window, null, 0, 8, REMOTE)));
        statuses.add(onFreshPair(t -> t.bindStatus(t.window, t.region, 0, 8, REMOTE | AccessFlag.LOCAL_WRITE.bit())));
        statuses.add(onFreshPair(
                t -> { // o10-37.2.30: not free
                    t.bindAll();
                    return t.bindStatus(t.window, t.region, 0, 8, REMOTE);
                }));
        statuses.add(onFreshPair(
                t -> { // C10-72: another domain
                    MemoryWindow foreign = t.memory.allocateWindow(true, Pair.PD + 1);
                    return t.bindStatus(foreign, t.region, 0, 8, REMOTE);
                }));
        statuses.add(onFreshPair(
                t -> { // o10-36.2.2: zero-based type 1
                    MemoryWindow one = t.memory.allocateWindow(false, Pair.PD);
                    return t.bindStatus(one, t.region, 0, 8, REMOTE | AccessFlag.ZERO_BASED.bit());
                }));
        statuses.add(onFreshPair(t -> {
            t.memory.deallocate(t.window);
            return t.bindStatus(t.window, t.region, 0, 8, REMOTE);
        }));
        assertThat(statuses).hasSize(13).containsOnly(CompletionStatus.MEMORY_WINDOW_BIND_ERROR);
    }

    private interface Attempt {
        CompletionStatus on(MemoryWindowTest t);
    }

    /** Runs an attempt on a new pair, since a refused bind moves the queue pair to the error state. */
    private static CompletionStatus onFreshPair(Attempt attempt) {
        MemoryWindowTest t = new MemoryWindowTest();
        CompletionStatus status = attempt.on(t);
        assertThat(t.pair.b.queuePair.state()).isEqualTo(QueuePairState.ERROR);
        return status;
    }

    private MemoryRegion copyOf(MemoryRegion other) {
        return memory.register(MemorySegment.ofArray(target), BASE, other.access(), other.protectionDomain());
    }

    @Test
    void readOnlyWindowNeedsNoLocalWriteOfItsRegion() {
        MemoryRegion readOnly = register(AccessFlag.MEMORY_WINDOW_BIND.bit());
        assertThat(bindStatus(window, readOnly, 0, 8, AccessFlag.REMOTE_READ.bit()))
                .isEqualTo(CompletionStatus.SUCCESS);
    }

    @Test
    void applicationChoosesOnlyTheLowerEightBitsOfTheKey() {
        int prefix = window.key();
        bind(window, 0x1234_56ab, region, 0, 8, REMOTE);
        assertThat(window.key()).isEqualTo(prefix | 0xab);
        assertThat(prefix & 0xff).isZero();
    }

    @Test
    void keysOfWindowsAndRegionsNeverCollide() {
        Random random = new Random(5);
        MemoryTable crowded = new MemoryTable(() -> random.nextInt() & 0xfff); // 16 prefixes
        for (int i = 0; i < 7; i++) {
            int prefix = crowded.allocateWindow(true, 1).key();
            MemoryRegion each = crowded.register(MemorySegment.ofArray(new byte[8]), 0, 0, 1);
            assertThat(each.key() >>> 8).isNotEqualTo(prefix >>> 8);
        }
    }

    // ---- invalidation ----

    @Test
    void localInvalidateRevokesAccessAndFreesTheWindow() {
        bindAll();
        int old = window.key();
        localInvalidate(old);
        assertThat(pair.b.done.removeLast().status()).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(window.isBound()).isFalse();
        assertThat(region.boundWindows()).isZero();
        bindAll();
        assertThat(write(window.key(), BASE, 8)).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(write(old, BASE, 8)).isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
    }

    @Test
    void sendWithInvalidateRevokesAccessAndReportsTheKey() {
        bindAll();
        int key = window.key();
        pair.b.postReceive(1, register(AccessFlag.LOCAL_WRITE.bit()), 0, 100);
        int[] reported = new int[1];
        pair.b.onReceive = c -> reported[0] = c.hasInvalidatedKey ? c.invalidatedKey : 0;
        sendWithInvalidate(key);
        assertThat(pair.b.statuses(true)).containsExactly(CompletionStatus.SUCCESS);
        assertThat(reported[0]).isEqualTo(key);
        assertThat(window.isBound()).isFalse();
        assertThat(write(key, BASE, 8)).isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
    }

    private void sendWithInvalidate(int key) {
        SendRequest r = pair.a.claim(6, SendOpcode.SEND_WITH_INVALIDATE);
        r.list.add(local, 0, 8);
        r.invalidateKey = key;
        pair.a.publish(r);
        pair.run();
    }

    @Test
    void peerCanInvalidateOnlyTypeTwoWindowsOfItsQueuePair() {
        MemoryWindow one = memory.allocateWindow(false, Pair.PD);
        assertThat(bindStatus(one, region, 0, 8, REMOTE)).isEqualTo(CompletionStatus.SUCCESS);
        pair.b.postReceive(1, register(AccessFlag.LOCAL_WRITE.bit()), 0, 100);
        sendWithInvalidate(one.key());
        assertThat(pair.b.statuses(true)).containsExactly(CompletionStatus.REMOTE_INVALID_REQUEST_ERROR);
        assertThat(one.isBound()).isTrue();
    }

    @Test
    void onlyOwnWindowsCanBeInvalidatedLocally() {
        localInvalidate(region.key());
        assertThat(pair.b.done.removeLast().status()).isEqualTo(CompletionStatus.LOCAL_QUEUE_PAIR_OPERATION_ERROR);
        assertThat(region.isValid()).isTrue();
    }

    @Test
    void freeWindowCannotBeInvalidated() {
        localInvalidate(window.key());
        assertThat(pair.b.done.removeLast().status()).isEqualTo(CompletionStatus.LOCAL_QUEUE_PAIR_OPERATION_ERROR);
    }

    @Test
    void writeFailsWhenItsWindowIsDeallocatedBetweenItsPackets() {
        bindAll();
        pair.wire = w -> w.opcode() == Opcode.RC_WRITE_LAST ? List.of() : List.of(Pair.LATENCY_NANOS);
        SendRequest r = pair.a.claim(5, SendOpcode.RDMA_WRITE);
        r.list.add(local, 0, 2048);
        r.remoteKey = window.key();
        r.remoteAddress = BASE;
        pair.a.publish(r);
        pair.run(pair.now + 10 * Pair.LATENCY_NANOS);
        assertThat(target[1023]).isEqualTo(source[1023]);
        memory.deallocate(window);
        pair.wire = w -> List.of(Pair.LATENCY_NANOS);
        pair.run();
        assertThat(pair.a.statuses(false)).containsExactly(CompletionStatus.REMOTE_ACCESS_ERROR);
        assertThat(target[1024]).isZero();
    }

    @Test
    void queuePairResetFreesItsTypeTwoWindows() {
        MemoryWindow one = memory.allocateWindow(false, Pair.PD);
        bindAll();
        assertThat(bindStatus(one, region, 0, 8, REMOTE)).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(region.boundWindows()).isEqualTo(2);
        pair.b.queuePair.reset();
        assertThat(window.isBound()).isFalse();
        assertThat(one.isBound()).isTrue();
        memory.deallocate(one);
        memory.deallocate(one);
        assertThat(region.boundWindows()).isZero();
    }

    @Test
    void windowOfAnotherQueuePairIsRefused() {
        bindAll();
        RcQueuePair other = new RcQueuePair(0x33, pair.b.queuePair.configuration(), memory, c -> {}, c -> {}, e -> {});
        assertThat(memory.find(window.key(), BASE, 8, AccessFlag.REMOTE_WRITE.bit(), other))
                .isNull();
        assertThat(memory.find(window.key(), BASE, 8, AccessFlag.REMOTE_WRITE.bit(), pair.b.queuePair))
                .isNotNull();
        assertThat(memory.invalidate(window.key(), other)).isFalse();
    }

    // ---- type 1 ----

    @Test
    void typeOneWindowIsBoundAgainAndThenUnbound() {
        MemoryWindow one = memory.allocateWindow(false, Pair.PD);
        assertThat(bindStatus(one, region, 0, 8, REMOTE)).isEqualTo(CompletionStatus.SUCCESS);
        int first = one.key();
        assertThat(bindStatus(one, region, 64, 8, REMOTE)).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(region.boundWindows()).isEqualTo(1);
        assertThat(memory.find(first)).isNull();
        assertThat(write(one.key(), BASE + 64, 8)).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(bindStatus(one, null, 0, 0, 0)).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(region.boundWindows()).isZero();
        assertThat(write(one.key(), BASE + 64, 8)).isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
    }

    // ---- order among other work requests ----

    @Test
    void localOperationsCompleteOnceInOrderDespiteRetransmissions() {
        boolean[] lost = new boolean[1];
        pair.wire = w -> {
            boolean isFirstSend = !w.fromA() && w.opcode() == Opcode.RC_SEND_ONLY && !lost[0];
            lost[0] |= isFirstSend;
            return isFirstSend ? List.of() : List.of(Pair.LATENCY_NANOS);
        };
        MemoryRegion message = pair.b.register(8);
        for (int i = 0; i < 2; i++) {
            pair.a.postReceive(i, pair.a.register(8), 0, 8);
        }
        pair.b.post(1, SendOpcode.SEND, message, 0, 8);
        SendRequest bind = pair.b.claim(2, SendOpcode.BIND_MEMORY_WINDOW);
        bind.window = window;
        bind.remoteKey = 7;
        bind.bindRegion = region;
        bind.bindLength = 8;
        bind.bindAccess = REMOTE;
        pair.b.publish(bind);
        pair.b.post(3, SendOpcode.SEND, message, 0, 8);
        SendRequest invalidate = pair.b.claim(4, SendOpcode.LOCAL_INVALIDATE);
        invalidate.invalidateKey = window.key() | 7;
        pair.b.publish(invalidate);
        pair.run();
        assertThat(pair.b.ids(false)).containsExactly(1L, 2L, 3L, 4L);
        assertThat(pair.b.statuses(false)).containsOnly(CompletionStatus.SUCCESS);
        assertThat(pair.b.queuePair.counters().retransmittedPackets).isPositive();
    }

    @Test
    void failedLocalOperationFlushesOnlyLaterRequests() {
        pair.a.postReceive(1, pair.a.register(8), 0, 8);
        MemoryRegion message = pair.b.register(8);
        pair.b.post(1, SendOpcode.SEND, message, 0, 8);
        SendRequest invalidate = pair.b.claim(2, SendOpcode.LOCAL_INVALIDATE);
        invalidate.invalidateKey = 1;
        pair.b.publish(invalidate);
        pair.b.post(3, SendOpcode.SEND, message, 0, 8);
        pair.run();
        assertThat(pair.b.ids(false)).containsExactly(1L, 2L, 3L);
        assertThat(pair.b.statuses(false))
                .containsExactly(
                        CompletionStatus.SUCCESS,
                        CompletionStatus.LOCAL_QUEUE_PAIR_OPERATION_ERROR,
                        CompletionStatus.WORK_REQUEST_FLUSHED_ERROR);
    }

    @Test
    void fencedInvalidateWaitsForEarlierReads() {
        bindAll();
        MemoryRegion readable = pair.a.register(64);
        pair.wire = w -> w.fromA() ? List.of(50 * Pair.LATENCY_NANOS) : List.of(Pair.LATENCY_NANOS);
        pair.b.post(1, SendOpcode.RDMA_READ, register(AccessFlag.LOCAL_WRITE.bit()), 64, readable, 0);
        SendRequest invalidate = pair.b.claim(2, SendOpcode.LOCAL_INVALIDATE);
        invalidate.invalidateKey = window.key();
        invalidate.fence = true;
        pair.b.publish(invalidate);
        pair.run(pair.now + 20 * Pair.LATENCY_NANOS);
        assertThat(window.isBound()).isTrue();
        pair.run();
        assertThat(window.isBound()).isFalse();
        assertThat(pair.b.ids(false)).containsExactly(1L, 2L);
    }

    @Test
    void unreliableQueuePairBindsWindowsToo() {
        UcPair unreliable = new UcPair();
        MemoryTable table = unreliable.b.memory;
        MemoryRegion bound = table.register(MemorySegment.ofArray(target), BASE, REGION, Pair.PD);
        MemoryWindow two = table.allocateWindow(true, Pair.PD);
        SendRequest bind =
                Objects.requireNonNull(unreliable.b.queuePair.sendQueue().claim());
        bind.opcode = SendOpcode.BIND_MEMORY_WINDOW;
        bind.signaled = true;
        bind.window = two;
        bind.bindRegion = bound;
        bind.bindLength = 64;
        bind.bindAccess = REMOTE;
        unreliable.b.queuePair.sendQueue().publish();
        assertThat(unreliable.b.sent()).isEmpty();
        assertThat(unreliable.b.done).extracting(Pair.Done::status).containsExactly(CompletionStatus.SUCCESS);
        MemoryRegion from = unreliable.a.register(source, 0);
        unreliable.a.post(1, SendOpcode.RDMA_WRITE, from, 64, Objects.requireNonNull(two.range()));
        unreliable.deliver(unreliable.a.sent());
        assertThat(target).startsWith(Arrays.copyOf(source, 64));
    }

    @Test
    void aRegionWithABoundWindowCannotBeChanged() {
        bindAll();
        int key = window.key();
        assertThat(memory.change(region, REGION, Pair.PD)).isNull();
        assertThat(memory.move(region, region.memory(), BASE, REGION, Pair.PD)).isNull();
        assertThat(memory.find(region.key())).isSameAs(region);
        assertThat(memory.size()).isEqualTo(1);
        localInvalidate(key);
        assertThat(memory.change(region, AccessFlag.LOCAL_WRITE.bit(), Pair.PD)).isNotNull();
    }

    @Test
    void bindNeedsTheCurrentRightsAndDomain() {
        assertThat(memory.change(region, AccessFlag.LOCAL_WRITE.bit(), Pair.PD)).isNotNull();
        assertThat(bindStatus(window, region, 0, BYTES, REMOTE)).isEqualTo(CompletionStatus.MEMORY_WINDOW_BIND_ERROR);
    }

    @Test
    void aWindowIsBoundToTheChangedRegion() {
        MemoryRegion changed = Objects.requireNonNull(memory.change(region, REGION, Pair.PD));
        bindAll();
        assertThat(changed.boundWindows()).isEqualTo(1);
        assertThat(memory.deregister(region)).isFalse();
    }
}
