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

/** Tests devices that are removed and added again under the same name. */
class OpenDevicesTest {
    private final OpenDevices devices = new OpenDevices();
    private final List<String> closed = new ArrayList<>();

    /** A device whose context records its close. */
    private final class NamedDevice implements Device {
        private final String name;
        private final String label;
        private boolean hasRegisteredMemory;

        NamedDevice(String name, String label) {
            this.name = name;
            this.label = label;
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
            return proxy(DeviceContext.class, (self, method, arguments) -> switch (method.getName()) {
                case "device" -> this;
                case "createProtectionDomain" -> domain();
                case "close" -> {
                    closed.add(label);
                    yield null;
                }
                default -> throw new UnsupportedOperationException(method.getName());
            });
        }

        private ProtectionDomain domain() {
            return proxy(ProtectionDomain.class, (self, method, arguments) -> {
                if (hasRegisteredMemory) {
                    throw new RdmaException("ibv_dealloc_pd", Errno.EBUSY, "memory is registered", "");
                }
                return null;
            });
        }
    }

    private static <T> T proxy(Class<T> type, InvocationHandler calls) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, calls));
    }

    private final NamedDevice removed = new NamedDevice("a" + hashCode(), "removed");
    private final NamedDevice returned = new NamedDevice(removed.name(), "returned");

    @Test
    void unusedReplacedDeviceIsClosed() {
        devices.use(removed).release();
        assertThat(closed).isEmpty();
        devices.use(returned).release();
        assertThat(closed).containsExactly("removed");
    }

    @Test
    void replacedDeviceIsClosedWhenTheLastIdentifierReleasesIt() {
        OpenDevices.Use first = devices.use(removed);
        OpenDevices.Use second = devices.use(removed);
        first.defaultDomain();
        devices.use(returned);
        first.release();
        assertThat(closed).isEmpty();
        second.release();
        assertThat(closed).containsExactly("removed");
    }

    @Test
    void replacedDeviceStaysOpenIfTheApplicationListedIt() {
        devices.listed(removed);
        devices.use(returned).release();
        assertThat(closed).isEmpty();
    }

    @Test
    void replacedDeviceStaysOpenWhileTheApplicationHasMemoryRegistered() {
        OpenDevices.Use use = devices.use(removed);
        use.defaultDomain();
        removed.hasRegisteredMemory = true;
        devices.use(returned).release();
        use.release();
        assertThat(closed).isEmpty();
    }
}
