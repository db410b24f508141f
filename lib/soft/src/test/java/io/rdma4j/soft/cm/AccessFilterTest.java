package io.rdma4j.soft.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.ConnectionAttempt;
import io.rdma4j.value.PortSpace;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** A listener's application decides which peers may connect, before any state of a request is kept. */
class AccessFilterTest {
    private final Dialogue dialogue = new Dialogue();

    private void assertRefused() {
        dialogue.network.settle();
        assertThat(dialogue.active.take(CmEvent.Type.REJECTED).status()).isEqualTo(28);
        assertThat(dialogue.listener.requests).isEmpty();
        assertThat(dialogue.server.service.agent().connectionCount()).isZero();
    }

    @Test
    void filterGetsBothEndsAndRejectsWithoutKeepingState() {
        List<ConnectionAttempt> attempts = new ArrayList<>();
        dialogue.listener.id().setAccessFilter(attempt -> {
            attempts.add(attempt);
            return false;
        });
        dialogue.connecting();
        assertRefused();
        InetSocketAddress client = Objects.requireNonNull(dialogue.active.id().localAddress());
        assertThat(attempts)
                .containsExactly(new ConnectionAttempt(
                        client,
                        new InetSocketAddress(InetAddress.ofLiteral("10.0.0.2"), Dialogue.PORT),
                        PortSpace.TCP));
        assertThat(attempts.getFirst().serviceId()).isEqualTo(0x0106_0000L + Dialogue.PORT);
    }

    @Test
    void failingFilterRejects() {
        dialogue.listener.id().setAccessFilter(attempt -> {
            throw new IllegalStateException("on purpose");
        });
        dialogue.connecting();
        assertRefused();
    }

    @Test
    void filterThatThrowsAnErrorRejects() {
        dialogue.listener.id().setAccessFilter(attempt -> {
            throw new NoClassDefFoundError("on purpose");
        });
        dialogue.connecting();
        assertRefused();
    }

    @Test
    void acceptingFilterChangesNothing() {
        dialogue.listener
                .id()
                .setAccessFilter(attempt -> attempt.source().getAddress().equals(InetAddress.ofLiteral("10.0.0.1")));
        dialogue.established();
        assertThat(dialogue.server.service.agent().connectionCount()).isEqualTo(1);
    }

    @Test
    void changedFilterAppliesToLaterRequests() {
        dialogue.listener.id().setAccessFilter(attempt -> false);
        dialogue.listener.id().setAccessFilter(attempt -> true);
        dialogue.requested();
    }
}
