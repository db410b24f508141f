package io.rdma4j.soft.cm;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.value.PathMtu;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.wire.cm.CmAttribute;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The reactions of identifiers to messages and to their absence, in simulated time. */
class SimulatedConnectionTest {
    private static final Duration AGES = Duration.ofMinutes(10);

    private final List<Dialogue> dialogues = new ArrayList<>();

    private Dialogue dialogue() {
        Dialogue created = new Dialogue();
        dialogues.add(created);
        return created;
    }

    @AfterEach
    void closeStacks() {
        dialogues.forEach(Dialogue::close);
    }

    /** Runs until an identifier has an event; returns the elapsed seconds. */
    private static double secondsUntilEvent(Dialogue dialogue, SimulatedNetwork.Identifier id) {
        long start = dialogue.network.nanoTime();
        while (id.events.isEmpty() && dialogue.network.nanoTime() - start < AGES.toNanos()) {
            dialogue.network.run(Duration.ofMillis(10));
        }
        return (dialogue.network.nanoTime() - start) / 1e9;
    }

    @Test
    void silentHostIsUnreachableAfterTheTimeOfLinux() {
        Dialogue dialogue = dialogue();
        dialogue.server.isUp = false;
        dialogue.connecting();
        assertThat(secondsUntilEvent(dialogue, dialogue.active)).isEqualTo(98.3, within(5.0));
        CmEvent event = dialogue.active.take(CmEvent.Type.UNREACHABLE);
        assertThat(event.status()).isEqualTo(-110);
        assertThat(event.explanation())
                .isEqualTo("connection from 10.0.0.1:" + localPort(dialogue)
                        + " to 10.0.0.2:7174 (device rdma4j_sim0, GID 10.0.0.1 at index 1): the peer did not answer the"
                        + " connection request (ETIMEDOUT). Check that the host is up and that UDP port 4791 is open"
                        + " both ways");
    }

    private static int localPort(Dialogue dialogue) {
        InetSocketAddress local = dialogue.active.id().localAddress();
        return local == null ? 0 : local.getPort();
    }

    @Test
    void unconfirmedAcceptanceIsUnreachable() {
        Dialogue dialogue = dialogue().requested();
        dialogue.client.isUp = false;
        dialogue.passive.id().accept(Dialogue.parameters());
        assertThat(secondsUntilEvent(dialogue, dialogue.passive)).isEqualTo(65.5, within(5.0));
        CmEvent event = dialogue.passive.take(CmEvent.Type.UNREACHABLE);
        assertThat(event.status()).isEqualTo(-110);
        assertThat(event.explanation()).contains("did not confirm the accepted connection (ETIMEDOUT)");
    }

    @Test
    void silentPeerCausesDisconnectedWithTimeout() {
        Dialogue dialogue = dialogue().established();
        dialogue.server.isUp = false;
        dialogue.active.id().disconnect();
        assertThat(secondsUntilEvent(dialogue, dialogue.active)).isBetween(1.0, 105.0);
        CmEvent event = dialogue.active.take(CmEvent.Type.DISCONNECTED);
        assertThat(event.status()).isEqualTo(-110);
        assertThat(event.explanation()).contains("the peer did not confirm the disconnect (ETIMEDOUT)");
        assertThat(secondsUntilEvent(dialogue, dialogue.active)).isEqualTo(2.048, within(0.02));
        dialogue.active.take(CmEvent.Type.TIMEWAIT_EXIT);
    }

    @Test
    void disconnectIsAnsweredOnlyWhenTheApplicationReacts() {
        Dialogue dialogue = dialogue().parting();
        dialogue.network.run(Duration.ofSeconds(3));
        assertThat(dialogue.active.events).isEmpty();
        dialogue.passive.id().disconnect();
        dialogue.network.settle();
        assertThat(dialogue.active.take(CmEvent.Type.DISCONNECTED).status()).isZero();
        dialogue.network.run(Duration.ofSeconds(3));
        dialogue.active.take(CmEvent.Type.TIMEWAIT_EXIT);
        dialogue.passive.take(CmEvent.Type.TIMEWAIT_EXIT);
        assertThat(dialogue.active.events).isEmpty();
        assertThat(dialogue.passive.events).isEmpty();
    }

    @Test
    void tripledMessagesCauseOneEventEach() {
        Dialogue dialogue = dialogue();
        dialogue.network.copies = 3;
        dialogue.parting();
        dialogue.passive.id().disconnect();
        dialogue.network.settle();
        dialogue.active.take(CmEvent.Type.DISCONNECTED);
        dialogue.network.run(AGES);
        dialogue.active.take(CmEvent.Type.TIMEWAIT_EXIT);
        dialogue.passive.take(CmEvent.Type.TIMEWAIT_EXIT);
        assertThat(dialogue.active.events).isEmpty();
        assertThat(dialogue.passive.events).isEmpty();
        assertThat(dialogue.listener.requests).isEmpty();
        assertThat(dialogue.client.service.agent().connectionCount()).isZero();
        assertThat(dialogue.server.service.agent().connectionCount()).isZero();
    }

    @Test
    void lostMessageOfEachKindIsRetransmitted() {
        for (CmAttribute kind :
                new CmAttribute[] {CmAttribute.REQ, CmAttribute.REP, CmAttribute.DREQ, CmAttribute.DREP}) {
            Dialogue dialogue = dialogue();
            boolean[] lost = {false};
            dialogue.network.loses = message -> {
                boolean lose = !lost[0] && message == kind;
                lost[0] |= lose;
                return lose;
            };
            dialogue.connecting();
            dialogue.network.run(Duration.ofSeconds(1));
            dialogue.passive = dialogue.listener.requests.remove();
            dialogue.passive.take(CmEvent.Type.CONNECT_REQUEST);
            dialogue.passive.id().accept(Dialogue.parameters());
            dialogue.network.run(Duration.ofSeconds(1));
            dialogue.active.take(CmEvent.Type.CONNECT_RESPONSE);
            dialogue.active.id().establish();
            dialogue.network.run(Duration.ofSeconds(1));
            dialogue.passive.take(CmEvent.Type.ESTABLISHED);
            dialogue.active.id().disconnect();
            dialogue.network.run(Duration.ofSeconds(1));
            dialogue.passive.take(CmEvent.Type.DISCONNECTED);
            dialogue.passive.id().disconnect();
            dialogue.network.run(Duration.ofSeconds(1));
            assertThat(dialogue.active.take(CmEvent.Type.DISCONNECTED).status()).isZero();
            assertThat(lost[0]).as("lost a " + kind).isTrue();
        }
    }

    @Test
    void requestsBeyondTheBacklogArriveWhenThereIsRoom() {
        Dialogue dialogue = dialogue();
        SimulatedNetwork.Identifier narrow = dialogue.server.listener(8000, 2);
        for (int i = 0; i < 5; i++) {
            SimulatedNetwork.Identifier each = dialogue.client.identifier();
            each.id().resolveAddress(null, new InetSocketAddress(dialogue.server.address, 8000), null, Duration.ZERO);
            each.id().resolveRoute(Duration.ZERO);
            each.id().connect(Dialogue.parameters().withQueuePairNumber(100 + i));
        }
        dialogue.network.settle();
        assertThat(narrow.requests).hasSize(2);
        for (int taken = 0; taken < 5; taken++) {
            narrow.requests.remove().id().onRequestTaken();
            dialogue.network.run(Duration.ofSeconds(15));
        }
        assertThat(narrow.requests).isEmpty();
    }

    @Test
    void aRequestReplacesOneThatItsPeerHasWithdrawn() {
        Dialogue dialogue = dialogue();
        SimulatedNetwork.Identifier narrow = dialogue.server.listener(8000, 1);
        int before = dialogue.server.service.openIdentifiers().size();
        for (int i = 0; i < 5; i++) {
            SimulatedNetwork.Identifier each = dialogue.client.identifier();
            each.id().resolveAddress(null, new InetSocketAddress(dialogue.server.address, 8000), null, Duration.ZERO);
            each.id().resolveRoute(Duration.ZERO);
            each.id().connect(Dialogue.parameters().withQueuePairNumber(100 + i));
            dialogue.network.settle();
            if (i < 4) {
                each.id().close();
                dialogue.network.settle();
            }
            assertThat(narrow.requests).hasSize(1);
            assertThat(dialogue.server.service.openIdentifiers()).hasSize(before + 1);
        }
        SimulatedNetwork.Identifier last = narrow.requests.remove();
        assertThat(last.take(CmEvent.Type.CONNECT_REQUEST).connection().queuePairNumber())
                .isEqualTo(104);
        assertThat(last.events).isEmpty();
    }

    @Test
    void acceptingAWithdrawnRequestNamesTheReason() {
        Dialogue dialogue = dialogue().requested();
        dialogue.active.id().close();
        dialogue.network.settle();
        assertThat(dialogue.passive.take(CmEvent.Type.REJECTED).status()).isEqualTo(4);
        assertThatThrownBy(() -> dialogue.passive.id().accept(Dialogue.parameters()))
                .isInstanceOfSatisfying(
                        RdmaException.class,
                        refused -> assertThat(refused.errno()).isEqualTo(Errno.EINVAL))
                .hasMessageContaining("the peer has withdrawn its request");
    }

    @Test
    void wildcardListenersAcceptRequestsAtLaterAddresses() {
        SimulatedNetwork.Host host = dialogue().network.host("10.0.0.3");
        SimulatedNetwork.Identifier listener = host.identifier();
        listener.id().bind(new InetSocketAddress(InetAddress.ofLiteral("0.0.0.0"), 7174));
        listener.id().listen(1);
        assertThat(host.serves("10.0.0.3", 7174)).isTrue();
        host.interfaces.add("sim0", InetAddress.ofLiteral("10.0.0.5"));
        host.interfaces.add("sim0", InetAddress.ofLiteral("fd00::5"));
        assertThat(host.serves("10.0.0.5", 7174)).isFalse();
        assertThat(host.service.addressWatch().scan()).isTrue();
        assertThat(host.serves("10.0.0.3", 7174)).isTrue();
        assertThat(host.serves("10.0.0.5", 7174)).isTrue();
        assertThat(host.serves("fd00::5", 7174)).isFalse();
        listener.id().close();
        assertThat(host.serves("10.0.0.3", 7174)).isFalse();
        assertThat(host.serves("10.0.0.5", 7174)).isFalse();
        assertThat(host.service.addressWatch().scan()).isFalse();
    }

    @Test
    void aPathMtuThatTheListenerCannotCarryIsRejected() {
        Dialogue dialogue = dialogue();
        SimulatedNetwork.Host jumbo = dialogue.network.host("10.0.0.3", PathMtu.MTU_4096);
        dialogue.active = jumbo.identifier();
        dialogue.connecting();
        dialogue.network.settle();
        CmEvent event = dialogue.active.take(CmEvent.Type.REJECTED);
        assertThat(event.status()).isEqualTo(26);
        assertThat(event.explanation())
                .contains("invalid path MTU (26): the peer's network interface carries smaller packets only");
        assertThat(dialogue.listener.requests).isEmpty();
    }

    @Test
    void limitsOfPrivateDataAreNamed() {
        Dialogue dialogue = dialogue().routed();
        assertThatThrownBy(
                        () -> dialogue.active.id().connect(Dialogue.parameters().withPrivateData(new byte[57])))
                .isInstanceOf(RdmaException.class)
                .hasMessageContaining("private data of 57 bytes is more than the 56");
        dialogue.active.id().connect(Dialogue.parameters().withPrivateData(new byte[56]));
        dialogue.network.settle();
        SimulatedNetwork.Identifier passive = dialogue.listener.requests.remove();
        assertThatThrownBy(() -> passive.id().accept(Dialogue.parameters().withPrivateData(new byte[197])))
                .isInstanceOf(RdmaException.class)
                .hasMessageContaining("private data of 197 bytes is more than the 196");
        assertThatThrownBy(() -> passive.id().reject(new byte[149], false))
                .isInstanceOf(RdmaException.class)
                .hasMessageContaining("private data of 149 bytes is more than the 148");
        passive.id()
                .accept(Dialogue.parameters().withPrivateData("x".repeat(196).getBytes(UTF_8)));
        dialogue.network.settle();
        assertThat(dialogue.active
                        .take(CmEvent.Type.CONNECT_RESPONSE)
                        .connection()
                        .privateData())
                .isEqualTo("x".repeat(196).getBytes(UTF_8));
    }

    @Test
    void closingSendsTheMessageThatTheStateRequires() {
        Dialogue connecting = dialogue().connecting();
        connecting.network.settle();
        SimulatedNetwork.Identifier request = connecting.listener.requests.remove();
        request.take(CmEvent.Type.CONNECT_REQUEST);
        connecting.active.id().close();
        connecting.network.settle();
        CmEvent gaveUp = request.take(CmEvent.Type.REJECTED);
        assertThat(gaveUp.status()).isEqualTo(4);
        assertThat(gaveUp.explanation()).contains("timeout (4): the peer timed out while it waited for a reply");

        Dialogue answered = dialogue().answered();
        answered.active.id().close();
        answered.network.settle();
        assertThat(answered.passive.take(CmEvent.Type.REJECTED).status()).isEqualTo(28);

        Dialogue established = dialogue().established();
        established.passive.id().close();
        established.network.settle();
        assertThat(established.active.take(CmEvent.Type.DISCONNECTED).status()).isZero();
        assertThat(established.passive.events).isEmpty();
    }

    @Test
    void exitingProcessDisconnectsAllPeers() {
        Dialogue dialogue = dialogue().established();
        dialogue.server.service.finish();
        assertThat(dialogue.server.service.isDisconnecting()).isTrue();
        dialogue.network.settle();
        dialogue.active.take(CmEvent.Type.DISCONNECTED);
        dialogue.active.id().disconnect();
        dialogue.network.settle();
        assertThat(dialogue.server.service.isDisconnecting())
                .as("it was answered")
                .isFalse();
    }

    /** Even for an identifier that is already closed. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void exitingProcessRetransmitsItsDisconnects(boolean isClosed) {
        Dialogue dialogue = dialogue().established();
        int[] left = {3};
        dialogue.network.loses = message -> message == CmAttribute.DREQ && left[0]-- > 0;
        if (isClosed) {
            dialogue.active.id().close();
        }
        dialogue.client.service.finish();
        dialogue.network.run(Duration.ofMillis(150));
        dialogue.passive.take(CmEvent.Type.DISCONNECTED);
        dialogue.passive.id().disconnect();
        dialogue.network.settle();
        assertThat(dialogue.client.service.isDisconnecting()).isFalse();
    }

    @Test
    void peerOfAClosedIdentifierIsDisconnectedAlthoughTheFirstMessagesAreLost() {
        Dialogue dialogue = dialogue().established();
        int[] left = {2};
        dialogue.network.loses = message -> message == CmAttribute.DREQ && left[0]-- > 0;
        dialogue.active.id().close();
        dialogue.network.run(Duration.ofSeconds(1));
        assertThat(dialogue.passive.take(CmEvent.Type.DISCONNECTED).status()).isZero();
        dialogue.passive.id().close();
        dialogue.network.run(Duration.ofSeconds(5));
        assertThat(dialogue.active.events).isEmpty();
        assertThat(dialogue.client.service.agent().connectionCount()).isZero();
        assertThat(dialogue.server.service.agent().connectionCount()).isZero();
    }

    @Test
    void disconnectThatOvertakesTheConfirmationIsReportedAfterEstablished() {
        Dialogue dialogue = dialogue().answered();
        dialogue.network.loses = message -> message == CmAttribute.RTU;
        dialogue.active.id().establish();
        dialogue.active.id().close();
        dialogue.network.settle();
        dialogue.passive.take(CmEvent.Type.ESTABLISHED);
        dialogue.passive.take(CmEvent.Type.DISCONNECTED);
    }

    @Test
    void addressOfNoDeviceIsAnAddressError() {
        Dialogue dialogue = dialogue();
        SimulatedNetwork.Identifier id = dialogue.client.identifier();
        InetAddress elsewhere = InetAddress.ofLiteral("10.0.0.9");
        assertThatThrownBy(() -> id.id()
                        .resolveAddress(
                                new InetSocketAddress(elsewhere, 0),
                                new InetSocketAddress(dialogue.server.address, 1),
                                null,
                                Duration.ZERO))
                .isInstanceOf(RdmaException.class)
                .hasMessage(
                        "rdma_resolve_addr: Cannot assign requested address (EADDRNOTAVAIL): no network interface that is up"
                                + " has the address 10.0.0.9. Use an address of this host whose network interface is up; `ip address` lists them");
    }
}
