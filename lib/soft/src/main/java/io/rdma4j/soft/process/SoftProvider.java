package io.rdma4j.soft.process;

import io.rdma4j.soft.warmup.PrivateStacks;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.spi.PrivateDevices;
import io.rdma4j.verbs.spi.VerbsProvider;
import java.net.InetAddress;
import java.util.List;
import java.util.Optional;

/** Offers a software RoCEv2 device for each network interface of this host. Thread safe. */
public final class SoftProvider implements VerbsProvider {
    /** Creates the provider; {@link java.util.ServiceLoader} calls this. */
    public SoftProvider() {}

    @Override
    public String name() {
        return "soft";
    }

    @Override
    public int preference() {
        return 0;
    }

    @Override
    public List<Device> devices() {
        return ProcessStack.stack().devices();
    }

    @Override
    public Optional<Device> deviceOf(InetAddress address) {
        return ProcessStack.stack().deviceOf(address);
    }

    @Override
    public Optional<PrivateDevices> privateDevices() {
        return Optional.of(new StackDevices(new PrivateStacks()));
    }

    private record StackDevices(PrivateStacks stacks) implements PrivateDevices {
        @Override
        public Device first() {
            return stacks.first().devices().getFirst();
        }

        @Override
        public Device second() {
            return stacks.second().devices().getFirst();
        }

        @Override
        public void close() {
            stacks.close();
        }
    }
}
