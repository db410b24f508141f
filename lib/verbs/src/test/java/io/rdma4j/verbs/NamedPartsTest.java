package io.rdma4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.value.Gid;
import io.rdma4j.value.QueuePairType;
import java.lang.reflect.Proxy;
import org.junit.jupiter.api.Test;

class NamedPartsTest {
    private static final Gid PEER = new Gid(0xfe80L << 48, 7);
    private static final QueuePairCapabilities SIZES = new QueuePairCapabilities(1, 2, 3, 4, 5);

    private static <T> T object(Class<T> type) {
        return type.cast(Proxy.newProxyInstance(
                NamedPartsTest.class.getClassLoader(),
                new Class<?>[] {type},
                (_, method, _) -> method.getName().equals("equals") ? false : null)); // to another object
    }

    @Test
    void aPathChangesOnePartAtATime() {
        AddressVector path = AddressVector.of(3, PEER);
        assertThat(path).isEqualTo(new AddressVector(3, PEER, 0, 0, 64, 0, 0, 0, 1));
        assertThat(path.withDestinationScope(9)).isEqualTo(new AddressVector(3, PEER, 9, 0, 64, 0, 0, 0, 1));
        assertThat(path.withFlowLabel(9)).isEqualTo(new AddressVector(3, PEER, 0, 9, 64, 0, 0, 0, 1));
        assertThat(path.withHopLimit(9)).isEqualTo(new AddressVector(3, PEER, 0, 0, 9, 0, 0, 0, 1));
        assertThat(path.withTrafficClass(9)).isEqualTo(new AddressVector(3, PEER, 0, 0, 64, 9, 0, 0, 1));
        assertThat(path.withServiceLevel(9)).isEqualTo(new AddressVector(3, PEER, 0, 0, 64, 0, 9, 0, 1));
        assertThat(path.withStaticRate(9)).isEqualTo(new AddressVector(3, PEER, 0, 0, 64, 0, 0, 9, 1));
        assertThat(path.withPort(9)).isEqualTo(new AddressVector(3, PEER, 0, 0, 64, 0, 0, 0, 9));
    }

    @Test
    void sizesChangeOnePartAtATime() {
        assertThat(SIZES.withSends(9)).isEqualTo(new QueuePairCapabilities(9, 2, 3, 4, 5));
        assertThat(SIZES.withReceives(9)).isEqualTo(new QueuePairCapabilities(1, 9, 3, 4, 5));
        assertThat(SIZES.withSendScatterGather(9)).isEqualTo(new QueuePairCapabilities(1, 2, 9, 4, 5));
        assertThat(SIZES.withReceiveScatterGather(9)).isEqualTo(new QueuePairCapabilities(1, 2, 3, 9, 5));
        assertThat(SIZES.withInlineBytes(9)).isEqualTo(new QueuePairCapabilities(1, 2, 3, 4, 9));
    }

    @Test
    void parametersOfAQueuePairChangeOnePartAtATime() {
        CompletionQueue sends = object(CompletionQueue.class);
        CompletionQueue receives = object(CompletionQueue.class);
        SharedReceiveQueue shared = object(SharedReceiveQueue.class);
        QueuePairType type = QueuePairType.UNRELIABLE_DATAGRAM;
        XrcDomain domain = object(XrcDomain.class);
        QueuePairInitAttributes plain = QueuePairInitAttributes.of(type, sends, SIZES);
        assertThat(plain)
                .isEqualTo(new QueuePairInitAttributes(type, sends, sends, SIZES, false, null, null, null, false));
        assertThat(plain.withReceiveCompletions(receives))
                .isEqualTo(new QueuePairInitAttributes(type, sends, receives, SIZES, false, null, null, null, false));
        assertThat(plain.withSignalAll(true))
                .isEqualTo(new QueuePairInitAttributes(type, sends, sends, SIZES, true, null, null, null, false));
        assertThat(plain.withContext("mine"))
                .isEqualTo(new QueuePairInitAttributes(type, sends, sends, SIZES, false, "mine", null, null, false));
        assertThat(plain.withXrcDomain(domain))
                .isEqualTo(new QueuePairInitAttributes(type, sends, sends, SIZES, false, null, null, domain, false));
        assertThat(plain.withBlockMulticastLoopback(true))
                .isEqualTo(new QueuePairInitAttributes(type, sends, sends, SIZES, false, null, null, null, true));
        assertThat(plain.withSharedReceiveQueue(shared))
                .isEqualTo(new QueuePairInitAttributes(type, sends, sends, SIZES, false, null, shared, null, false));
    }

    @Test
    void parametersOfTheQueuePairOfAnIdentifierMayLackTypeAndCompletionQueues() {
        CompletionQueue queue = object(CompletionQueue.class);
        QueuePairInitAttributes attributes = QueuePairInitAttributes.of(SIZES);
        assertThat(attributes)
                .isEqualTo(new QueuePairInitAttributes(null, null, null, SIZES, false, null, null, null, false));
        assertThat(attributes.withType(QueuePairType.XRC_SEND).withCompletions(queue))
                .isEqualTo(QueuePairInitAttributes.of(QueuePairType.XRC_SEND, queue, SIZES));
        assertThat(QueuePairInitAttributes.defaults().withCapabilities(SIZES)).isEqualTo(attributes);
    }
}
