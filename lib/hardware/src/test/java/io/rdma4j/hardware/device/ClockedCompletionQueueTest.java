package io.rdma4j.hardware.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.Gid;
import io.rdma4j.value.PathMtu;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.verbs.AddressVector;
import io.rdma4j.verbs.ClosedException;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.CompletionQueueInitAttributes;
import io.rdma4j.verbs.CompletionReader;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests completion queues with timestamps of the device's clock, over an in-memory driver. */
class ClockedCompletionQueueTest {
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final CompletionQueueInitAttributes CLOCKED =
            CompletionQueueInitAttributes.of(32).withDeviceClock(true);

    private final WorkCompletion[] completions = WorkCompletion.array(8);
    private TestDriver driver;
    private DeviceContext context;
    private ProtectionDomain domain;
    private CompletionChannel channel;
    private CompletionQueue queue;
    private QueuePair queuePair;
    private MemoryRegion region;

    @BeforeEach
    void open() throws Throwable {
        driver = TestDriver.loaded();
        driver.ticks(0);
        context = driver.device().open();
        domain = context.createProtectionDomain();
        channel = context.createCompletionChannel();
        queue = context.createCompletionQueue(CLOCKED.withChannel(channel).withContext(this));
        queuePair = domain.createQueuePair(
                QueuePairInitAttributes.reliable(queue, new QueuePairCapabilities(32, 32, 2, 2, 32)));
        region = domain.register(
                Arena.ofAuto().allocate(256), AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.INIT));
        queuePair.modify(new QueuePairAttributes()
                .state(QueuePairState.READY_TO_RECEIVE)
                .addressVector(AddressVector.of(1, Gid.of(InetAddress.ofLiteral("192.0.2.1"))))
                .pathMtu(PathMtu.MTU_1024));
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.READY_TO_SEND));
    }

    @AfterEach
    void close() {
        if (context != null) {
            context.close();
        }
    }

    private void write(long id, long ticks) throws Throwable {
        driver.ticks(ticks);
        queuePair.postWrite(id, region, 0, 8, region.remote().slice(64, 8));
    }

    @Test
    void theQueueHasTheRequestedAttributes() {
        assertThat(queue.usesDeviceClock()).isTrue();
        assertThat(queue.capacity()).isEqualTo(32);
        assertThat(queue.channel()).isEqualTo(channel);
        assertThat(queue.userContext()).isEqualTo(this);
        assertThat(context.attributes().completionTimestampMask()).isEqualTo(0xffff_ffffL);
        assertThat(context.attributes().clockKilohertz()).isEqualTo(2000);
        assertThat(context.createCompletionQueue(32).usesDeviceClock()).isFalse();
    }

    @Test
    void timestampsAreNanosecondsOfTheDevicesClock() throws Throwable {
        write(1, 4_000_000);
        write(2, 4_000_001);
        assertThat(queue.poll(completions)).isEqualTo(2);
        assertThat(completions[0].timestampNanos()).isEqualTo(2_000_000_000);
        assertThat(completions[1].timestampNanos()).isEqualTo(2_000_000_500);
    }

    @Test
    void everyFieldOfACompletionIsRead() {
        SentMessage.check(queuePair, queue, region, completions);
    }

    @Test
    void aFailureHasItsStatus() {
        region.close();
        queuePair.postSend(SendWorkRequest.write(3, region, region.remote()).signaled());
        assertThat(queue.poll(completions)).isEqualTo(1);
        assertThat(completions[0].id()).isEqualTo(3);
        assertThat(completions[0].status()).isEqualTo(CompletionStatus.LOCAL_PROTECTION_ERROR);
        assertThat(completions[0].queuePairNumber()).isEqualTo(0x123);
    }

    @Test
    void completionsWithoutAHolderStayInTheQueue() throws Throwable {
        for (int i = 0; i < 5; i++) {
            write(i, i);
        }
        assertThat(queue.poll(WorkCompletion.array(0))).isZero();
        WorkCompletion[] three = WorkCompletion.array(3);
        assertThat(queue.poll(three)).isEqualTo(3);
        assertThat(three[2].id()).isEqualTo(2);
        assertThat(queue.poll(three)).isEqualTo(2);
        assertThat(three[0].id()).isEqualTo(3);
        assertThat(three[1].id()).isEqualTo(4);
        assertThat(queue.poll(three)).isZero();
    }

    @Test
    void aNullHolderDoesNotLeaveTheQueueInUse() throws Throwable {
        write(1, 1);
        assertThatThrownBy(() -> queue.poll(new WorkCompletion[1])).isInstanceOf(NullPointerException.class);
        write(2, 2);
        assertThat(queue.poll(completions)).isEqualTo(1);
        assertThat(completions[0].id()).isEqualTo(2);
    }

    @Test
    void aTimestampIsConvertedToTheTimeOfDay() throws Throwable {
        write(1, 4_000_000);
        driver.ticks(6_000_000); // a second later
        CompletionReader reader = queue.reader();
        assertThat(reader.start()).isTrue();
        Instant before = Instant.now();
        long wallClockNanos = reader.wallClockNanos();
        Instant after = Instant.now();
        reader.end();
        assertThat(Instant.ofEpochSecond(1, wallClockNanos)).isBetween(before, after);
    }

    @Test
    void theClockMayWrapToZero() throws Throwable {
        write(1, 0xffff_ffffL);
        write(2, 0x1_0000_0000L);
        driver.ticks(0x1_0000_0000L + 1_999);
        assertThat(queue.poll(completions)).isEqualTo(2);
        Instant before = Instant.now();
        long firstNanos = queue.wallClockNanos(completions[0].timestampNanos());
        Instant after = Instant.now();
        assertThat(Instant.ofEpochSecond(0, firstNanos + 1_000_000)).isBetween(before, after);
        assertThat(queue.wallClockNanos(completions[1].timestampNanos()) - firstNanos)
                .isEqualTo(500);
    }

    @Test
    void theChannelReportsItsEvents() throws Throwable {
        queue.requestNotification(false);
        write(1, 1);
        assertThat(channel.await(SOON)).isEqualTo(queue);
        queue.acknowledgeEvents(1);
        assertThat(queue.poll(completions)).isEqualTo(1);
        queue.resize(40);
        assertThat(queue.capacity()).isEqualTo(40);
    }

    @Test
    void aClosedQueueRefusesPolling() {
        queuePair.close();
        queue.close();
        assertThatThrownBy(() -> queue.poll(completions)).isInstanceOf(ClosedException.class);
    }

    @Test
    void aDriverWithoutAFunctionIsRefusedBeforeItIsCalled() throws Throwable {
        int before = driver.liveObjects();
        driver.lacksFunction(true);
        try {
            assertThatThrownBy(() -> context.createCompletionQueue(CLOCKED))
                    .hasMessageContaining("struct ibv_cq_ex of the installed library differs");
        } finally {
            driver.lacksFunction(false);
        }
        assertThat(driver.liveObjects()).isEqualTo(before);
    }

    @Test
    void aDeviceWithoutTimestampsHasTheClockOfTheSystem() throws Throwable {
        driver.lacksExtensions(true);
        try (DeviceContext basic = driver.device().open()) {
            assertThat(basic.createCompletionQueue(CLOCKED).usesDeviceClock()).isFalse();
            assertThat(basic.attributes().completionTimestampMask()).isZero();
        } finally {
            driver.lacksExtensions(false);
        }
    }
}
