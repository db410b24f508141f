package io.rdma4j.conformance.cm;

import static io.rdma4j.conformance.cm.Session.PATIENCE;
import static io.rdma4j.conformance.cm.Session.SIZES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.rdma4j.cm.CmId;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.conformance.device.Driver;
import io.rdma4j.conformance.device.NotOn;
import io.rdma4j.conformance.device.TestDevices;
import io.rdma4j.value.PortSpace;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Closing an identifier ends the calls that wait for it, and completes whatever is still in use. */
@Timeout(30)
class ClosingIdsTest {
    private static final InetAddress ADDRESS = TestDevices.address();

    private static CmId bound() {
        CmId id = CmId.create(PortSpace.TCP);
        id.bindAddress(new InetSocketAddress(ADDRESS, 0));
        return id;
    }

    private static void awaitBlocked(Thread thread) {
        while (!Session.isBlocked(thread)) {
            assertThat(thread.isAlive()).as("%s is to block", thread).isTrue();
            Thread.onSpinWait();
        }
    }

    private static CompletableFuture<Void> inThread(Runnable action) {
        CompletableFuture<Void> result = new CompletableFuture<>();
        Thread.ofPlatform().daemon().start(() -> {
            try {
                action.run();
                result.complete(null);
            } catch (RuntimeException failed) {
                result.completeExceptionally(failed);
            }
        });
        return result;
    }

    private static RdmaException refusal(CompletableFuture<?> call) throws InterruptedException, TimeoutException {
        try {
            call.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        } catch (ExecutionException refused) {
            return (RdmaException) Objects.requireNonNull(refused.getCause());
        }
        throw new AssertionError("the call ended without an error");
    }

    /** Closes an identifier in whose call a thread is blocked; returns the exception of that call. */
    private static RdmaException closedWhile(Runnable call, CmId id) throws InterruptedException, TimeoutException {
        CompletableFuture<Thread> caller = new CompletableFuture<>();
        CompletableFuture<Void> blocked = inThread(() -> {
            caller.complete(Thread.currentThread());
            call.run();
        });
        awaitBlocked(caller.join());
        id.close();
        return refusal(blocked);
    }

    @Test
    void closeWakesAThreadBlockedInGetRequest() throws Exception {
        CmId listener = bound();
        listener.listen(0);
        RdmaException ended = closedWhile(listener::getRequest, listener);
        assertThat(ended.errno()).isEqualTo(Errno.EINVAL);
        assertThat(ended).hasMessageStartingWith("rdma_get_request:").hasMessageContaining("closed");
    }

    @Test
    void closeWakesAThreadBlockedInConnect() throws Exception {
        try (EventChannel servers = EventChannel.open();
                CmId listener = Session.listener(servers, ADDRESS)) {
            CmId client = CmId.create(PortSpace.TCP);
            client.resolveAddress(new InetSocketAddress(ADDRESS, listener.sourcePort()), PATIENCE);
            client.resolveRoute(PATIENCE);
            client.createQueuePair(QueuePairInitAttributes.of(SIZES));
            RdmaException ended = closedWhile(() -> client.connect(), client);
            assertThat(ended.errno()).isEqualTo(Errno.EINVAL);
            assertThat(ended).hasMessageStartingWith("rdma_connect:").hasMessageContaining("closed");
        }
    }

    /** Takes the event of a completion without acknowledging it. */
    private static CompletionQueue takeCompletionEvent(CmId id) {
        QueuePair queuePair = Objects.requireNonNull(id.queuePair());
        queuePair.postReceive(new ReceiveWorkRequest().reset(1));
        queuePair.receiveCompletions().requestNotification(false);
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.ERROR));
        CompletionQueue reported =
                Objects.requireNonNull(id.receiveCompletionChannel()).await(PATIENCE);
        return Objects.requireNonNull(reported, "no event of the flushed receive");
    }

    private static void awaitBegin(CmId closing) {
        while (closing.queuePair() != null) {
            Thread.onSpinWait();
        }
    }

    private static void aCallIsPossibleWhileAnEventIsUnacknowledged(CmId id, Runnable closing) throws Exception {
        CompletionQueue reported = takeCompletionEvent(id);
        CompletableFuture<Void> closer = inThread(closing);
        awaitBegin(id);
        CompletableFuture<Void> call = inThread(() -> {
            try {
                id.setTypeOfService(1);
            } catch (RdmaException closed) {
                assertThat(closed).hasMessageContaining("the identifier is closed");
            }
        });
        call.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        assertThat(closer).as("it waits for the acknowledgement").isNotDone();
        reported.acknowledgeEvents(1);
        closer.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }

    @Test
    @NotOn(value = Driver.SIW, because = "takes no receives without memory")
    void holderOfACompletionEventCanCallTheIdentifierWhileItIsBeingClosed() throws Exception {
        CmId id = bound();
        id.createQueuePair(QueuePairInitAttributes.of(SIZES));
        aCallIsPossibleWhileAnEventIsUnacknowledged(id, id::close);
    }

    @Test
    @NotOn(value = Driver.SIW, because = "takes no receives without memory")
    void holderOfACompletionEventCanCallTheIdentifierWhileItsQueuePairIsBeingDestroyed() throws Exception {
        CmId id = bound();
        id.createQueuePair(QueuePairInitAttributes.of(SIZES));
        aCallIsPossibleWhileAnEventIsUnacknowledged(id, id::destroyQueuePair);
        id.close();
    }

    @Test
    void identifierWhoseCompletionQueueIsInUseReleasesItsPortAndCanBeClosedAgain() {
        CmId id = bound();
        int port = id.sourcePort();
        id.createQueuePair(QueuePairInitAttributes.of(SIZES));
        CompletionQueue used = Objects.requireNonNull(id.sendCompletions());
        ProtectionDomain domain = id.protectionDomain();
        QueuePair other = domain.createQueuePair(QueuePairInitAttributes.reliable(used, SIZES));
        RdmaException busy = catchThrowableOfType(RdmaException.class, id::close);
        assertThat(busy.errno()).isEqualTo(Errno.EBUSY);
        try (CmId next = CmId.create(PortSpace.TCP)) {
            next.bindAddress(new InetSocketAddress(ADDRESS, port));
        }
        other.close();
        id.close();
        assertClosed(used, domain);
    }

    private static void assertClosed(CompletionQueue queue, ProtectionDomain domain) {
        assertThatThrownBy(() -> domain.context()
                        .createProtectionDomain()
                        .createQueuePair(QueuePairInitAttributes.reliable(queue, SIZES)))
                .hasMessageContainingAll("completion queue", "is closed");
    }

    @Test
    @NotOn(value = Driver.SIW, because = "takes no receives without memory")
    void interruptedCloseReleasesThePortAndCanBeRepeated() throws Exception {
        CmId id = bound();
        int port = id.sourcePort();
        id.createQueuePair(QueuePairInitAttributes.of(SIZES));
        CompletionQueue reported = takeCompletionEvent(id);
        CompletableFuture<Void> closer = inThread(() -> {
            Thread.currentThread().interrupt();
            id.close();
        });
        assertThat(refusal(closer).errno()).isEqualTo(Errno.EINTR);
        try (CmId next = CmId.create(PortSpace.TCP)) {
            next.bindAddress(new InetSocketAddress(ADDRESS, port));
        }
        reported.acknowledgeEvents(1);
        id.close();
        try (CmId other = bound()) {
            assertClosed(reported, other.protectionDomain());
        }
    }
}
