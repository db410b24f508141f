package io.rdma4j.soft.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.spi.ProviderCmId;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** The calls that are allowed in each state. All others fail with {@code EINVAL} and change nothing. */
class StateTableTest {
    private static final InetSocketAddress LOCAL = new InetSocketAddress(InetAddress.ofLiteral("10.0.0.1"), 0);
    private static final InetSocketAddress PEER = new InetSocketAddress(InetAddress.ofLiteral("10.0.0.2"), 7174);

    private static final Map<String, Consumer<ProviderCmId>> CALLS = new LinkedHashMap<>();

    static {
        CALLS.put("bind", id -> id.bind(LOCAL));
        CALLS.put("resolveAddress", id -> id.resolveAddress(null, PEER, null, Duration.ZERO));
        CALLS.put("resolveRoute", id -> id.resolveRoute(Duration.ZERO));
        CALLS.put("listen", id -> id.listen(1));
        CALLS.put("connect", id -> id.connect(Dialogue.parameters()));
        CALLS.put("accept", id -> id.accept(Dialogue.parameters()));
        CALLS.put("establish", ProviderCmId::establish);
        CALLS.put("reject", id -> id.reject(new byte[0], false));
        CALLS.put("disconnect", ProviderCmId::disconnect);
        CALLS.put("notify", ProviderCmId::notifyCommunicationEstablished);
        CALLS.put("initQueuePair(INIT)", id -> id.initQueuePairAttributes(QueuePairState.INIT));
        CALLS.put("initQueuePair(RTR)", id -> id.initQueuePairAttributes(QueuePairState.READY_TO_RECEIVE));
        CALLS.put("setIpv6Only", id -> id.setIpv6Only(true));
        CALLS.put("setReuseAddress(true)", id -> id.setReuseAddress(true));
        CALLS.put("setReuseAddress(false)", id -> id.setReuseAddress(false));
    }

    private record State(String name, String allowed, Function<Dialogue, ProviderCmId> reach) {}

    /** Columns in the order of the calls above; {@code C} is {@code EISCONN}. */
    private static List<State> states() {
        return List.of(
                new State("idle", "yy----------yyy", dialogue -> dialogue.active.id()),
                new State("bound", "-y-y------y-yy-", dialogue -> bound(dialogue)),
                new State(
                        "address resolved",
                        "--y-------y--y-",
                        dialogue -> dialogue.resolved().active.id()),
                new State(
                        "route resolved",
                        "----y-----y--y-",
                        dialogue -> dialogue.routed().active.id()),
                new State("listening", "---y------y----", dialogue -> dialogue.listener.id()),
                new State(
                        "asked",
                        "--------y-y--y-",
                        dialogue -> dialogue.connecting().active.id()),
                new State(
                        "requested",
                        "-----y-yy-yy-y-",
                        dialogue -> dialogue.requested().passive.id()),
                new State(
                        "answered, active",
                        "------yyy-yy-y-",
                        dialogue -> dialogue.answered().active.id()),
                new State(
                        "answered, passive",
                        "--------yyyy-y-",
                        dialogue -> dialogue.answered().passive.id()),
                new State(
                        "established",
                        "--------yCyy-y-",
                        dialogue -> dialogue.established().active.id()),
                new State(
                        "parting, active",
                        "--------y-yy-y-",
                        dialogue -> dialogue.parting().active.id()),
                new State(
                        "parting, passive",
                        "--------y-yy-y-",
                        dialogue -> dialogue.parting().passive.id()),
                new State("rejected", "--------y-y--y-", StateTableTest::rejected));
    }

    private static ProviderCmId bound(Dialogue dialogue) {
        dialogue.active.id().bind(LOCAL);
        return dialogue.active.id();
    }

    private static ProviderCmId rejected(Dialogue dialogue) {
        dialogue.requested();
        dialogue.passive.id().reject(new byte[0], false);
        dialogue.network.settle();
        dialogue.active.take(CmEvent.Type.REJECTED);
        return dialogue.active.id();
    }

    @TestFactory
    List<DynamicTest> callsAreAllowedWhereTheTableSaysSo() {
        List<DynamicTest> tests = new ArrayList<>();
        for (State state : states()) {
            int column = 0;
            for (Map.Entry<String, Consumer<ProviderCmId>> call : CALLS.entrySet()) {
                char expected = state.allowed.charAt(column++);
                tests.add(DynamicTest.dynamicTest(state.name + ": " + call.getKey(), () -> {
                    try (Dialogue dialogue = new Dialogue()) {
                        assertThat(outcome(state.reach.apply(dialogue), call.getValue()))
                                .isEqualTo(expected);
                    }
                }));
            }
        }
        return tests;
    }

    private static char outcome(ProviderCmId id, Consumer<ProviderCmId> call) {
        try {
            call.accept(id);
            return 'y';
        } catch (RdmaException refused) {
            assertThat(refused.getMessage()).startsWith(refused.operation() + ": ");
            return refused.errno() == Errno.EISCONN ? 'C' : refused.errno() == Errno.EINVAL ? '-' : '?';
        }
    }
}
