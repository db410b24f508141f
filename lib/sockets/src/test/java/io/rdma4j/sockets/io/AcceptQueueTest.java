package io.rdma4j.sockets.io;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.cm.CmId;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.value.PortSpace;
import io.rdma4j.verbs.wait.Signal;
import io.rdma4j.wire.rsocket.BufferDescriptor;
import io.rdma4j.wire.rsocket.ConnectData;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests of the queue of a listener, without a clock and a network. */
class AcceptQueueTest {
    /** A quarter of one address's share. */
    private static final long BYTES = AcceptQueue.BUDGET_BYTES / AcceptQueue.SHARES / 4;

    private static final int ALL = AcceptQueue.SHARES * 4;

    private static final ConnectData DATA =
            new ConnectData(false, true, 384, 0, new BufferDescriptor(0, 0, 2), new BufferDescriptor(0, 0, 2));

    private final EventChannel channel = EventChannel.open();
    private final List<CmId> ids = new ArrayList<>();
    private final AcceptQueue queue = new AcceptQueue(2, new Signal());

    @AfterEach
    void close() {
        ids.forEach(CmId::close);
        channel.close();
    }

    private AcceptQueue.Request offer(int source) {
        CmId id = channel.createId(PortSpace.TCP);
        ids.add(id);
        AcceptQueue.Request request = new AcceptQueue.Request(id, DATA, InetAddress.ofLiteral("192.0.2." + source));
        assertThat(queue.offer(request)).isTrue();
        return request;
    }

    private AcceptQueue.@Nullable Reply next(long nowNanos) {
        return queue.nextReply(BYTES, nowNanos);
    }

    private int replyToAll(long nowNanos) {
        int count = 0;
        while (next(nowNanos) != null) {
            count++;
        }
        return count;
    }

    @Test
    void oneAddressIsLimitedToItsShareOfTheBudget() {
        for (int i = 0; i < ALL; i++) {
            offer(1);
        }
        assertThat(replyToAll(0)).isEqualTo(4);
        AcceptQueue.Request other = offer(2);
        assertThat(Objects.requireNonNull(next(0)).request()).isEqualTo(other);
    }

    @Test
    void sourcesAlternate() {
        for (int i = 0; i < 3; i++) {
            offer(1);
        }
        AcceptQueue.Request other = offer(2);
        assertThat(Objects.requireNonNull(next(0)).request()).isNotEqualTo(other);
        assertThat(Objects.requireNonNull(next(0)).request()).isEqualTo(other);
    }

    @Test
    void allAddressesTogetherAreLimitedToTheBudget() {
        for (int i = 0; i < 2 * ALL; i++) {
            offer(i);
        }
        assertThat(replyToAll(0)).isEqualTo(ALL);
    }

    @Test
    void overdueReplyIsGivenUpForAWaitingRequest() {
        for (int i = 0; i < ALL; i++) {
            offer(i);
        }
        assertThat(replyToAll(0)).isEqualTo(ALL);
        long later = AcceptQueue.PATIENCE_NANOS;
        assertThat(queue.nextOverdue(BYTES, later)).as("while nothing waits").isNull();
        assertThat(queue.untilOverdueNanos(BYTES, 0)).isNegative();
        AcceptQueue.Request waiting = offer(200);
        assertThat(queue.nextOverdue(BYTES, later - 1)).isNull();
        assertThat(queue.untilOverdueNanos(BYTES, later - 1)).isEqualTo(1);
        AcceptQueue.Reply overdue = Objects.requireNonNull(queue.nextOverdue(BYTES, later));
        assertThat(overdue.request().id()).isEqualTo(ids.getFirst());
        assertThat(Objects.requireNonNull(next(later)).request()).isEqualTo(waiting);
    }

    @Test
    void requestsOfAnAddressAtItsShareReplaceOnlyItsOwnReplies() {
        for (int i = 0; i < 4; i++) {
            offer(1);
        }
        AcceptQueue.Request ofAnother = offer(2);
        assertThat(replyToAll(0)).isEqualTo(5);
        offer(2);
        offer(1);
        assertThat(replyToAll(0)).as("the other address is within its share").isEqualTo(1);
        AcceptQueue.Reply overdue = Objects.requireNonNull(queue.nextOverdue(BYTES, AcceptQueue.PATIENCE_NANOS));
        assertThat(overdue.request().source()).isNotEqualTo(ofAnother.source());
    }

    @Test
    void connectionOfAnySizeCanBeAccepted() {
        offer(1);
        offer(2);
        assertThat(queue.nextReply(AcceptQueue.BUDGET_BYTES * 2, 0)).isNotNull();
        assertThat(queue.nextReply(AcceptQueue.BUDGET_BYTES * 2, 0)).isNull();
    }

    @Test
    void establishedConnectionsFillTheBacklog() {
        StreamEndpoint endpoint = new StreamEndpoint(ConnectionService.ofProcess(), StreamSettings.DEFAULT);
        for (int i = 0; i < 4; i++) {
            offer(i);
        }
        for (int i = 0; i < 2; i++) {
            assertThat(queue.connected(Objects.requireNonNull(next(0)), endpoint))
                    .isTrue();
        }
        assertThat(next(0)).isNull();
        assertThat(queue.poll()).isSameAs(endpoint);
        assertThat(next(0)).isNotNull();
    }
}
