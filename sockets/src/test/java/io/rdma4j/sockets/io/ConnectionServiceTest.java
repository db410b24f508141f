package io.rdma4j.sockets.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.rdma4j.cm.ConnectionManager;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A connection service is closed after its sockets. */
@Timeout(60)
class ConnectionServiceTest {
    private static final InetSocketAddress LOOPBACK = new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 0);

    private final ConnectionService service = new ConnectionService(ConnectionManager.ofProcess());

    private StreamEndpoint bound() throws IOException {
        StreamEndpoint endpoint = new StreamEndpoint(service, StreamSettings.DEFAULT);
        endpoint.bind(LOOPBACK);
        return endpoint;
    }

    @Test
    void serviceWithAnOpenSocketStaysOpen() throws IOException {
        StreamEndpoint first = bound();
        assertThat(catchThrowableOfType(RdmaException.class, () -> service.close(0))
                        .errno())
                .isEqualTo(Errno.EBUSY);
        bound().close();
        first.close();
        service.close(0);
    }

    @Test
    void closedServiceRefusesSockets() throws IOException {
        bound().close();
        service.close();
        service.close();
        assertThatThrownBy(this::bound).isInstanceOf(IOException.class).hasMessageContaining("closed");
    }

    @Test
    void unusedServiceIsClosed() {
        service.close();
        assertThatThrownBy(this::bound).isInstanceOf(IOException.class).hasMessageContaining("closed");
    }
}
