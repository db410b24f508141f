package io.rdma4j.soft.cm;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.spi.CmEventSink;
import io.rdma4j.cm.spi.ProviderCmId;
import io.rdma4j.link.Link;
import io.rdma4j.link.SendBurst;
import io.rdma4j.link.decorator.LinkOptions;
import io.rdma4j.link.memory.MemoryNetwork;
import io.rdma4j.sharing.HostPort;
import io.rdma4j.sharing.RunDirectory;
import io.rdma4j.soft.device.InterfaceScan;
import io.rdma4j.soft.device.SoftDevice;
import io.rdma4j.soft.device.SoftDevices;
import io.rdma4j.soft.device.StackSettings;
import io.rdma4j.soft.engine.Engine;
import io.rdma4j.soft.host.StackClock;
import io.rdma4j.soft.host.StackDriver;
import io.rdma4j.soft.options.SecurityOptions;
import io.rdma4j.value.Gid;
import io.rdma4j.value.PathMtu;
import io.rdma4j.value.PortSpace;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.cm.CmAttribute;
import io.rdma4j.wire.cm.CmMad;
import io.rdma4j.wire.cm.GsiPacket;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.Random;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Stacks of several hosts on a network in memory with its own clock: hours pass in milliseconds. Used by one thread. */
final class SimulatedNetwork implements StackClock, StackDriver, AutoCloseable {
    private static final int NETWORK_MTU_BYTES = 5000;

    /** The time that a duty cycle of all engines takes. */
    private static final long CYCLE_NANOS = 1_000;

    private final MemoryNetwork memory = new MemoryNetwork(NETWORK_MTU_BYTES);
    private final List<Host> hosts = new ArrayList<>();
    private final Random random = new Random(7);
    private final Queue<Runnable> tasks = new ArrayDeque<>();
    private long nowNanos = 1_000_000_000L;

    /** The messages that are lost. */
    Predicate<CmAttribute> loses = message -> false;

    /** The number of times that each message arrives. */
    int copies = 1;

    Host host(String address) {
        return host(address, PathMtu.MTU_1024);
    }

    Host host(String address, PathMtu mtu) {
        Host host = new Host(InetAddress.ofLiteral(address), mtu);
        hosts.add(host);
        return host;
    }

    @Override
    public long nanoTime() {
        return nowNanos;
    }

    @Override
    public long epochNanos() {
        return nowNanos;
    }

    /** Runs everything that happens within a time. */
    void run(Duration time) {
        long end = nowNanos + time.toNanos();
        while (nowNanos < end) {
            step(end);
        }
    }

    /** Delivers the messages in flight. */
    void settle() {
        run(Duration.ofMillis(1));
    }

    @Override
    public void execute(Runnable task) {
        tasks.add(task);
    }

    @Override
    public void step(long limitNanos) {
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
            task.run();
        }
        boolean received = false;
        for (Host host : hosts) {
            received |= host.engine.poll();
        }
        long next = received || memory.hasInput() ? nowNanos : limitNanos;
        for (Host host : hosts) {
            next = Math.min(next, host.engine.nextActivityNanos());
        }
        nowNanos = Math.max(nowNanos + CYCLE_NANOS, next);
    }

    private int copiesOf(Host from, SendBurst burst) {
        Gid destination = new Gid(burst.destinationHigh(), burst.destinationLow());
        boolean isConnected = from.isUp
                && hosts.stream()
                        .filter(host -> Gid.of(host.address).equals(destination))
                        .allMatch(host -> host.isUp);
        CmAttribute message =
                Objects.requireNonNull(CmMad.attribute(burst.segment(), burst.offset(0) + GsiPacket.HEADER_LENGTH));
        return isConnected && !loses.test(message) ? copies : 0;
    }

    /** Closes the stacks of all hosts. */
    @Override
    public void close() {
        hosts.forEach(host -> host.devices.close());
        hosts.clear();
    }

    /** One host with one interface, {@code sim0}, and one stack. */
    final class Host {
        final InetAddress address;
        final SimulatedInterfaces interfaces;
        final SoftDevices devices;
        final Engine engine;
        final CmService service;
        boolean isUp = true;

        /** True if the system refuses sockets at the host's address. */
        boolean refuses;

        Host(InetAddress address, PathMtu mtu) {
            this.address = address;
            RunDirectory directory = RunDirectory.ofVirtualHost(address.getHostAddress());
            interfaces = new SimulatedInterfaces(address, mtu.bytes());
            devices = new SoftDevices(new StackSettings(
                    () -> LinkOptions.NONE,
                    () -> SecurityOptions.DEFAULT,
                    () -> new SimulatedLinks(memory.newLinkSet(), this::isRefused, burst -> copiesOf(this, burst)),
                    () -> directory,
                    interfaces,
                    SimulatedNetwork.this,
                    SimulatedNetwork.this,
                    random));
            service = CmService.start(devices);
            engine = devices.engine();
        }

        /** Binds UDP port 4791 of the host's address for another program, which shares it with no stack. */
        Link bindForAnotherProgram() throws IOException {
            return memory.newLinkSet().openUdp(address, Frame.UDP_PORT);
        }

        private boolean isRefused(InetAddress local) {
            return refuses && local.equals(address);
        }

        /** Creates an identifier in the idle state. */
        Identifier identifier() {
            Identifier created = new Identifier();
            created.id = service.create(PortSpace.TCP, QueuePairType.RELIABLE_CONNECTION, created);
            return created;
        }

        /** Creates a listener on a port of the host's address. */
        Identifier listener(int port, int backlog) {
            Identifier listener = identifier();
            listener.id().bind(new InetSocketAddress(address, port));
            listener.id().listen(backlog);
            return listener;
        }

        /** Returns the current device of the host's address. */
        SoftDevice device() {
            return Objects.requireNonNull(devices.of(address));
        }

        /** Finds the changes of the interfaces. */
        void scan() {
            InterfaceScan.run(devices);
        }

        /** Returns whether requests at an address for a port go to this host's stack. */
        boolean serves(String local, int port) {
            long serviceId = PortSpace.TCP.serviceId(port);
            return engine.findPort(InetAddress.ofLiteral(local)) instanceof HostPort at && at.serves(serviceId);
        }
    }

    /** An identifier and its events. */
    static final class Identifier implements CmEventSink {
        private @Nullable ProviderCmId id;
        private @Nullable Identifier listener;
        final ArrayDeque<CmEvent> events = new ArrayDeque<>();
        final ArrayDeque<Identifier> requests = new ArrayDeque<>();

        ProviderCmId id() {
            if (id == null) {
                throw new IllegalStateException("not made yet");
            }
            return id;
        }

        @Override
        public void onEvent(CmEvent event) {
            events.add(event);
        }

        @Override
        public CmEventSink onConnectRequest(ProviderCmId child, CmEvent.ConnectRequest event) {
            Identifier created = new Identifier();
            created.id = child;
            created.listener = this;
            created.events.add(event);
            requests.add(created);
            return created;
        }

        @Override
        public boolean onRequestDiscarded() {
            return listener != null && listener.requests.remove(this);
        }

        /** Takes the next event, which must be of a type. */
        CmEvent take(CmEvent.Type type) {
            CmEvent event = events.poll();
            if (event == null || event.type() != type) {
                throw new AssertionError("wanted " + type + ", but there is " + event + ", then " + events);
            }
            return event;
        }
    }
}
