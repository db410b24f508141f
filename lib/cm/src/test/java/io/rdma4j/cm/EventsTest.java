package io.rdma4j.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.rdma4j.cm.spi.CmEventSink;
import io.rdma4j.value.PortSpace;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.ClosedException;
import io.rdma4j.verbs.DisconnectedException;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests channels, events and acknowledgements, without a network. */
@Timeout(30)
class EventsTest {
    private static final Duration SHORT_WAIT = Duration.ofMillis(50);

    private final EventChannel channel = new EventChannel(ConnectionManager.ofProcess());
    private final CmId listener = new CmId(channel, false, PortSpace.TCP, QueuePairType.RELIABLE_CONNECTION, "context");
    private final FakeProviderId fake = new FakeProviderId();

    private CmEventSink request() {
        return listener.events.onConnectRequest(
                fake, new CmEvent.ConnectRequest(ConnectionParameters.NONE, ConnectionEnhancement.NONE));
    }

    private CmEvent next() {
        return Objects.requireNonNull(channel.poll());
    }

    @Test
    void emptyChannelReturnsNullAfterTheTimeout() {
        assertThat(channel.poll()).isNull();
        long start = System.nanoTime();
        assertThat(channel.await(SHORT_WAIT)).isNull();
        assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(SHORT_WAIT.toNanos());
    }

    @Test
    void requestCreatesAnIdentifierWithTheListenersContextAndChannel() {
        request();
        CmEvent event = next();
        assertThat(event.type()).isEqualTo(CmEvent.Type.CONNECT_REQUEST);
        assertThat(((CmEvent.ConnectRequest) event).listener()).isSameAs(listener);
        assertThat(event.id()).isNotSameAs(listener);
        assertThat(event.id().context()).isEqualTo("context");
        assertThat(event.id().channel()).isSameAs(channel);
        assertThat(fake.calls).containsExactly("taken");
    }

    @Test
    void iwarpReportsTheReplyWithItsPrivateDataAsEstablished() {
        byte[] data = {1, 2, 3};
        ConnectionParameters reply = ConnectionParameters.NONE.withPrivateData(data);
        CmId active = new CmId(channel, false, PortSpace.TCP, QueuePairType.RELIABLE_CONNECTION, null);
        active.events.onEvent(new CmEvent.Established(reply));
        assertThat(next().id().peerPrivateData()).containsExactly(data);
    }

    @Test
    void establishmentOfThePassiveSideLeavesTheDataOfTheRequest() {
        byte[] data = {4, 5};
        CmEventSink child = listener.events.onConnectRequest(
                fake,
                new CmEvent.ConnectRequest(
                        ConnectionParameters.NONE.withPrivateData(data), ConnectionEnhancement.NONE));
        child.onEvent(new CmEvent.Established(ConnectionParameters.NONE));
        CmEvent request = next();
        assertThat(next().type()).isEqualTo(CmEvent.Type.ESTABLISHED);
        assertThat(request.id().peerPrivateData()).containsExactly(data);
    }

    @Test
    void removalOfTheDeviceMovesTheQueuePairToErrorImmediately() {
        FailingVerbs verbs = new FailingVerbs(0, FailingVerbs::refusal);
        fake.device = verbs;
        CmEventSink sink = request();
        CmId child = next().id();
        child.createQueuePair(verbs.domain(), QueuePairInitAttributes.of(new QueuePairCapabilities(1, 1, 1, 1, 0)));
        verbs.modifications.clear();
        sink.onEvent(new CmEvent.Notice(CmEvent.Type.DEVICE_REMOVAL));
        assertThat(verbs.modifications).containsExactly(QueuePairState.ERROR);
        assertThat(next().type()).isEqualTo(CmEvent.Type.DEVICE_REMOVAL);
    }

    @Test
    void eventsAreDeliveredInOrder() {
        CmEventSink child = request();
        child.onEvent(new CmEvent.Established(ConnectionParameters.NONE));
        child.onEvent(new CmEvent.Disconnected(0, ""));
        assertThat(next().type()).isEqualTo(CmEvent.Type.CONNECT_REQUEST);
        assertThat(next().type()).isEqualTo(CmEvent.Type.ESTABLISHED);
        assertThat(next().type()).isEqualTo(CmEvent.Type.DISCONNECTED);
    }

    @Test
    void aWithdrawnRequestIsDiscardedUntilAThreadTakesIt() {
        CmEventSink discarded = request();
        CmEventSink taken = request();
        assertThat(discarded.onRequestDiscarded()).isTrue();
        assertThat(discarded.onRequestDiscarded()).isFalse();
        CmEvent event = next();
        assertThat(taken.onRequestDiscarded()).isFalse();
        assertThat(event.id().events).isSameAs(taken);
        assertThat(channel.poll()).isNull();
        listener.close();
    }

    @Test
    void aWithdrawnRequestIsDiscardedFromTheListenersNewChannel() {
        CmEventSink request = request();
        EventChannel other = new EventChannel(ConnectionManager.ofProcess());
        listener.migrate(other);
        assertThat(request.onRequestDiscarded()).isTrue();
        assertThat(other.poll()).isNull();
        assertThat(other.isReady()).isFalse();
    }

    @Test
    void closingAnIdentifierRemovesOnlyItsEvents() {
        CmId first = new CmId(channel, false, PortSpace.TCP, QueuePairType.RELIABLE_CONNECTION, 1);
        CmId second = new CmId(channel, false, PortSpace.TCP, QueuePairType.RELIABLE_CONNECTION, 2);
        for (int i = 0; i < 3; i++) {
            first.events.onEvent(new CmEvent.User(0, i));
            second.events.onEvent(new CmEvent.User(0, i));
        }
        assertThat(next().id()).isSameAs(first);
        first.close();
        for (int i = 0; i < 3; i++) {
            CmEvent event = next();
            assertThat(event.id()).isSameAs(second);
            assertThat(((CmEvent.User) event).argument()).isEqualTo(i);
        }
        assertThat(channel.poll()).isNull();
    }

    @Test
    void movedEventsKeepTheirOrderAfterTheEventsOfTheNewChannel() {
        EventChannel other = new EventChannel(ConnectionManager.ofProcess());
        CmId moving = new CmId(other, false, PortSpace.TCP, QueuePairType.RELIABLE_CONNECTION, "moving");
        moving.events.onEvent(new CmEvent.User(0, 1));
        moving.events.onEvent(new CmEvent.User(0, 2));
        listener.events.onEvent(new CmEvent.User(0, 0));
        moving.migrate(channel);
        moving.events.onEvent(new CmEvent.User(0, 3));
        assertThat(other.poll()).isNull();
        for (int i = 0; i < 4; i++) {
            assertThat(((CmEvent.User) next()).argument()).isEqualTo(i);
        }
    }

    /** Like in C, migrating waits only for the old channel's events. A thread with a new event may need the caller. */
    @Test
    void migratingDoesNotWaitForAnEventTakenFromTheNewChannel() throws InterruptedException {
        EventChannel target = new EventChannel(ConnectionManager.ofProcess());
        listener.events.onEvent(new CmEvent.User(0, 1));
        AtomicReference<@Nullable CmEvent> taken = new AtomicReference<>();
        target.signal().add(() -> {
            Thread taking = Thread.ofPlatform().start(() -> taken.set(target.poll()));
            try {
                taking.join();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
        Thread migrating = Thread.ofPlatform().daemon().start(() -> listener.migrate(target));
        assertThat(migrating.join(Duration.ofSeconds(10))).isTrue();
        CmEvent event = Objects.requireNonNull(taken.get());
        assertThat(((CmEvent.User) event).argument()).isEqualTo(1);
        event.acknowledge();
    }

    @Test
    void migratingDoesNotWakeTheNewChannelWithoutAnEvent() {
        EventChannel target = new EventChannel(ConnectionManager.ofProcess());
        AtomicBoolean woken = new AtomicBoolean();
        target.signal().add(() -> woken.set(true));
        listener.migrate(target);
        assertThat(woken).isFalse();
    }

    @Test
    void requestIsCountedForTheListenerAndOtherEventsForTheirIdentifier() throws InterruptedException {
        CmEventSink sink = request();
        CmEvent request = next();
        sink.onEvent(new CmEvent.Established(ConnectionParameters.NONE));
        CmEvent established = next();
        CmId child = request.id();

        Thread closesChild = Thread.ofPlatform().start(child::close);
        assertThat(closesChild.join(SHORT_WAIT)).isFalse();
        established.acknowledge();
        assertThat(closesChild.join(Duration.ofSeconds(10))).isTrue();

        Thread closesListener = Thread.ofPlatform().start(listener::close);
        assertThat(closesListener.join(SHORT_WAIT)).isFalse();
        request.close();
        assertThat(closesListener.join(Duration.ofSeconds(10))).isTrue();
        channel.close();
    }

    @Test
    void closingAListenerClosesPendingRequests() {
        CmEventSink child = request();
        child.onEvent(new CmEvent.Rejected(0, ConnectionParameters.NONE, ""));
        listener.close();
        assertThat(fake.calls).containsExactly("close");
        assertThat(channel.poll()).isNull();
        channel.close();
    }

    @Test
    void acceptFailsIfThePeerHasDisconnected() {
        CmId synchronous = new CmId(
                new EventChannel(ConnectionManager.ofProcess()),
                true,
                PortSpace.TCP,
                QueuePairType.RELIABLE_CONNECTION,
                null);
        synchronous.events.onEvent(new CmEvent.Disconnected(0, ""));
        RdmaException failed =
                catchThrowableOfType(RdmaException.class, () -> synchronous.events.completeConnecting("rdma_accept"));
        assertThat(failed.errno()).isEqualTo(Errno.ECONNRESET);
        assertThat(failed).hasMessageContaining("rdma_accept: Connection reset by peer (ECONNRESET)");
        synchronous.close();
    }

    @Test
    void acceptSucceedsIfThePeerDisconnectsAfterTheConnectionIsEstablished() {
        EventChannel events = new EventChannel(ConnectionManager.ofProcess());
        CmId synchronous = new CmId(events, true, PortSpace.TCP, QueuePairType.RELIABLE_CONNECTION, null);
        synchronous.events.onEvent(new CmEvent.Established(ConnectionParameters.NONE));
        synchronous.events.onEvent(new CmEvent.Disconnected(0, ""));
        synchronous.events.completeConnecting("rdma_accept");
        try (CmEvent end = Objects.requireNonNull(events.poll())) {
            assertThat(end.type()).isEqualTo(CmEvent.Type.DISCONNECTED);
        }
        synchronous.close();
    }

    /** iWARP has no reply to a disconnect, so the connection has ended when the peer's disconnect is reported. */
    @Test
    void disconnectingAfterThePeerTakesTheEventOfTheEnd() {
        EventChannel events = new EventChannel(ConnectionManager.ofProcess());
        CmId synchronous = new CmId(events, true, PortSpace.TCP, QueuePairType.RELIABLE_CONNECTION, null);
        fake.device = new FailingVerbs(0, FailingVerbs::refusal);
        CmEventSink sink = synchronous.events.onConnectRequest(
                fake, new CmEvent.ConnectRequest(ConnectionParameters.NONE, ConnectionEnhancement.NONE));
        CmId child = synchronous.getRequest();
        sink.onEvent(new CmEvent.Disconnected(0, ""));
        child.disconnect();
        assertThat(fake.calls).contains("disconnect");
        assertThat(Objects.requireNonNull(child.event()).type()).isEqualTo(CmEvent.Type.DISCONNECTED);
        assertThat(catchThrowableOfType(RdmaException.class, child::disconnect).errno())
                .isEqualTo(Errno.EINVAL);
        child.close();
        synchronous.close();
    }

    @Test
    void closingTheChannelEndsWaits() throws InterruptedException {
        listener.close();
        CountDownLatch waiting = new CountDownLatch(1);
        AtomicReference<@Nullable Throwable> ended = new AtomicReference<>();
        Thread waiter = Thread.ofVirtual().start(() -> {
            waiting.countDown();
            ended.set(catchThrowable(channel::await));
        });
        waiting.await();
        channel.close();
        assertThat(waiter.join(Duration.ofSeconds(10))).isTrue();
        assertThat(ended.get()).isInstanceOf(ClosedException.class);
        assertThatThrownBy(channel::poll).isInstanceOf(ClosedException.class);
        assertThatThrownBy(() -> channel.await(SHORT_WAIT)).isInstanceOf(ClosedException.class);
    }

    @Test
    void interruptEndsAWaitAndTheStatusStaysSet() {
        Thread.currentThread().interrupt();
        RdmaException interrupted = catchThrowableOfType(RdmaException.class, channel::await);
        assertThat(Thread.interrupted()).isTrue();
        assertThat(interrupted.errno()).isEqualTo(Errno.EINTR);
    }

    @Test
    void closedIdentifierRefusesCalls() {
        request();
        CmEvent event = next();
        event.acknowledge();
        CmId child = event.id();
        child.close();
        child.close();
        RdmaException refused = catchThrowableOfType(RdmaException.class, () -> child.reject(new byte[0]));
        assertThat(refused.errno()).isEqualTo(Errno.EINVAL);
        assertThat(refused).hasMessage("rdma_reject: Invalid argument (EINVAL): the identifier is closed");
    }

    @Test
    void idleIdentifierReportsTheMissingStep() {
        assertIdle("rdma_resolve_route", () -> listener.resolveRoute(SHORT_WAIT));
        assertIdle("rdma_connect", () -> listener.connect(ConnectionParameters.defaults()));
        assertIdle("rdma_accept", () -> listener.accept(ConnectionParameters.defaults()));
        assertIdle("rdma_reject", () -> listener.reject(new byte[0]));
        assertIdle("rdma_disconnect", listener::disconnect);
        assertIdle("rdma_establish", listener::establish);
        assertIdle("rdma_notify", listener::notifyCommunicationEstablished);
        assertIdle("rdma_cm_id.verbs", listener::verbs);
        assertThat(listener.hasDevice()).isFalse();
        assertThat(listener.localAddress()).isNull();
        assertThat(listener.sourcePort()).isZero();
    }

    private static void assertIdle(String operation, org.assertj.core.api.ThrowableAssert.ThrowingCallable call) {
        RdmaException refused = catchThrowableOfType(RdmaException.class, call);
        assertThat(refused.errno()).isEqualTo(Errno.EINVAL);
        assertThat(refused)
                .hasMessageStartingWith(operation
                        + ": Invalid argument (EINVAL): the identifier is idle: it has no address and no device. ");
    }

    @Test
    void unresolvedSourceIsRefused() {
        InetSocketAddress source = InetSocketAddress.createUnresolved("no.such.host.invalid", 0);
        InetSocketAddress destination = new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 1);
        RdmaException refused = catchThrowableOfType(
                RdmaException.class, () -> listener.resolveAddress(source, destination, SHORT_WAIT));
        assertThat(refused.errno()).isEqualTo(Errno.EINVAL);
        assertThat(refused).hasMessageContaining("the name no.such.host.invalid has no address");
    }

    @Test
    void optionsOutOfRangeAreRefusedImmediately() {
        assertThat(catchThrowableOfType(RdmaException.class, () -> listener.setTypeOfService(256)))
                .hasMessage("rdma_set_option: Invalid argument (EINVAL): the type of service is 256, must be 0 to 255");
        assertThat(catchThrowableOfType(RdmaException.class, () -> listener.setAckTimeout(32)))
                .hasMessageContaining("is 32, must be 0 to 31");
    }

    private static CmId synchronous() {
        return new CmId(
                new EventChannel(ConnectionManager.ofProcess()),
                true,
                PortSpace.TCP,
                QueuePairType.RELIABLE_CONNECTION,
                "synchronous");
    }

    @Test
    void synchronousListenerMigratesWithAPendingRequest() {
        CmId moved = synchronous();
        CmEventSink child = moved.events.onConnectRequest(
                fake, new CmEvent.ConnectRequest(ConnectionParameters.NONE, ConnectionEnhancement.NONE));
        moved.migrate(channel);
        child.onEvent(new CmEvent.Rejected(0, ConnectionParameters.NONE, ""));
        CmEvent request = next();
        assertThat(request.type()).isEqualTo(CmEvent.Type.CONNECT_REQUEST);
        assertThat(request.id().channel()).isSameAs(channel);
        request.acknowledge();
        CmEvent rejected = next();
        assertThat(rejected.type()).isEqualTo(CmEvent.Type.REJECTED);
        rejected.acknowledge();
        request.id().close();
        moved.close();
        listener.close();
        channel.close();
    }

    /** This occurs when two threads wait in getRequest. */
    @Test
    void eventOfARequestBeingTakenIsNotDeliveredAsARequest() {
        CmId listening = synchronous();
        CmEventSink child = listening.events.onConnectRequest(
                fake, new CmEvent.ConnectRequest(ConnectionParameters.NONE, ConnectionEnhancement.NONE));
        child.onEvent(new CmEvent.Rejected(0, ConnectionParameters.NONE, ""));
        EventChannel events = listening.events.channel();
        AtomicReference<@Nullable CmEvent> second = new AtomicReference<>();
        fake.onTaken = () -> second.set(events.poll());
        CmEvent request = Objects.requireNonNull(events.poll());
        assertThat(second.get()).isNull();
        CmEvent rejected = Objects.requireNonNull(request.id().events.channel().poll());
        assertThat(rejected.type()).isEqualTo(CmEvent.Type.REJECTED);
        request.acknowledge();
        rejected.acknowledge();
        request.id().close();
        listening.close();
    }

    /** Several threads take events. C: {@code connect_error} of librdmacm. */
    @ParameterizedTest
    @EnumSource(names = {"REJECTED", "DISCONNECTED"})
    void endOfAConnectionWhoseReplyIsBeingProcessedWaitsForItsFailure(CmEvent.Type end) throws InterruptedException {
        fake.device = new FailingVerbs(0, FailingVerbs::refusal);
        CmEventSink sink = request();
        CmEvent request = next();
        CmId child = request.id();
        child.createQueuePair(QueuePairInitAttributes.of(new QueuePairCapabilities(1, 1, 1, 1, 0)));
        CountDownLatch processing = new CountDownLatch(1);
        CountDownLatch mayFail = new CountDownLatch(1);
        fake.onAttributes = () -> {
            processing.countDown();
            awaitLatch(mayFail);
            throw FailingVerbs.refusal();
        };
        sink.onEvent(new CmEvent.ConnectResponse(ConnectionParameters.NONE, ConnectionEnhancement.NONE));
        sink.onEvent(
                end == CmEvent.Type.REJECTED
                        ? new CmEvent.Rejected(0, ConnectionParameters.NONE, "")
                        : new CmEvent.Disconnected(0, ""));
        AtomicReference<@Nullable CmEvent> reply = new AtomicReference<>();
        AtomicReference<@Nullable CmEvent> ended = new AtomicReference<>();
        Thread first = Thread.ofPlatform().start(() -> reply.set(channel.poll()));
        processing.await();
        Thread second = Thread.ofPlatform().start(() -> ended.set(channel.poll()));
        while (second.getState() != Thread.State.WAITING && second.getState() != Thread.State.TERMINATED) {
            Thread.onSpinWait();
        }
        mayFail.countDown();
        first.join();
        second.join();
        assertThat(Objects.requireNonNull(reply.get()).type()).isEqualTo(CmEvent.Type.CONNECT_ERROR);
        assertThat(ended.get()).isNull();
    }

    @Test
    void connectionThatEndsBeforeItIsConfirmedWasDisconnected() throws InterruptedException {
        fake.device = new FailingVerbs(0, FailingVerbs::refusal);
        CmEventSink sink = request();
        CmId child = next().id();
        child.createQueuePair(QueuePairInitAttributes.of(new QueuePairCapabilities(1, 1, 1, 1, 0)));
        fake.refusal = new RdmaException("rdma_establish", Errno.EINVAL, "the connection has ended", "");
        sink.onEvent(new CmEvent.ConnectResponse(ConnectionParameters.NONE, ConnectionEnhancement.NONE));

        CmEvent failed = next();
        assertThat(failed.type()).isEqualTo(CmEvent.Type.CONNECT_ERROR);
        assertThat(failed.toException("connect"))
                .isInstanceOf(DisconnectedException.class)
                .hasMessageContaining("the peer accepted, and ended the connection before");
    }

    private static void awaitLatch(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void closedIdentifierCannotBeMigrated() {
        EventChannel target = new EventChannel(ConnectionManager.ofProcess());
        listener.close();
        RdmaException refused = catchThrowableOfType(RdmaException.class, () -> listener.migrate(target));
        assertThat(refused.errno()).isEqualTo(Errno.EINVAL);
        assertThat(refused).hasMessageContaining("the identifier is closed");
        target.close();
        channel.close();
    }

    @Test
    void threadHandlingAnEventMayMigrateAndCloseTheIdentifierBeforeAcknowledging() {
        CmEventSink sink = request();
        CmEvent request = next();
        sink.onEvent(new CmEvent.Disconnected(0, ""));
        CmEvent disconnected = next();
        EventChannel other = new EventChannel(ConnectionManager.ofProcess());
        request.id().migrate(other);
        request.id().close();
        listener.close();
        disconnected.acknowledge();
        request.acknowledge();
        other.close();
        channel.close();
    }
}
