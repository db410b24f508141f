package io.rdma4j.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.rdma4j.cm.spi.CmEventSink;
import io.rdma4j.cm.spi.ManagerAccess;
import io.rdma4j.value.PortSpace;
import io.rdma4j.verbs.ClosedException;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests closing identifiers and channels while an event is handled, by the handling thread and by other threads. */
@Timeout(30)
class ClosingTest {
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final FakeProvider provider = new FakeProvider(InetAddress.getLoopbackAddress());
    private final EventChannel channel = ManagerAccess.managerOf(provider).openEventChannel();
    private final CmId id = bound();

    private CmId bound() {
        CmId created = channel.createId(PortSpace.TCP);
        created.bindAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        return created;
    }

    private CmEventSink sink() {
        return provider.sinks.getFirst();
    }

    private CmEvent takeOne() {
        sink().onEvent(new CmEvent.Disconnected(0, ""));
        return Objects.requireNonNull(channel.poll());
    }

    private static void awaitBlocked(Thread thread) {
        while (thread.getState() != Thread.State.WAITING && thread.getState() != Thread.State.TIMED_WAITING) {
            assertThat(thread.isAlive()).as("%s must block", thread).isTrue();
            Thread.onSpinWait();
        }
    }

    private static void assertEnds(Thread thread) throws InterruptedException {
        assertThat(thread.join(PATIENCE)).as("%s ends", thread).isTrue();
    }

    // ---- the identifier

    @Test
    void identifierIsClosedByTheThreadThatHandlesItsEvent() {
        CmEvent event = takeOne();
        try (event) {
            event.id().close();
        }
        assertThat(provider.ids.getFirst().calls).endsWith("close");
        assertThat(event.type()).isEqualTo(CmEvent.Type.DISCONNECTED);
        assertThat(event.id()).isSameAs(id);
        assertThat(catchThrowableOfType(RdmaException.class, id::disconnect)).hasMessageContaining("closed");
    }

    @Test
    void identifierIsClosedByAnotherThreadWhileOneWaitsForEvents() throws InterruptedException {
        CmId other = bound();
        AtomicReference<@Nullable CmEvent> taken = new AtomicReference<>();
        Thread waiting = Thread.ofPlatform().start(() -> taken.set(channel.await()));
        awaitBlocked(waiting);
        id.close();
        assertThat(waiting.isAlive()).isTrue();
        provider.sinks.getLast().onEvent(new CmEvent.Notice(CmEvent.Type.ADDRESS_CHANGE));
        assertEnds(waiting);
        assertThat(Objects.requireNonNull(taken.get()).id()).isSameAs(other);
    }

    @Test
    void identifierWaitsForTheEventThatAnotherThreadHandles() throws InterruptedException {
        CmEvent event = takeOne();
        Thread closing = Thread.ofPlatform().start(id::close);
        awaitBlocked(closing);
        assertThat(provider.ids.getFirst().calls).endsWith("close");
        event.acknowledge();
        assertEnds(closing);
    }

    /** Like for {@code rdma_destroy_id}, an event that was passed to another thread is acknowledged first. */
    @Test
    void threadThatGotAnEventClosesTheIdentifierAfterAcknowledgingIt() throws InterruptedException {
        CmEvent event = takeOne();
        Thread handler = Thread.ofPlatform().start(() -> {
            event.acknowledge();
            event.id().close();
        });
        assertEnds(handler);
    }

    @Test
    void handlersOfTwoEventsMayBothCloseTheIdentifier() throws InterruptedException {
        CmEvent first = takeOne();
        sink().onEvent(new CmEvent.Notice(CmEvent.Type.TIMEWAIT_EXIT));
        Thread closing = Thread.ofPlatform().start(() -> {
            try (CmEvent second = Objects.requireNonNull(channel.poll())) {
                second.id().close();
            }
        });
        awaitBlocked(closing);
        id.close();
        first.acknowledge();
        assertEnds(closing);
    }

    @Test
    void interruptEndsTheWaitForAnEventOfAnotherThread() throws InterruptedException {
        CmEvent event = takeOne();
        AtomicReference<Boolean> interrupted = new AtomicReference<>();
        Thread closing = Thread.ofPlatform().start(() -> {
            id.close();
            interrupted.set(Thread.interrupted());
        });
        awaitBlocked(closing);
        closing.interrupt();
        assertEnds(closing);
        assertThat(interrupted.get()).isTrue();
        event.acknowledge();
    }

    @Test
    void listenerAndRequestAreClosedByTheThreadThatHandlesTheRequest() {
        FakeProviderId child = new FakeProviderId();
        sink().onConnectRequest(
                        child, new CmEvent.ConnectRequest(ConnectionParameters.NONE, ConnectionEnhancement.NONE));
        CmEvent request = Objects.requireNonNull(channel.poll());
        try (request) {
            ((CmEvent.ConnectRequest) request).listener().close();
            request.id().close();
            channel.close();
        }
        assertThat(child.calls).containsExactly("taken", "close");
    }

    // ---- the channel

    @Test
    void channelIsClosedByTheThreadThatHandlesItsLastEvent() {
        CmEvent event = takeOne();
        try (event) {
            RdmaException busy = catchThrowableOfType(RdmaException.class, channel::close);
            assertThat(busy.errno()).isEqualTo(Errno.EBUSY);
            event.id().close();
            channel.close();
        }
        assertThat(catchThrowable(channel::await)).isInstanceOf(ClosedException.class);
        assertThat(catchThrowableOfType(RdmaException.class, () -> channel.createId(PortSpace.TCP)))
                .hasMessageContaining("the event channel is closed");
    }

    @Test
    void channelIsClosedByAnotherThreadWhileOneWaitsForEvents() throws InterruptedException {
        id.close();
        AtomicReference<@Nullable Throwable> ended = new AtomicReference<>();
        Thread waiting = Thread.ofPlatform().start(() -> ended.set(catchThrowable(channel::await)));
        awaitBlocked(waiting);
        channel.close();
        assertEnds(waiting);
        assertThat(ended.get()).isInstanceOf(ClosedException.class);
    }

    @Test
    void channelDoesNotWaitForTheEventThatAnotherThreadHandles() throws InterruptedException {
        CmEvent event = takeOne();
        Thread closing = Thread.ofPlatform().start(id::close);
        awaitBlocked(closing);
        Thread closesChannel = Thread.ofPlatform().start(channel::close);
        assertEnds(closesChannel);
        assertThat(closing.isAlive()).isTrue();
        event.acknowledge();
        assertEnds(closing);
    }
}
