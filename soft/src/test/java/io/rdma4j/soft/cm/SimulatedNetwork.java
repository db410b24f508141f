package io.rdma4j.soft.cm;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.PortSpace;
import io.rdma4j.cm.spi.CmEventSink;
import io.rdma4j.cm.spi.ProviderCmId;
import io.rdma4j.cm.spi.ProviderEvent;
import io.rdma4j.soft.device.AttackWarnings;
import io.rdma4j.soft.device.PeerReputation;
import io.rdma4j.soft.device.SoftDevices;
import io.rdma4j.soft.device.StackSettings;
import io.rdma4j.soft.host.StackClock;
import io.rdma4j.soft.options.SecurityOptions;
import io.rdma4j.transport.cm.CmDatagram;
import io.rdma4j.transport.cm.ConnectionObserver;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.DeviceChoice;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.PathMtu;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.wire.cm.CmAttribute;
import io.rdma4j.wire.cm.PrivateData;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Connection managers of several hosts on a simulated network with its own clock: hours pass in milliseconds. */
final class SimulatedNetwork {
    private static final long LATENCY_NANOS = 10_000;
    private static final int ATTRIBUTE_OFFSET = 16;
    private static final int MAD_BYTES = 256;

    /** A datagram in flight. */
    record Datagram(long atNanos, Gid source, Gid destination, PrivateData mad) {
        /** Returns whether it is a message of a kind. */
        boolean is(CmAttribute attribute) {
            byte[] bytes = mad.toByteArray();
            int id = bytes[ATTRIBUTE_OFFSET] << 8 | bytes[ATTRIBUTE_OFFSET + 1] & 0xff;
            return id == attribute.id();
        }
    }

    private final List<Host> hosts = new ArrayList<>();
    private final PriorityQueue<Datagram> wire = new PriorityQueue<>(Comparator.comparingLong(Datagram::atNanos));
    private final Random random = new Random(7);
    private long nowNanos = 1_000_000_000L;

    /** The datagrams that are lost. */
    Predicate<Datagram> loses = datagram -> false;

    /** The number of times that each datagram arrives. */
    int copies = 1;

    Host host(String address) {
        return host(address, PathMtu.MTU_1024);
    }

    Host host(String address, PathMtu mtu) {
        Host host = new Host(InetAddress.ofLiteral(address), mtu);
        hosts.add(host);
        return host;
    }

    long nowNanos() {
        return nowNanos;
    }

    /** Runs everything that happens within a time. */
    void run(Duration time) {
        long end = nowNanos + time.toNanos();
        while (true) {
            long next = end;
            for (Host host : hosts) {
                next = Math.min(next, host.deadlineNanos);
            }
            Datagram first = wire.peek();
            if (first != null && first.atNanos <= next) {
                nowNanos = Math.max(nowNanos, first.atNanos);
                deliver(wire.remove());
            } else {
                nowNanos = Math.max(nowNanos, next);
                if (!fire()) {
                    return;
                }
            }
        }
    }

    /** Delivers the datagrams in flight. */
    void settle() {
        run(Duration.ofMillis(1));
    }

    private boolean fire() {
        for (Host host : hosts) {
            if (host.deadlineNanos <= nowNanos) {
                host.deadlineNanos = Long.MAX_VALUE;
                host.service.onDeadline(nowNanos);
                return true;
            }
        }
        return false;
    }

    private void deliver(Datagram datagram) {
        for (Host host : hosts) {
            if (host.isUp && Gid.of(host.address).equals(datagram.destination)) {
                host.service.onMad(
                        nowNanos,
                        datagram.source.high(),
                        datagram.source.low(),
                        0,
                        MemorySegment.ofArray(datagram.mad.toByteArray()),
                        0,
                        datagram.mad.length(),
                        datagram.destination.high(),
                        datagram.destination.low());
            }
        }
    }

    /** A device that cannot be opened. */
    record NamedDevice(String name) implements Device {
        @Override
        public long guid() {
            return 1;
        }

        @Override
        public DeviceContext open() {
            throw new RdmaException("ibv_open_device", Errno.ENODEV, "a simulated device is not opened", "");
        }
    }

    /** One host with one address. */
    final class Host implements CmHost {
        final InetAddress address;
        final PathMtu mtu;
        final CmService service;
        final List<InetAddress> wildcardAddresses = new ArrayList<>();

        /** The device that has all its addresses. */
        NamedDevice device = new NamedDevice("sim0");

        /** The index of its addresses in the device's GID table. */
        int gidIndex = 1;

        /** The reason why no address can be attached, or null. */
        @Nullable
        RdmaException refusal;

        final List<String> services = new ArrayList<>();
        final List<String> groups = new ArrayList<>();
        boolean isUp = true;
        private final SoftDevices devices = new SoftDevices(StackSettings.ofProcess());
        private final long guid = random.nextLong();
        private long deadlineNanos = Long.MAX_VALUE;

        Host(InetAddress address, PathMtu mtu) {
            this.address = address;
            this.mtu = mtu;
            wildcardAddresses.add(address);
            service = new CmService(this);
        }

        /** Creates an identifier in the idle state. */
        Identifier identifier() {
            Identifier created = new Identifier();
            created.id = new SoftCmId(service, PortSpace.TCP, QueuePairType.RELIABLE_CONNECTION, created);
            return created;
        }

        /** Creates a listener on a port of the host's address. */
        Identifier listener(int port, int backlog) {
            Identifier listener = identifier();
            listener.id().bind(new InetSocketAddress(address, port));
            listener.id().listen(backlog);
            return listener;
        }

        @Override
        public boolean isVacant(InetAddress destination) {
            return false;
        }

        @Override
        public void lock() {}

        @Override
        public void unlock() {}

        @Override
        public StackClock clock() {
            return StackClock.SYSTEM;
        }

        @Override
        public long nowNanos() {
            return nowNanos;
        }

        @Override
        public void wakeAt(long newDeadlineNanos) {
            deadlineNanos = newDeadlineNanos;
        }

        @Override
        public void send(CmDatagram datagram) {
            Datagram copy = new Datagram(
                    nowNanos + LATENCY_NANOS,
                    new Gid(datagram.localHigh, datagram.localLow),
                    new Gid(datagram.remoteHigh, datagram.remoteLow),
                    PrivateData.read(datagram.mad, 0, MAD_BYTES));
            for (int i = 0; i < copies && isUp && !loses.test(copy); i++) {
                wire.add(copy);
            }
        }

        @Override
        public ConnectionObserver connectionWatch() {
            return ConnectionObserver.NONE;
        }

        @Override
        public long caGuid() {
            return guid;
        }

        @Override
        public int newCommunicationId() {
            return random.nextInt();
        }

        @Override
        public PeerReputation peerReputation() {
            return devices.peerReputation();
        }

        @Override
        public AttackWarnings warnings() {
            return devices.warnings();
        }

        @Override
        public SecurityOptions security() {
            return SecurityOptions.DEFAULT;
        }

        @Override
        public int random() {
            return random.nextInt();
        }

        @Override
        public InetAddress sourceFor(String operation, @Nullable InetAddress source, InetAddress destination) {
            return source == null ? address : source;
        }

        @Override
        public List<InetAddress> addresses(DeviceChoice choice) {
            return List.copyOf(wildcardAddresses);
        }

        @Override
        public @Nullable LocalEndpoint attach(InetAddress local) {
            if (refusal != null) {
                throw refusal;
            }
            return find(local);
        }

        @Override
        public @Nullable LocalEndpoint find(InetAddress local) {
            return wildcardAddresses.contains(local) ? new LocalEndpoint(local, device, gidIndex, mtu, 15) : null;
        }

        @Override
        public PortClaim claimPort(int portSpace, InetAddress local, boolean familyOnly, boolean reuse, int port) {
            return new PortClaim() {
                @Override
                public void listen() {}

                @Override
                public void allowReuse() {}

                @Override
                public void close() {}
            };
        }

        @Override
        public Claim joinGroup(LocalEndpoint at, Gid group) {
            String membership = group + " at " + at.address().getHostAddress();
            groups.add(membership);
            return () -> groups.remove(membership);
        }

        @Override
        public void registerService(InetAddress local, long serviceId) {
            services.add(local.getHostAddress() + " " + serviceId);
        }

        @Override
        public void unregisterService(InetAddress local, long serviceId) {
            services.remove(local.getHostAddress() + " " + serviceId);
        }
    }

    /** An identifier and its events. */
    static final class Identifier implements CmEventSink {
        private @Nullable ProviderCmId id;
        final ArrayDeque<ProviderEvent> events = new ArrayDeque<>();
        final ArrayDeque<Identifier> requests = new ArrayDeque<>();

        ProviderCmId id() {
            if (id == null) {
                throw new IllegalStateException("not made yet");
            }
            return id;
        }

        @Override
        public void onEvent(ProviderEvent event) {
            events.add(event);
        }

        @Override
        public CmEventSink onConnectRequest(ProviderCmId child, ProviderEvent event) {
            Identifier created = new Identifier();
            created.id = child;
            created.events.add(event);
            requests.add(created);
            return created;
        }

        /** Takes the next event, which must be of a type. */
        ProviderEvent take(CmEvent.Type type) {
            ProviderEvent event = events.poll();
            if (event == null || event.type() != type) {
                throw new AssertionError("wanted " + type + ", but there is " + event + ", then " + events);
            }
            return event;
        }
    }
}
