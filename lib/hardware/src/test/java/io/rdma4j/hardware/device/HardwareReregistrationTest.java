package io.rdma4j.hardware.device;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.value.AccessFlag;
import io.rdma4j.verbs.ClosedException;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.MemoryRegionChange;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests changes of registered memory over an in-memory driver: the arguments and errors of C, and which arenas are
 * held.
 */
@Timeout(60)
class HardwareReregistrationTest {
    private static final int INPUT = -1;
    private static final int DONT_FORK_NEW = -2;
    private static final int DO_FORK_OLD = -3;
    private static final int COMMAND = -4;
    private static final int COMMAND_AND_DO_FORK_NEW = -5;
    private static final int EOPNOTSUPP = 95;
    private static final int ENOMEM = 12;

    private static final Executor THREADS = task -> Thread.ofPlatform().start(task);

    private TestDriver driver;
    private int liveBefore;
    private DeviceContext context;
    private ProtectionDomain domain;
    private CompletionQueue queue;
    private QueuePair queuePair;
    private final Arena old = Arena.ofShared();
    private final Arena fresh = Arena.ofShared();
    private final MemorySegment memory = old.allocate(256);
    private final MemorySegment other = fresh.allocate(512);
    private MemoryRegion region;

    @BeforeEach
    void open() throws Throwable {
        driver = TestDriver.loaded();
        liveBefore = driver.liveObjects();
        context = driver.device().open();
        domain = context.createProtectionDomain();
        queue = context.createCompletionQueue(32);
        queuePair = domain.createQueuePair(
                QueuePairInitAttributes.reliable(queue, new QueuePairCapabilities(32, 32, 2, 2, 32)));
        region = domain.register(memory, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
    }

    @AfterEach
    void close() throws Throwable {
        if (context != null) {
            driver.reregisterFails(0, 0);
            context.close();
            assertThat(driver.liveObjects()).as("objects of C").isEqualTo(liveBefore);
            assertCloses(old);
            assertCloses(fresh);
        }
    }

    private static void assertCloses(Arena arena) {
        if (arena.scope().isAlive()) {
            arena.close();
        }
    }

    private static void assertHeld(Arena arena) {
        assertThatThrownBy(arena::close).isInstanceOf(IllegalStateException.class);
    }

    private void assertSucceeds() {
        WorkCompletion[] one = WorkCompletion.array(1);
        assertThat(queue.poll(one)).isEqualTo(1);
        assertThat(one[0].isSuccess()).isTrue();
    }

    @Test
    void rightsAndDomainReachCAndTheKeysAreReadAgain() throws Throwable {
        int key = region.localKey();
        ProtectionDomain second = context.createProtectionDomain();
        region.reregister(MemoryRegionChange.ofAccess(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ));
        assertThat(driver.lastChanges()).isEqualTo(4);
        assertThat(driver.lastAccess()).isEqualTo(5);
        assertThat(region.access()).containsExactlyInAnyOrder(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ);
        assertThat(region.localKey()).isEqualTo(key + 0x10000);
        region.reregister(MemoryRegionChange.ofProtectionDomain(second));
        assertThat(driver.lastChanges()).isEqualTo(2);
        assertThat(region.protectionDomain()).isSameAs(second);
        assertThat(region.localKey()).isEqualTo(key + 0x20000);
        assertThat(region.address()).isEqualTo(memory.address());
        assertHeld(old);
    }

    @Test
    void otherMemoryIsUsedAndTheArenaOfTheOldIsReleased() throws Throwable {
        TestDriver.readyToSend(queuePair);
        region.reregister(MemoryRegionChange.ofMemory(other));
        assertThat(driver.lastChanges()).isEqualTo(1);
        old.close();
        assertHeld(fresh);
        assertThat(region.memory()).isEqualTo(other);
        assertThat(region.lengthBytes()).isEqualTo(512);
        assertThat(region.address()).isEqualTo(other.address());
        assertThat(region.remote().lengthBytes()).isEqualTo(512);
        other.set(JAVA_LONG, 0, 42);
        queuePair.postWrite(1, region, 0, 8, region.remote().slice(504, 8));
        assertSucceeds();
        assertThat(other.get(JAVA_LONG, 504)).isEqualTo(42);
        region.close();
        fresh.close();
    }

    @Test
    void aChangeThatForkedProcessesDoNotSeeIsMade() throws Throwable {
        driver.reregisterFails(DO_FORK_OLD, ENOMEM);
        region.reregister(MemoryRegionChange.ofMemory(other));
        assertThat(region.memory()).isEqualTo(other);
        old.close();
    }

    @Test
    void anErrorThatLeavesTheOldRegistrationReleasesTheNewMemory() throws Throwable {
        refusedWithoutEffect(INPUT, ENOMEM, Errno.ENOMEM, "");
        refusedWithoutEffect(DONT_FORK_NEW, ENOMEM, Errno.ENOMEM, "");
        // a driver without the call returns this
        refusedWithoutEffect(
                COMMAND, EOPNOTSUPP, Errno.EOPNOTSUPP, "The driver cannot change this: register the memory");
        fresh.close();
    }

    private void refusedWithoutEffect(int result, int error, Errno errno, String words) throws Throwable {
        int key = region.localKey();
        driver.reregisterFails(result, error);
        assertThatThrownBy(() -> region.reregister(MemoryRegionChange.ofMemory(other)))
                .isInstanceOfSatisfying(
                        RdmaException.class,
                        refused -> assertThat(refused.errno()).isEqualTo(errno))
                .hasMessageContaining("ibv_rereg_mr")
                .hasMessageContaining(words);
        assertThat(region.memory()).isEqualTo(memory);
        assertThat(region.localKey()).isEqualTo(key);
        assertHeld(old);
    }

    @Test
    void anErrorDuringTheChangeHoldsBothArenasUntilTheRegionIsClosed() throws Throwable {
        for (int result : new int[] {COMMAND, COMMAND_AND_DO_FORK_NEW}) {
            driver.reregisterFails(result, ENOMEM);
            assertThatThrownBy(() -> region.reregister(MemoryRegionChange.ofMemory(other)))
                    .isInstanceOfSatisfying(RdmaException.class, failed -> {
                        assertThat(failed.errno()).isEqualTo(Errno.EIO);
                        assertThat(failed).hasMessageContaining("the driver failed during the change with ENOMEM");
                        assertThat(failed.getCause())
                                .isInstanceOfSatisfying(
                                        RdmaException.class,
                                        cause -> assertThat(cause.errno()).isEqualTo(Errno.ENOMEM));
                    });
        }
        assertHeld(old);
        assertHeld(fresh);
        region.close();
        old.close();
        fresh.close();
    }

    @Test
    void changesThatADeviceCannotMakeAreRefusedBeforeTheyReachC() throws Throwable {
        driver.reregisterFails(0, 0);
        int before = driver.lastChanges();
        refused(Errno.EINVAL, new MemoryRegionChange(null, null, null), "without a change");
        refused(Errno.EOPNOTSUPP, MemoryRegionChange.ofMemory(MemorySegment.ofArray(new byte[8])), "on the heap");
        refused(
                Errno.EOPNOTSUPP,
                MemoryRegionChange.ofMemory(other).withAccess(AccessFlag.ZERO_BASED),
                "with addresses from 0");
        refused(Errno.EINVAL, MemoryRegionChange.ofAccess(AccessFlag.ZERO_BASED), "ZERO_BASED changes the addresses");
        refused(Errno.EINVAL, MemoryRegionChange.ofAccess(AccessFlag.REMOTE_WRITE), "need LOCAL_WRITE");
        try (DeviceContext another = driver.device().open();
                ProtectionDomain foreign = another.createProtectionDomain()) {
            refused(Errno.EINVAL, MemoryRegionChange.ofProtectionDomain(foreign), "is of another device");
        }
        assertThat(driver.lastChanges()).isEqualTo(before);
        refused(Errno.EINVAL, MemoryRegionChange.ofMemory(other.asSlice(0, 0)), "Choose memory of at least one byte");
        ProtectionDomain closed = context.createProtectionDomain();
        closed.close();
        assertThatThrownBy(() -> region.reregister(MemoryRegionChange.ofProtectionDomain(closed)))
                .isInstanceOf(ClosedException.class);
        region.close();
        assertThatThrownBy(() -> region.reregister(MemoryRegionChange.ofMemory(other)))
                .isInstanceOf(ClosedException.class);
        fresh.close();
    }

    private void refused(Errno errno, MemoryRegionChange change, String words) {
        assertThatThrownBy(() -> region.reregister(change))
                .isInstanceOfSatisfying(
                        RdmaException.class,
                        refused -> assertThat(refused.errno()).isEqualTo(errno))
                .hasMessageContaining(words);
    }

    /** The driver copies inline data by their address. Memory that is replaced meanwhile must stay valid until then. */
    @Test
    void theArenaOfTheOldMemoryIsHeldWhileADriverReadsInlineDataThere() throws Throwable {
        TestDriver.readyToSend(queuePair);
        memory.set(JAVA_LONG, 0, 42);
        MemoryRegion target =
                domain.register(Arena.ofAuto().allocate(8), AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
        SendWorkRequest inline = new SendWorkRequest()
                .reset(1)
                .from(region, 0, 8)
                .inline()
                .signaled()
                .write(target.address(), target.remoteKey());
        driver.holdInline(true);
        CompletableFuture<Void> post = CompletableFuture.runAsync(() -> queuePair.postSend(inline), THREADS);
        CompletableFuture<Void> change;
        try {
            while (!driver.isInlineHeld()) {
                Thread.onSpinWait();
            }
            change = CompletableFuture.runAsync(() -> region.reregister(MemoryRegionChange.ofMemory(other)), THREADS);
            while (!region.memory().equals(other)) {
                Thread.onSpinWait();
            }
            Thread.sleep(20); // a change that does not wait would release the arena within this time
            assertThat(change).isNotDone();
            assertHeld(old);
        } finally {
            driver.holdInline(false);
        }
        post.get(20, TimeUnit.SECONDS);
        change.get(20, TimeUnit.SECONDS);
        assertSucceeds();
        assertThat(target.memory().get(JAVA_LONG, 0)).isEqualTo(42);
        old.close();
    }

    @Test
    void inlineDataArePostedDuringChanges() throws Exception {
        TestDriver.readyToSend(queuePair);
        MemoryRegion target =
                domain.register(Arena.ofAuto().allocate(8), AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
        AtomicBoolean done = new AtomicBoolean();
        CompletableFuture<Void> poster = CompletableFuture.runAsync(() -> {
            SendWorkRequest inline = new SendWorkRequest()
                    .reset(1)
                    .from(region, 0, 8)
                    .inline()
                    .signaled()
                    .write(target.address(), target.remoteKey());
            while (!done.get()) {
                queuePair.postSend(inline);
                assertSucceeds();
            }
        });
        for (int i = 0; i < 100 && !poster.isDone(); i++) {
            try (Arena passing = Arena.ofShared()) {
                region.reregister(MemoryRegionChange.ofMemory(passing.allocate(64)));
                region.reregister(MemoryRegionChange.ofMemory(other));
            }
        }
        done.set(true);
        poster.get(20, TimeUnit.SECONDS);
    }

    @Test
    void inlineDataBeyondTheEndOfSmallerMemoryAreRefused() {
        TestDriver.readyToSend(queuePair);
        SendWorkRequest inline =
                new SendWorkRequest().reset(1).from(region, 248, 8).inline().signaled();
        region.reregister(MemoryRegionChange.ofMemory(other.asSlice(0, 64)));
        assertThatThrownBy(() -> queuePair.postSend(inline))
                .isInstanceOfSatisfying(
                        RdmaException.class,
                        refused -> assertThat(refused.errno()).isEqualTo(Errno.EINVAL))
                .hasMessageContaining("piece 0 ends after the 64 bytes of");
    }
}
