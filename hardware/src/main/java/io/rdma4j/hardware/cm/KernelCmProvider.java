package io.rdma4j.hardware.cm;

import io.rdma4j.cm.PortSpace;
import io.rdma4j.cm.host.RouteLookup;
import io.rdma4j.cm.spi.CmEventSink;
import io.rdma4j.cm.spi.CmProvider;
import io.rdma4j.cm.spi.ProviderCmId;
import io.rdma4j.hardware.device.HardwareDevices;
import io.rdma4j.hardware.system.DescriptorPoller;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.wait.WaitDriver;
import java.net.InetAddress;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Connection management of the machine's own RDMA devices, by the kernel. It opens the kernel's device file when the first
 * identifier is created, and keeps it open; if that fails, the next identifier tries again. Thread safe.
 */
public final class KernelCmProvider implements CmProvider {
    /** More than that of the software device. */
    private static final int PREFERENCE = 10;

    /** One for the process, since {@link java.util.ServiceLoader} may create several providers. */
    private static volatile @Nullable KernelCm started;

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
        return DeviceFile.isPresent() && !HardwareDevices.list().isEmpty();
    }

    @Override
    public List<Device> devices() {
        return DeviceFile.isPresent() ? List.copyOf(HardwareDevices.list()) : List.of();
    }

    @Override
    public InetAddress sourceFor(String operation, @Nullable InetAddress source, InetAddress destination) {
        return RouteLookup.sourceFor(operation, source, destination);
    }

    @Override
    public boolean serves(InetAddress local) {
        return DeviceFile.isPresent() && HardwareDevices.of(local).isPresent();
    }

    @Override
    public @Nullable WaitDriver waitDriver() {
        return started == null ? null : DescriptorPoller.ofProcess();
    }

    @Override
    public ProviderCmId create(PortSpace portSpace, QueuePairType queuePairType, CmEventSink sink) {
        KernelCm running = started;
        return KernelCmId.create(
                running != null ? running : start(), HardwareDevices::of, portSpace, queuePairType, sink);
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
