package io.rdma4j.conformance.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.DeviceAttributes;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import java.net.InetAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A missing feature of a device is found in its limits, or by a call that it does not support. */
class CapabilityTest {
    private static DeviceAttributes limits(int memoryWindows, int sharedReceiveQueues) {
        return DeviceAttributes.builder()
                .firmwareVersion("1")
                .maxMemoryWindows(memoryWindows)
                .maxSharedReceiveQueues(sharedReceiveQueues)
                .build();
    }

    private static void refuse(Errno errno) {
        throw new RdmaException("ibv_open_xrcd", errno, "the device cannot", "");
    }

    @Test
    void limitOfZeroIsALack() {
        assertThat(Capability.MEMORY_WINDOWS.reason(limits(0, 1))).contains("ibv_query_device: max_mw 0");
        assertThat(Capability.SHARED_RECEIVE_QUEUES.reason(limits(1, 0))).contains("ibv_query_device: max_srq 0");
        assertThat(Capability.MEMORY_WINDOWS.reason(limits(1, 0))).isEmpty();
        assertThat(Capability.SHARED_RECEIVE_QUEUES.reason(limits(0, 1))).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(
            value = Errno.class,
            names = {"EOPNOTSUPP", "ENOSYS"})
    void callThatIsNotSupportedIsALack(Errno errno) {
        assertThat(Capability.unsupported("ibv_open_xrcd", () -> refuse(errno))).contains("ibv_open_xrcd: " + errno);
        assertThat(Capability.unsupported("ibv_open_xrcd", () -> {})).isEmpty();
    }

    @Test
    void otherFailureOfACallIsNoLack() {
        assertThatThrownBy(() -> Capability.unsupported("ibv_open_xrcd", () -> refuse(Errno.ENOMEM)))
                .isInstanceOfSatisfying(
                        RdmaException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ENOMEM));
    }

    @Test
    void sentenceNamesTheDeviceTheCapabilityAndTheReason() {
        Capability windows = Capability.MEMORY_WINDOWS;
        assertThat(windows.sentence("mlx5_0", windows.reason(limits(0, 1))))
                .contains("mlx5_0 lacks memory windows (ibv_query_device: max_mw 0)");
        assertThat(windows.sentence("mlx5_0", windows.reason(limits(1, 1)))).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(Capability.class)
    void softwareDeviceLacksNothing(Capability capability) {
        Device software = Device.of(InetAddress.ofLiteral("127.0.0.1")).orElseThrow();
        try (DeviceContext context = software.open()) {
            assertThat(capability.lackOf(context)).isEmpty();
        }
    }
}
