package io.rdma4j.soft.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.cm.CmId;
import io.rdma4j.soft.SoftStack;
import io.rdma4j.soft.device.ObservedHost;
import io.rdma4j.soft.device.StackAccess;
import io.rdma4j.soft.device.StackSettings;
import io.rdma4j.value.PortSpace;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An address resolution asks the host for the route once. */
@Timeout(60)
class RouteLookupsTest {
    private static final InetAddress LOOPBACK = InetAddress.ofLiteral("127.0.0.1");
    private static final InetSocketAddress DESTINATION = new InetSocketAddress(InetAddress.ofLiteral("127.0.83.9"), 7);

    private final List<Object> lookedUp = new CopyOnWriteArrayList<>();
    private final SoftStack stack = StackAccess.create(SoftStack.class, settings());

    /** Returns settings with the network of this host, whose route lookups are counted. */
    private StackSettings settings() {
        return ObservedHost.settings((method, arguments) -> {
            if (method.equals("sourceFor")) {
                lookedUp.add(arguments[2]);
            }
            return null;
        });
    }

    @AfterEach
    void close() {
        stack.close();
    }

    private void resolve(@Nullable InetAddress bound, @Nullable InetAddress source) {
        try (CmId id = stack.connectionManager().createId(PortSpace.TCP)) {
            if (bound != null) {
                id.bindAddress(new InetSocketAddress(bound, 0));
            }
            id.resolveAddress(
                    source == null ? null : new InetSocketAddress(source, 0), DESTINATION, Duration.ofSeconds(20));
            assertThat(id.hasDevice()).isTrue();
        }
        assertThat(lookedUp).containsExactly(DESTINATION.getAddress());
    }

    @Test
    void idleIdentifier() {
        resolve(null, null);
    }

    @Test
    void identifierWithARequiredSource() {
        resolve(null, LOOPBACK);
    }

    @Test
    void identifierBoundToAnAddress() {
        resolve(LOOPBACK, null);
    }

    @Test
    void identifierBoundToAWildcard() {
        resolve(InetAddress.ofLiteral("0.0.0.0"), null);
    }
}
