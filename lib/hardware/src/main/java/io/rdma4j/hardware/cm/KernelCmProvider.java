package io.rdma4j.hardware.cm;

import io.rdma4j.cm.host.RouteLookup;
import io.rdma4j.cm.spi.CmEventSink;
import io.rdma4j.cm.spi.CmProvider;
import io.rdma4j.cm.spi.ProviderCmId;
import io.rdma4j.hardware.device.HardwareDevice;
import io.rdma4j.hardware.device.HardwareDevices;
import io.rdma4j.hardware.system.DescriptorPoller;
import io.rdma4j.value.PortSpace;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.wait.WaitDriver;
import java.net.InetAddress;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Connection management by the kernel, for this host's RDMA devices. The provider opens the kernel's device file when
 * the first identifier is created, and keeps it open. If that fails, the next identifier tries again. Thread safe.
 */
public final class KernelCmProvider implements CmProvider {
    /** Higher than the preference of the software device. */
    private static final int PREFERENCE = 10;

    /** One for the process, since {@link java.util.ServiceLoader} may create several providers. */
    private static volatile @Nullable KernelCm started;

    /** The devices by their numbers. The kernel never gives a number to another device. */
    private static final Map<Integer, Device> DEVICES = new ConcurrentHashMap<>();

    /** Creates the provider; opens nothing. */
    public KernelCmProvider() {}

    @Override
    public String name() {
        return "hardware";
    }

    @Override
    public int preference() {
        return PREFERENCE;
    }

    @Override
    public boolean hasDevices() {
        return !HardwareDevices.usable().isEmpty();
    }

    @Override
    public List<Device> devices() {
        return List.copyOf(HardwareDevices.usable());
    }

    @Override
    public InetAddress sourceFor(String operation, @Nullable InetAddress source, InetAddress destination) {
        return RouteLookup.sourceFor(operation, source, destination);
    }

    @Override
    public boolean serves(InetAddress local) {
        return HardwareDevices.of(local).isPresent();
    }

    @Override
    public String refusal(InetAddress local) {
        return HardwareDevices.refusal(local);
    }

    @Override
    public @Nullable WaitDriver waitDriver() {
        return started == null ? null : DescriptorPoller.ofProcess();
    }

    @Override
    public ProviderCmId create(PortSpace portSpace, QueuePairType queuePairType, CmEventSink sink) {
        KernelCm running = started;
        return KernelCmId.create(
                running != null ? running : start(), KernelCmProvider::device, portSpace, queuePairType, sink);
    }

    private static Optional<Device> device(int deviceIndex, long nodeGuid) {
        Device known = deviceIndex == IdCommands.UNKNOWN_DEVICE ? null : DEVICES.get(deviceIndex);
        if (known != null) {
            return Optional.of(known);
        }
        Optional<HardwareDevice> found = HardwareDevices.of(deviceIndex, nodeGuid);
        found.ifPresent(device -> DEVICES.put(device.index(), device));
        return found.map(Function.identity());
    }

    private static KernelCm start() {
        synchronized (KernelCmProvider.class) {
            KernelCm running = started;
            if (running == null) {
                DeviceFile file = DeviceFile.open();
                running = new KernelCm(file);
                DescriptorPoller.ofProcess().add(file.descriptor(), running);
                started = running;
            }
            return running;
        }
    }
}
