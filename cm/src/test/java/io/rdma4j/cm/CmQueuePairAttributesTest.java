package io.rdma4j.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.XrcDomain;
import java.lang.reflect.Proxy;
import org.junit.jupiter.api.Test;

class CmQueuePairAttributesTest {
    private static final QueuePairCapabilities SIZES = new QueuePairCapabilities(1, 2, 3, 4, 5);

    private static <T> T object(Class<T> type) {
        return type.cast(Proxy.newProxyInstance(
                CmQueuePairAttributesTest.class.getClassLoader(), new Class<?>[] {type}, (_, _, _) -> null));
    }

    @Test
    void attributesChangeOnePartAtATime() {
        CompletionQueue sends = object(CompletionQueue.class);
        CompletionQueue receives = object(CompletionQueue.class);
        SharedReceiveQueue shared = object(SharedReceiveQueue.class);
        XrcDomain domain = object(XrcDomain.class);
        CmQueuePairAttributes attributes = CmQueuePairAttributes.of(SIZES)
                .withCompletions(sends, receives)
                .withSignalAll(true)
                .withContext("mine")
                .withSharedReceiveQueue(shared)
                .withXrcDomain(domain);
        assertThat(attributes.capabilities()).isEqualTo(SIZES);
        assertThat(attributes.sendCompletions()).isSameAs(sends);
        assertThat(attributes.receiveCompletions()).isSameAs(receives);
        assertThat(attributes.signalAll()).isTrue();
        assertThat(attributes.context()).isEqualTo("mine");
        assertThat(attributes.sharedReceiveQueue()).isSameAs(shared);
        assertThat(attributes.xrcDomain()).isSameAs(domain);
    }
}
