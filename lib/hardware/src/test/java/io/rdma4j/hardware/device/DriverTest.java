package io.rdma4j.hardware.device;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.fixture.BlockedThread;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.Gid;
import io.rdma4j.value.PathMtu;
import io.rdma4j.value.PlacementType;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.AddressVector;
import io.rdma4j.verbs.AsyncEvent;
import io.rdma4j.verbs.ClosedException;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionOpcode;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceCapability;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.OnDemandOperation;
import io.rdma4j.verbs.PartialPostException;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WaitSet;
import io.rdma4j.verbs.WorkCompletion;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests the objects of verbs over an in-memory driver. The tests cover the structures that C reads and writes, errors,
 * waiting, and the order of closing.
 */
class DriverTest {
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final int SIZE = 256;

    private TestDriver driver;
    private int liveBefore;
    private DeviceContext context;
    private ProtectionDomain domain;
    private CompletionChannel channel;
    private CompletionQueue queue;
    private QueuePair queuePair;
    private Arena arena;
    private MemoryRegion region;
    private final WorkCompletion[] completions = WorkCompletion.array(40);

    @BeforeEach
    void open() throws Throwable {
        driver = TestDriver.loaded();
        liveBefore = driver.liveObjects();
        context = driver.device().open();
        domain = context.createProtectionDomain();
        channel = context.createCompletionChannel();
        queue = context.createCompletionQueue(32, channel);
        queuePair = domain.createQueuePair(
                QueuePairInitAttributes.reliable(queue, new QueuePairCapabilities(32, 32, 2, 2, 32)));
        arena = Arena.ofShared();
        region = domain.register(
                arena.allocate(SIZE), AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
    }

    @AfterEach
    void close() throws Throwable {
        if (context != null) {
            context.close();
            arena.close();
            assertThat(driver.liveObjects()).as("objects of C").isEqualTo(liveBefore);
        }
    }

    private WorkCompletion one() {
        assertThat(queue.poll(completions)).isEqualTo(1);
        return completions[0];
    }

    @Test
    void theDeviceDescribesItself() {
        assertThat(context.device().name()).isEqualTo("test0");
        assertThat(context.device().guid()).isEqualTo(0x0102030405060708L);
        assertThat(context.attributes().firmwareVersion()).isEqualTo("1.2.3");
        assertThat(context.attributes().maxScatterGather()).isEqualTo(4);
        assertThat(context.attributes().maxInlineBytes()).isEqualTo(64);
        assertThat(context.completionVectors()).isEqualTo(2);
        assertThat(context.port(1).isActive()).isTrue();
        assertThat(context.port(1).maxMessageBytes()).isEqualTo(1L << 31);
        assertThat(context.gids(1)).containsExactly(Gid.ZERO, Gid.of(InetAddress.ofLiteral("192.0.2.1")));
        assertThat(context.partitionKey(1, 0)).isEqualTo(0xffff);
        assertThat(context.partitionKeyIndex(1, 0x1234)).isEqualTo(-1);
        assertThatThrownBy(() -> context.gids(2)).hasMessageContaining("test0 has no port 2");
    }

    @Test
    void aSendFillsTheReceiveAndBothComplete() {
        TestDriver.readyToSend(queuePair);
        SentMessage.check(queuePair, queue, region, completions);
    }

    @Test
    void aRefusedRequestNamesTheStateOfTheQueuePair() {
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.INIT));
        assertThatThrownBy(() -> queuePair.postSend(SendWorkRequest.send(1, region, 0, 8)))
                .isInstanceOfSatisfying(
                        RdmaException.class,
                        refused -> assertThat(refused.errno()).isEqualTo(Errno.EINVAL))
                .hasMessageContaining("ibv_post_send")
                .hasMessageContaining("whose state is INIT");
    }

    @Test
    void writesReadsAndAtomicsCarryTheirAddressesAndValues() {
        TestDriver.readyToSend(queuePair);
        region.memory().set(JAVA_LONG, 0, 42);
        queuePair.postWrite(1, region, 0, 8, region.remote().slice(64, 8));
        assertThat(one().opcode()).isEqualTo(CompletionOpcode.RDMA_WRITE);
        assertThat(region.memory().get(JAVA_LONG, 64)).isEqualTo(42);
        queuePair.postRead(2, region, 128, 8, region.remote().slice(64, 8));
        assertThat(one().opcode()).isEqualTo(CompletionOpcode.RDMA_READ);
        assertThat(region.memory().get(JAVA_LONG, 128)).isEqualTo(42);
        queuePair.postSend(
                SendWorkRequest.fetchAndAdd(3, region, region.remote().slice(64, 8), 8)
                        .signaled());
        assertThat(one().opcode()).isEqualTo(CompletionOpcode.FETCH_AND_ADD);
        queuePair.postSend(
                SendWorkRequest.compareAndSwap(4, region, region.remote().slice(64, 8), 50, 99)
                        .signaled());
        assertThat(one().opcode()).isEqualTo(CompletionOpcode.COMPARE_AND_SWAP);
        assertThat(region.memory().get(JAVA_LONG, 0)).isEqualTo(50);
        assertThat(region.memory().get(JAVA_LONG, 64)).isEqualTo(99);
    }

    @Test
    void aChainThatIsLongerThanOneCallIsPostedInOrder() {
        TestDriver.readyToSend(queuePair);
        ReceiveWorkRequest[] receives = new ReceiveWorkRequest[20];
        SendWorkRequest[] sends = new SendWorkRequest[20];
        for (int i = 0; i < 20; i++) {
            receives[i] = new ReceiveWorkRequest().reset(i).into(region, 0, 4);
            sends[i] = SendWorkRequest.send(100 + i, region, 8, 4);
        }
        queuePair.postReceives(receives, 20);
        queuePair.postSends(sends, 20);
        assertThat(queue.poll(completions)).isEqualTo(20);
        for (int i = 0; i < 20; i++) {
            assertThat(completions[i].id()).isEqualTo(i);
        }
    }

    @Test
    void aRefusedRequestOfAChainIsNamed() {
        TestDriver.readyToSend(queuePair);
        SendWorkRequest[] sends = new SendWorkRequest[20];
        for (int i = 0; i < 20; i++) {
            queuePair.postReceive(new ReceiveWorkRequest().reset(i));
            sends[i] = SendWorkRequest.send(i, region, 0, 4);
        }
        queuePair.postSend(sends[0]);
        queuePair.postSend(sends[0]);
        assertThatThrownBy(() -> queuePair.postSends(sends, 20))
                .isInstanceOfSatisfying(PartialPostException.class, partial -> {
                    assertThat(partial.posted()).isEqualTo(18);
                    assertThat(partial.errno()).isEqualTo(Errno.ENOMEM);
                });
    }

    @Test
    void aRequestWithTooManyEntriesIsRefusedBeforeItReachesC() {
        TestDriver.readyToSend(queuePair);
        SendWorkRequest request =
                SendWorkRequest.send(1, region, 0, 4).from(region, 4, 4).from(region, 8, 4);
        assertThatThrownBy(() -> queuePair.postSend(request)).hasMessageContaining("3 pieces, but it takes 2");
    }

    @Test
    void attributesReachCAndComeBack() {
        TestDriver.readyToSend(queuePair);
        QueuePairAttributes result = queuePair.query();
        assertThat(queuePair.state()).isEqualTo(QueuePairState.READY_TO_SEND);
        assertThat(result.destinationQueuePair()).isEqualTo(0x123);
        assertThat(result.receivePsn()).isEqualTo(5);
        assertThat(result.pathMtu()).isEqualTo(PathMtu.MTU_1024);
        assertThat(result.accessFlags()).containsExactly(AccessFlag.REMOTE_WRITE);
        assertThat(result.addressVector()).isEqualTo(AddressVector.of(1, Gid.of(InetAddress.ofLiteral("192.0.2.1"))));
    }

    @Test
    void aRefusedChangeOfTheStateNamesTheMissingAttributes() {
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.INIT));
        assertThatThrownBy(() -> queuePair.modify(new QueuePairAttributes().state(QueuePairState.READY_TO_RECEIVE)))
                .hasMessageContaining("INIT")
                .hasMessageContaining("needs")
                .hasMessageContaining("ADDRESS_VECTOR");
    }

    @Test
    void aWaitingThreadReceivesTheEventOfACompletion() throws Exception {
        TestDriver.readyToSend(queuePair);
        for (boolean isVirtual : new boolean[] {false, true}) {
            queue.requestNotification(false);
            CompletableFuture<CompletionQueue> event = new CompletableFuture<>();
            Runnable wait = () -> event.complete(channel.await());
            BlockedThread.await(
                    isVirtual
                            ? Thread.ofVirtual().start(wait)
                            : Thread.ofPlatform().start(wait));
            queuePair.postWrite(1, region, 0, 8, region.remote().slice(64, 8));
            assertThat(event.get(20, TimeUnit.SECONDS)).isEqualTo(queue);
            queue.acknowledgeEvents(1);
            assertThat(one().isSuccess()).isTrue();
        }
        assertThat(channel.await(Duration.ofMillis(20))).isNull();
    }

    @Test
    void aWaitSetSeesTheEvent() {
        TestDriver.readyToSend(queuePair);
        try (WaitSet set = WaitSet.of(context.asyncEvents(), channel)) {
            assertThat(set.await(Duration.ofMillis(5))).isEmpty();
            queue.requestNotification(false);
            queuePair.postWrite(1, region, 0, 8, region.remote().slice(64, 8));
            assertThat(set.await(SOON)).containsExactly(channel);
            assertThat(channel.poll()).isEqualTo(queue);
            queue.acknowledgeEvents(1);
        }
    }

    @Test
    void anInterruptEndsAWait() throws Exception {
        CompletableFuture<Throwable> thrown = new CompletableFuture<>();
        Thread thread = Thread.ofPlatform().start(() -> {
            try {
                thrown.complete(new AssertionError("an event " + channel.await()));
            } catch (RdmaException expected) {
                thrown.complete(expected);
            }
        });
        BlockedThread.await(thread);
        thread.interrupt();
        assertThat(thrown.get(20, TimeUnit.SECONDS))
                .isInstanceOfSatisfying(
                        RdmaException.class,
                        failure -> assertThat(failure.errno()).isEqualTo(Errno.EINTR));
    }

    @Test
    void closingAChannelEndsItsWaits() throws Exception {
        CompletionChannel other = context.createCompletionChannel();
        FutureTask<Throwable> thrown = new FutureTask<>(() -> {
            try {
                return new AssertionError("an event " + other.await());
            } catch (RdmaException expected) {
                return expected;
            }
        });
        BlockedThread.await(Thread.ofVirtual().start(thrown));
        other.close();
        assertThat(thrown.get(20, TimeUnit.SECONDS)).isInstanceOf(ClosedException.class);
    }

    @Test
    void closedObjectsRefuseCalls() {
        TestDriver.readyToSend(queuePair);
        queuePair.close();
        queuePair.close();
        assertThatThrownBy(() -> queuePair.postSend(SendWorkRequest.send(1, region, 0, 4)))
                .isInstanceOf(ClosedException.class)
                .hasMessageContaining("queue pair 0x000123 of test0 is closed");
        assertThatThrownBy(queuePair::state).isInstanceOf(ClosedException.class);
        assertThatThrownBy(channel::close)
                .isInstanceOfSatisfying(
                        RdmaException.class, busy -> assertThat(busy.errno()).isEqualTo(Errno.EBUSY));
        queue.close();
        assertThatThrownBy(() -> queue.poll(completions)).isInstanceOf(ClosedException.class);
        channel.close();
        assertThatThrownBy(channel::poll).isInstanceOf(ClosedException.class);
    }

    @Test
    void aChannelWithoutAnEventWakesNobody() throws InterruptedException {
        CountDownLatch raised = new CountDownLatch(1);
        channel.signal().add(raised::countDown);
        assertThat(channel.poll()).isNull();
        assertThat(raised.getCount()).isEqualTo(1);
        TestDriver.readyToSend(queuePair);
        queue.requestNotification(false);
        queuePair.postWrite(1, region, 0, 8, region.remote().slice(64, 8));
        assertThat(channel.await(SOON)).isEqualTo(queue);
        // The thread of the descriptors may raise the signal after this thread has taken the event.
        assertThat(raised.await(20, TimeUnit.SECONDS)).isTrue();
        queue.acknowledgeEvents(1);
    }

    @Test
    void aQueueWithATakenEventCloses() {
        TestDriver.readyToSend(queuePair);
        queue.requestNotification(false);
        queuePair.postWrite(1, region, 0, 8, region.remote().slice(64, 8));
        assertThat(channel.await(SOON)).isEqualTo(queue);
        queuePair.close();
        CompletableFuture<Void> closed = CompletableFuture.runAsync(queue::close);
        assertThat(closed.isDone()).isFalse();
        queue.acknowledgeEvents(1);
        closed.orTimeout(20, TimeUnit.SECONDS).join();
    }

    @Test
    void aContextStaysUntilOtherThreadsHaveDestroyedTheirObjects() throws Throwable {
        driver.holdDestroy(true);
        Executor threads = task -> Thread.ofPlatform().start(task);
        CompletableFuture<Void> first = CompletableFuture.runAsync(queuePair::close, threads);
        while (driver.callsInDestroy() == 0) {
            Thread.onSpinWait();
        }
        CompletableFuture<Void> second = CompletableFuture.runAsync(context::close, threads);
        try {
            assertThatThrownBy(() -> second.get(300, TimeUnit.MILLISECONDS)).isInstanceOf(TimeoutException.class);
        } finally {
            driver.holdDestroy(false);
        }
        CompletableFuture.allOf(first, second).orTimeout(20, TimeUnit.SECONDS).join();
        assertThat(driver.liveObjectsAtClose()).as("objects of C").isEqualTo(liveBefore);
    }

    @Test
    void completionsBeforeAFailedPollAreNotLost() throws Throwable {
        TestDriver.readyToSend(queuePair);
        for (int i = 0; i < 20; i++) {
            queuePair.postWrite(i, region, 0, 8, region.remote().slice(64, 8));
        }
        driver.failsPollAfter(1);
        try {
            assertThat(queue.poll(WorkCompletion.array(20))).isEqualTo(16);
        } finally {
            driver.failsPollAfter(-1);
        }
        assertThat(queue.poll(WorkCompletion.array(20))).isEqualTo(4);
        driver.failsPollAfter(0);
        assertThatThrownBy(() -> queue.poll(WorkCompletion.array(1))).hasMessageContaining("has overrun or failed");
    }

    @Test
    void aReceiveWithoutAHeaderNamesItsSource() {
        TestDriver.readyToSend(queuePair);
        queuePair.postReceive(new ReceiveWorkRequest().reset(1).into(region, 0, 8));
        queuePair.postSend(SendWorkRequest.send(2, region, 8, 8));
        WorkCompletion receive = one();
        assertThat(receive.opcode()).isEqualTo(CompletionOpcode.RECEIVE);
        assertThat(receive.sourceQueuePairNumber()).isEqualTo(0x123);
        assertThat(receive.hasGlobalRoute()).isFalse();
    }

    @ParameterizedTest
    @EnumSource(
            value = AsyncEvent.Type.class,
            names = {
                "PORT_ACTIVE",
                "LOCAL_IDENTIFIER_CHANGE",
                "PARTITION_KEY_CHANGE",
                "SUBNET_MANAGER_CHANGE",
                "CLIENT_REREGISTER",
                "GID_CHANGE"
            })
    void eventsOfAPortAreReported(AsyncEvent.Type type) throws Throwable {
        driver.reportEvent(type.code());
        assertThat(context.awaitAsyncEvent(SOON)).isEqualTo(new AsyncEvent(type, context, 1));
    }

    @Test
    void aCompletionQueueMayReportItsEntriesWithoutAnUnusedOne() throws Throwable {
        driver.reportsFewerEntries(1);
        try (CompletionQueue large = context.createCompletionQueue(64)) {
            assertThat(large.capacity()).isEqualTo(63);
        } finally {
            driver.reportsFewerEntries(0);
        }
    }

    @Test
    void aCompletionQueueWithAnUnknownStructureIsDestroyed() throws Throwable {
        int before = driver.liveObjects();
        driver.reportsFewerEntries(2);
        try {
            assertThatThrownBy(() -> context.createCompletionQueue(64))
                    .hasMessageContaining("struct ibv_cq of the installed library differs");
        } finally {
            driver.reportsFewerEntries(0);
        }
        assertThat(driver.liveObjects()).isEqualTo(before);
    }

    @Test
    void anArenaStaysOpenWhileItsMemoryIsRegistered() {
        MemoryRegion second = domain.register(region.memory(), AccessFlag.LOCAL_WRITE);
        assertThatThrownBy(arena::close).isInstanceOf(IllegalStateException.class);
        region.close();
        assertThatThrownBy(arena::close).isInstanceOf(IllegalStateException.class);
        second.close();
        arena.close();
        assertThatThrownBy(() -> domain.register(second.memory(), AccessFlag.LOCAL_WRITE))
                .hasMessageContaining("the arena of the memory is closed");
        arena = Arena.ofShared();
    }

    @Test
    void memoryThatADeviceCannotUseIsRefused() {
        assertThatThrownBy(() -> domain.register(MemorySegment.ofArray(new byte[8]), AccessFlag.LOCAL_WRITE))
                .hasMessageContaining("memory on the heap moves");
        try (Arena confined = Arena.ofConfined()) {
            MemorySegment memory = confined.allocate(8);
            assertThatThrownBy(() -> domain.register(memory, AccessFlag.LOCAL_WRITE))
                    .hasMessageContaining("confined to one thread");
        }
        MemorySegment readOnly = arena.allocate(8).asReadOnly();
        assertThatThrownBy(() -> domain.register(readOnly, AccessFlag.LOCAL_WRITE))
                .hasMessageContaining("the memory is read-only");
        domain.register(readOnly, AccessFlag.REMOTE_READ).close();
        assertThatThrownBy(() -> domain.register(arena.allocate(8), AccessFlag.REMOTE_WRITE))
                .hasMessageContaining("need LOCAL_WRITE");
    }

    @Test
    void aRegionHasTheAddressThatTheProgramChooses() {
        TestDriver.readyToSend(queuePair);
        MemorySegment memory = arena.allocate(64);
        long address = 0x7000_0000_0000_0000L + (memory.address() & 0xfff);
        try (MemoryRegion chosen = domain.register(
                memory, address, Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE))) {
            assertThat(chosen.address()).isEqualTo(address);
            assertThat(chosen.remote().address()).isEqualTo(address);
            region.memory().set(JAVA_LONG, 0, 42);
            queuePair.postWrite(1, region, 0, 8, chosen.remote().slice(8, 8));
            assertThat(one().isSuccess()).isTrue();
            assertThat(memory.get(JAVA_LONG, 8)).isEqualTo(42);
            queuePair.postWrite(2, chosen, 8, 8, region.remote().slice(64, 8));
            assertThat(one().isSuccess()).isTrue();
            assertThat(region.memory().get(JAVA_LONG, 64)).isEqualTo(42);
        }
    }

    @Test
    void anAddressWithAnotherOffsetInThePageIsRefusedWithTheOffset() {
        try (Arena other = Arena.ofShared()) { // a refused registration does not hold it
            MemorySegment memory = other.allocate(64, 4096).asSlice(0x10);
            assertThatThrownBy(() -> domain.register(memory, 0x2000, Set.of(AccessFlag.LOCAL_WRITE)))
                    .isInstanceOfSatisfying(
                            RdmaException.class,
                            failure -> assertThat(failure.errno()).isEqualTo(Errno.EINVAL))
                    .hasMessageContaining("48 bytes at 0x2000, [LOCAL_WRITE]")
                    .hasMessageContaining("Choose an address with the offset of the memory in its page, 0x10");
            assertThatThrownBy(() -> domain.register(memory, 0x2010, Set.of(AccessFlag.ZERO_BASED)))
                    .hasMessageContaining("ZERO_BASED chooses the address 0");
        }
    }

    @Test
    void aDriverThatIgnoresTheAddressRefusesIt() throws Throwable {
        driver.vendor(0x62_6d74);
        try (DeviceContext siw = driver.device().open();
                ProtectionDomain other = siw.createProtectionDomain()) {
            MemorySegment memory = arena.allocate(64);
            Set<AccessFlag> access = Set.of(AccessFlag.LOCAL_WRITE);
            assertThatThrownBy(() -> other.register(memory, 0x1000, access))
                    .isInstanceOfSatisfying(
                            RdmaException.class,
                            failure -> assertThat(failure.errno()).isEqualTo(Errno.EOPNOTSUPP))
                    .hasMessageContaining("test0 ignores the address 0x1000");
            assertThatThrownBy(() -> other.register(memory, AccessFlag.ZERO_BASED))
                    .hasMessageContaining("test0 ignores the address 0x0");
            other.register(memory, memory.address(), access).close();
        } finally {
            driver.vendor(0);
        }
    }

    @Test
    void flushAndAtomicWriteAreRefusedBeforeTheyReachC() {
        TestDriver.readyToSend(queuePair);
        for (SendWorkRequest request : List.of(
                SendWorkRequest.flush(1, region.remote(), Set.of(PlacementType.GLOBAL)),
                SendWorkRequest.atomicWrite(2, region.remote(), 1))) {
            assertThatThrownBy(() -> queuePair.postSend(request))
                    .isInstanceOfSatisfying(
                            RdmaException.class,
                            failure -> assertThat(failure.errno()).isEqualTo(Errno.EOPNOTSUPP))
                    .hasMessageContaining(request.opcode() + " on a hardware device");
        }
        SendWorkRequest later =
                SendWorkRequest.write(3, region, region.remote()).signaled();
        queuePair.postSend(later);
        assertThat(one().id()).isEqualTo(3);
    }

    @Test
    void theDeviceReportsWhichFlushesItExecutes() throws Throwable {
        assertThat(context.attributes().capabilities().contains(DeviceCapability.FLUSH_GLOBAL))
                .isTrue();
        assertThat(context.attributes().capabilities().contains(DeviceCapability.FLUSH_PERSISTENT))
                .isFalse();
        assertThat(context.attributes().capabilities().contains(DeviceCapability.ATOMIC_WRITE))
                .isTrue();
        try (MemoryRegion _ = domain.register(arena.allocate(64), AccessFlag.FLUSH_GLOBAL)) {
            assertThat(driver.lastAccess()).isEqualTo(1 << 8);
        }
        assertThatThrownBy(() -> domain.register(arena.allocate(64), AccessFlag.FLUSH_PERSISTENT))
                .isInstanceOfSatisfying(
                        RdmaException.class,
                        failure -> assertThat(failure.errno()).isEqualTo(Errno.EOPNOTSUPP))
                .hasMessageContaining("test0 does not execute FLUSHes of peers");
    }

    @Test
    void theFlagsOfARegistrationReachC() throws Throwable {
        AccessFlag[] flags = {
            AccessFlag.LOCAL_WRITE, AccessFlag.ON_DEMAND, AccessFlag.HUGE_TLB, AccessFlag.RELAXED_ORDERING
        };
        try (MemoryRegion flagged = domain.register(arena.allocate(64), flags)) {
            assertThat(driver.lastAccess()).isEqualTo(1 | 64 | 128 | 1 << 20);
            assertThat(flagged.access()).containsExactlyInAnyOrder(flags);
        }
    }

    @Test
    void theDeviceReportsOnDemandPaging() {
        assertThat(context.attributes().hasOnDemandPaging()).isTrue();
        assertThat(context.attributes().onDemandOperations(QueuePairType.RELIABLE_CONNECTION))
                .containsExactlyInAnyOrder(OnDemandOperation.SEND, OnDemandOperation.READ);
        assertThat(context.attributes().onDemandOperations(QueuePairType.UNRELIABLE_DATAGRAM))
                .isEmpty();
    }

    @Test
    void aDeviceWithoutOnDemandPagingRefusesIt() throws Throwable {
        driver.lacksExtensions(true);
        try (DeviceContext basic = driver.device().open();
                ProtectionDomain other = basic.createProtectionDomain()) {
            assertThat(basic.attributes().hasOnDemandPaging()).isFalse();
            assertThatThrownBy(() -> other.register(arena.allocate(64), AccessFlag.ON_DEMAND))
                    .isInstanceOfSatisfying(
                            RdmaException.class,
                            failure -> assertThat(failure.errno()).isEqualTo(Errno.EOPNOTSUPP))
                    .hasMessageContaining("test0 cannot page memory on demand");
        } finally {
            driver.lacksExtensions(false);
        }
    }

    @Test
    void aCErrorIsReportedWithItsErrnoAndTheObjects() {
        assertThatThrownBy(() -> domain.register(arena.allocate(13), AccessFlag.LOCAL_WRITE))
                .isInstanceOfSatisfying(RdmaException.class, failure -> {
                    assertThat(failure.errno()).isEqualTo(Errno.ENOMEM);
                    assertThat(failure).hasMessageContaining("13 bytes at 0x").hasMessageContaining(", [LOCAL_WRITE]");
                });
    }

    @Test
    void aLibraryWithAnotherBinaryInterfaceIsRefused() throws Throwable {
        driver.hasOtherAbi(true);
        try {
            assertThatThrownBy(() -> driver.device().open())
                    .hasMessageContaining("test0: the installed libibverbs.so.1 has another binary interface");
        } finally {
            driver.hasOtherAbi(false);
        }
    }

    @Test
    void threadsThatPostWhileAnotherClosesGetAnException() throws Exception {
        for (int round = 0; round < 50; round++) {
            QueuePair shared = domain.createQueuePair(
                    QueuePairInitAttributes.reliable(queue, new QueuePairCapabilities(8, 8, 1, 1, 0)));
            CompletableFuture<Void> poster = CompletableFuture.runAsync(() -> {
                try {
                    while (true) {
                        shared.postReceives(new ReceiveWorkRequest[] {new ReceiveWorkRequest()}, 1);
                        shared.postSend(new SendWorkRequest());
                    }
                } catch (RdmaException closedOrFull) {
                    // The queue pair is not connected, full or closed.
                }
            });
            shared.close();
            poster.get(20, TimeUnit.SECONDS);
        }
    }
}
