package io.rdma4j.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.cm.spi.CmEventSink;
import io.rdma4j.cm.spi.ProviderCmId;
import io.rdma4j.value.PortSpace;
import io.rdma4j.value.QueuePairType;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests that a listener with several providers works as long as one of them can listen. */
class ListeningProvidersTest {
    private static final InetAddress ANY = InetAddress.ofLiteral("0.0.0.0");

    private static final CmEventSink NO_SINK = new CmEventSink() {
        @Override
        public void onEvent(CmEvent event) {}

        @Override
        public CmEventSink onConnectRequest(ProviderCmId child, CmEvent.ConnectRequest event) {
            return this;
        }
    };

    private final FakeProvider first = new FakeProvider(ANY);
    private final FakeProvider second = new FakeProvider(ANY);
    private final ProviderBinding binding =
            new ProviderBinding(CmProviders.of(first), PortSpace.TCP, QueuePairType.RELIABLE_CONNECTION, NO_SINK);

    ListeningProvidersTest() {
        binding.bindAll(List.of(first, second), new InetSocketAddress(ANY, 7));
    }

    private static List<String> callsOf(FakeProvider provider) {
        return provider.ids.getFirst().calls;
    }

    @Test
    void allListen() {
        binding.listen(3);
        assertThat(callsOf(first)).containsExactly("bind", "listen 3");
        assertThat(callsOf(second)).containsExactly("bind", "listen 3");
    }

    @Test
    void providerThatCannotListenIsDropped() {
        second.ids.getFirst().refusal = FailingVerbs.refusal();
        binding.listen(3);
        assertThat(callsOf(second)).containsExactly("bind", "listen 3", "close");
        assertThat(binding.first()).isSameAs(first.ids.getFirst());
        binding.close();
        assertThat(callsOf(first)).containsExactly("bind", "listen 3", "close");
        assertThat(callsOf(second)).hasSize(3);
    }

    @Test
    void listenerOfProvidersThatAllRefuseStaysBound() {
        first.ids.getFirst().refusal = FailingVerbs.refusal();
        second.ids.getFirst().refusal = FailingVerbs.refusal();
        assertThatThrownBy(() -> binding.listen(3)).isSameAs(first.ids.getFirst().refusal);
        binding.close();
        assertThat(callsOf(first)).containsExactly("bind", "listen 3", "close");
        assertThat(callsOf(second)).containsExactly("bind", "listen 3", "close");
    }
}
