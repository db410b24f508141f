package io.rdma4j.soft;

import io.rdma4j.fixture.TestEndpoint;
import io.rdma4j.value.Gid;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.AddressVector;
import io.rdma4j.verbs.CompletionOpcode;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;

/** A datagram queue pair in addition to an endpoint's connection, for many numbered datagrams. Used by one thread. */
final class DatagramPeer {
    static final int KEY = 0x0123_4567;

    private static final int ROUTE_BYTES = 40;
    private static final int MESSAGE_BYTES = 500;
    private static final int SLOT_BYTES = ROUTE_BYTES + MESSAGE_BYTES;
    private static final int SLOTS = 60;

    /** The number of sends after which the sender pauses, so that the others can post receives again. */
    private static final int RECEIVES_AT_ONCE = 16;

    private static final long PAUSE_NANOS = 1_000_000;

    /** The offset of the receives' memory; memory below it belongs to the connection. */
    private static final int FIRST_SLOT = 1 << 16;

    private static final int SEND_AT = 1 << 12;

    private final TestEndpoint endpoint;
    private final CompletionQueue completions;
    private final QueuePair queuePair;
    private final WorkCompletion[] some = WorkCompletion.array(16);
    private final Set<Long> received = new HashSet<>();
    private int underWay;
    private int wrong;

    DatagramPeer(TestEndpoint endpoint) {
        this.endpoint = endpoint;
        completions = endpoint.context.createCompletionQueue(256);
        queuePair = ready(endpoint, completions);
        for (int slot = 0; slot < SLOTS; slot++) {
            post(slot);
        }
    }

    /** Creates a datagram queue pair in the state ready-to-send, with the queue key of the tests. */
    static QueuePair ready(TestEndpoint side, CompletionQueue completions) {
        QueuePair queuePair = side.domain.createQueuePair(
                QueuePairInitAttributes.of(QueuePairType.UNRELIABLE_DATAGRAM, completions, TestEndpoint.CAPABILITIES));
        queuePair.modify(new QueuePairAttributes()
                .state(QueuePairState.INIT)
                .partitionKeyIndex(0)
                .port(1)
                .queueKey(KEY));
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.READY_TO_RECEIVE));
        queuePair.modify(
                new QueuePairAttributes().state(QueuePairState.READY_TO_SEND).sendPsn(0));
        return queuePair;
    }

    int number() {
        return queuePair.number();
    }

    private void post(long slot) {
        queuePair.postReceive(
                new ReceiveWorkRequest().reset(slot).into(endpoint.region, FIRST_SLOT + slot * SLOT_BYTES, SLOT_BYTES));
    }

    /** Sends numbers 1 to {@code count} to a queue pair, and receives meanwhile. */
    void send(InetAddress peer, int number, int count) {
        try (AddressHandle to =
                endpoint.domain.createAddressHandle(AddressVector.of(endpoint.gidIndex(), Gid.of(peer)))) {
            for (long i = 1; i <= count; i++) {
                for (int at = 0; at < MESSAGE_BYTES; at += 4) {
                    endpoint.memory.set(ValueLayout.JAVA_INT, SEND_AT + at, (int) i);
                }
                underWay++;
                queuePair.postSend(new SendWorkRequest()
                        .reset(i)
                        .from(endpoint.region, SEND_AT, MESSAGE_BYTES)
                        .withImmediate((int) i)
                        .to(to, number, KEY)
                        .signaled());
                while (underWay > 0) {
                    receive();
                }
                if (i % RECEIVES_AT_ONCE == 0) {
                    LockSupport.parkNanos(PAUSE_NANOS);
                }
            }
        }
    }

    /**
     * Receives until the wanted number of different datagrams has arrived, or for ten seconds; returns their number.
     */
    int received(int wanted) {
        long giveUp = System.nanoTime() + 10_000_000_000L;
        do {
            receive();
        } while (received.size() < wanted && System.nanoTime() - giveUp < 0);
        return received.size();
    }

    /** Returns the number of datagrams that had wrong content or arrived twice. */
    int wrong() {
        return wrong;
    }

    private void receive() {
        int count = completions.poll(some);
        for (int i = 0; i < count; i++) {
            WorkCompletion completion = some[i];
            if (!completion.isSuccess()) {
                wrong++;
            } else if (completion.opcode() == CompletionOpcode.SEND) {
                underWay--;
            } else {
                onReceive(completion);
            }
        }
    }

    private void onReceive(WorkCompletion completion) {
        long from = FIRST_SLOT + completion.id() * SLOT_BYTES + ROUTE_BYTES;
        boolean isNew = received.add((long) completion.sourceQueuePairNumber() << 32 | completion.immediate());
        boolean isRight = isNew && completion.byteLength() == SLOT_BYTES;
        for (int at = 0; at < MESSAGE_BYTES; at += 4) {
            isRight &= endpoint.memory.get(ValueLayout.JAVA_INT, from + at) == completion.immediate();
        }
        wrong += isRight ? 0 : 1;
        post(completion.id());
    }
}
