package io.rdma4j.soft.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.RoutePath;
import io.rdma4j.cm.spi.ProviderCmId;
import io.rdma4j.value.PathMtu;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The path of an identifier. */
class PathsTest {
    private static final RoutePath CHOSEN = new RoutePath(PathMtu.MTU_512, 0x60, 0x12345, 7, 15);

    private final Dialogue dialogue = new Dialogue();

    @AfterEach
    void closeStacks() {
        dialogue.close();
    }

    private ProviderCmId active() {
        return dialogue.active.id();
    }

    private void choosePath() {
        dialogue.resolved();
        active().setPath(CHOSEN);
        dialogue.active.take(CmEvent.Type.ROUTE_RESOLVED);
    }

    @Test
    void thereIsNoPathBeforeTheRouteIsResolved() {
        assertThat(active().path()).isNull();
        dialogue.resolved();
        assertThat(active().path()).isNull();
    }

    @Test
    void resolvedRouteHasThePathOfTheDevice() {
        dialogue.routed();
        RoutePath path = Objects.requireNonNull(active().path());
        assertThat(path.pathMtu()).isEqualTo(PathMtu.MTU_1024);
        assertThat(path.trafficClass()).isZero();
        assertThat(path.hopLimit()).isEqualTo(64);
        assertThat(path.packetLifetime()).isEqualTo(18);
    }

    @Test
    void pathSetByTheProgramIsReturned() {
        choosePath();
        assertThat(active().path()).isEqualTo(CHOSEN);
    }

    @Test
    void passiveSideHasThePathOfTheRequest() {
        choosePath();
        active().connect(Dialogue.parameters());
        dialogue.network.settle();
        SimulatedNetwork.Identifier passive = dialogue.listener.requests.remove();
        RoutePath path = Objects.requireNonNull(passive.id().path());
        assertThat(path.pathMtu()).isEqualTo(CHOSEN.pathMtu());
        assertThat(path.trafficClass()).isEqualTo(CHOSEN.trafficClass());
        assertThat(path.flowLabel()).isEqualTo(CHOSEN.flowLabel());
    }

    @Test
    void connectionKeepsThePath() {
        dialogue.routed();
        RoutePath path = active().path();
        dialogue.active.id().connect(Dialogue.parameters());
        dialogue.network.settle();
        assertThat(active().path()).isEqualTo(path);
    }
}
