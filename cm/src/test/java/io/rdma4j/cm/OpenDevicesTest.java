package io.rdma4j.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.RdmaException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Devices that go, and come back under their names. */
class OpenDevicesTest {
    private final OpenDevices devices = new OpenDevices();
    private final List<String> closed = new ArrayList<>();

    /** A device whose context notes that it is closed. */
    private final class NamedDevice implements Device {
        private final String name;
        private final String mark;
        private boolean holdsMemory;

        NamedDevice(String name, String mark) {
            this.name = name;
            this.mark = mark;
        }

        @Override
        public String name() {
            return name;
        }

        @Override
        public long guid() {
            return 1;
        }

        @Override
        public DeviceContext open() {
            return made(DeviceContext.class, (self, method, arguments) -> switch (method.getName()) {
                case "device" -> this;
                case "createProtectionDomain" -> domain();
                case "close" -> {
                    closed.add(mark);
                    yield null;
                }
                default -> throw new UnsupportedOperationException(method.getName());
            });
        }

        private ProtectionDomain domain() {
            return made(ProtectionDomain.class, (self, method, arguments) -> {
                if (holdsMemory) {
                    throw new RdmaException("ibv_dealloc_pd", Errno.EBUSY, "memory is registered", "");
                }
                return null;
            });
        }
    }

    private static <T> T made(Class<T> type, InvocationHandler calls) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, calls));
    }

    private final NamedDevice gone = new NamedDevice("a" + hashCode(), "gone");
    private final NamedDevice returned = new NamedDevice(gone.name(), "returned");

    @Test
    void aReplacedDeviceThatNobodyUsesIsClosed() {
        devices.use(gone).release();
        assertThat(closed).isEmpty();
        devices.use(returned).release();
        assertThat(closed).containsExactly("gone");
    }

    @Test
    void aReplacedDeviceIsClosedWhenTheLastIdentifierLeavesIt() {
        OpenDevices.Use first = devices.use(gone);
        OpenDevices.Use second = devices.use(gone);
        first.defaultDomain();
        devices.use(returned);
        first.release();
        assertThat(closed).isEmpty();
        second.release();
        assertThat(closed).containsExactly("gone");
    }

    @Test
    void aReplacedDeviceThatWasListedIsTheApplications() {
        devices.listed(gone);
        devices.use(returned).release();
        assertThat(closed).isEmpty();
    }

    @Test
    void aReplacedDeviceWithMemoryOfTheApplicationStaysOpen() {
        OpenDevices.Use use = devices.use(gone);
        use.defaultDomain();
        gone.holdsMemory = true;
        devices.use(returned).release();
        use.release();
        assertThat(closed).isEmpty();
    }
}
