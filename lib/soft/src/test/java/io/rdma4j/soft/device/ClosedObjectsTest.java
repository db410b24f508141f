package io.rdma4j.soft.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.soft.SoftStack;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.ClosedException;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Calls for objects that are closed. */
@Timeout(30)
class ClosedObjectsTest {
    private static final WorkCompletion[] ONE = WorkCompletion.array(1);

    private final SoftStack stack = SoftStack.create();
    private final DeviceContext context = stack.devices().getFirst().open();
    private final CompletionChannel channel = context.createCompletionChannel();
    private final CompletionQueue completions = context.createCompletionQueue(8, channel);

    @AfterEach
    void close() {
        context.close();
        stack.close();
    }

    private QueuePair queuePair() {
        return context.createProtectionDomain()
                .createQueuePair(QueuePairInitAttributes.of(
                        QueuePairType.RELIABLE_CONNECTION, completions, new QueuePairCapabilities(4, 4, 1, 1, 0)));
    }

    private void assertCompletionsAreClosed() {
        assertThatThrownBy(() -> completions.poll(ONE)).isInstanceOf(ClosedException.class);
        assertThatThrownBy(() -> completions.requestNotification(false)).isInstanceOf(ClosedException.class);
        assertThatThrownBy(() -> completions.resize(16)).isInstanceOf(ClosedException.class);
        assertThatThrownBy(() -> completions.acknowledgeEvents(0)).isInstanceOf(ClosedException.class);
        completions.close();
    }

    @Test
    void aClosedCompletionQueueIsRefused() {
        completions.close();
        assertCompletionsAreClosed();
    }

    @Test
    void aCompletionQueueIsClosedWithItsDevice() {
        context.close();
        assertCompletionsAreClosed();
    }

    @Test
    void completionsOfAClosedQueueAreNotReturned() {
        QueuePair flushed = queuePair();
        flushed.modify(new QueuePairAttributes()
                .state(QueuePairState.INIT)
                .partitionKeyIndex(0)
                .port(1)
                .accessFlags(Set.of()));
        flushed.postReceive(new ReceiveWorkRequest());
        flushed.modify(new QueuePairAttributes().state(QueuePairState.ERROR));
        flushed.query(); // the engine has flushed the receive
        flushed.close();
        completions.close();
        assertCompletionsAreClosed();
    }

    @Test
    void postingToAClosedQueuePairIsRefusedAsAllOtherCalls() {
        QueuePair closed = queuePair();
        closed.close();
        assertThatThrownBy(() -> closed.postSend(new SendWorkRequest())).isInstanceOf(ClosedException.class);
        assertThatThrownBy(() -> closed.postReceive(new ReceiveWorkRequest())).isInstanceOf(ClosedException.class);
        assertThatThrownBy(closed::query).isInstanceOf(ClosedException.class);
    }

    @ParameterizedTest
    @ValueSource(ints = {-3, 1, 100})
    void onlyEventsThatWereTakenCanBeAcknowledged(int count) {
        assertThatThrownBy(() -> completions.acknowledgeEvents(count))
                .isInstanceOfSatisfying(
                        RdmaException.class,
                        refused -> assertThat(refused.errno()).isEqualTo(Errno.EINVAL))
                .isNotInstanceOf(ClosedException.class);
        completions.close();
    }
}
