package io.rdma4j.sockets.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionManager;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
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

    /** An error for which there is not even memory for a message. */
    @SuppressWarnings("serial")
    private static final class NoMemory extends OutOfMemoryError {
        @Override
        public String getMessage() {
            throw new OutOfMemoryError("no memory for the text");
        }
    }

    private static final class Failing implements ConnectionService.Target {
        final AtomicInteger events = new AtomicInteger();
        final AtomicInteger failures = new AtomicInteger();
        final CountDownLatch failed = new CountDownLatch(1);

        @Override
        public void onEvent(CmEvent event) {
            events.incrementAndGet();
            throw new NoMemory();
        }

        @Override
        public void onFailure(CmEvent event, Throwable why) {
            if (failures.incrementAndGet() < 3) {
                throw new NoMemory();
            }
            failed.countDown();
        }
    }

    @Test
    void errorForOneSocketFailsItAndTheThreadContinues() throws Exception {
        for (int i = 0; i < 2; i++) {
            Failing target = new Failing();
            try (CmId id = service.createId(target)) {
                id.resolveAddress(LOOPBACK, Duration.ofSeconds(2));
                assertThat(target.failed.await(20, TimeUnit.SECONDS)).isTrue();
            }
            assertThat(target.events).hasValue(1);
            assertThat(target.failures).hasValue(3);
        }
        service.close();
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
