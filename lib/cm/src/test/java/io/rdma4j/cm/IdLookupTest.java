package io.rdma4j.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.value.PortSpace;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.Errno;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Lookups that fail by an error of the virtual machine or of a resolver, after which the identifier can look up again. */
@Timeout(30)
class IdLookupTest {
    private final EventChannel channel = new EventChannel(ConnectionManager.ofProcess());
    private final CmId id = new CmId(channel, false, PortSpace.TCP, QueuePairType.RELIABLE_CONNECTION, null);

    private CmEvent.Failure failureOf(Supplier<AddressInformation> search) {
        id.lookup().start(search);
        try (CmEvent event = Objects.requireNonNull(channel.await(Duration.ofSeconds(10)))) {
            assertThat(event.type()).isEqualTo(CmEvent.Type.ADDRESS_INFORMATION_ERROR);
            return (CmEvent.Failure) event;
        }
    }

    @Test
    void errorOfTheVirtualMachineIsReportedAsAnEvent() {
        assertThat(failureOf(() -> {
                            throw new OutOfMemoryError("Java heap space");
                        })
                        .status())
                .isEqualTo(-Errno.ENOMEM.number());
        assertThat(failureOf(() -> {
                            throw new StackOverflowError();
                        })
                        .status())
                .isEqualTo(-Errno.ENOMEM.number());
    }

    @Test
    void exceptionOfAResolverIsReportedAsAnEvent() {
        CmEvent.Failure failure = failureOf(() -> {
            throw new IllegalStateException("resolver");
        });
        assertThat(failure.status()).isEqualTo(-Errno.EIO.number());
        assertThat(failure.explanation()).contains("resolver");
    }
}
