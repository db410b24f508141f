package io.rdma4j.testkit;

import io.rdma4j.link.decorator.FaultSpec;
import io.rdma4j.link.memory.MemoryNetwork;
import io.rdma4j.link.memory.NetworkConditions;
import io.rdma4j.soft.SoftStack;
import io.rdma4j.soft.host.ObjectObserver;
import io.rdma4j.soft.host.StackClock;
import io.rdma4j.wire.Frame;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * A network in memory for tests. Each of its hosts has a software RDMA device. Hosts reach each other like hosts on one
 * network segment, without sockets and without root. Thread safe.
 *
 * {@snippet :
 * try (TestNetwork network = new TestNetwork()) {
 *     TestHost server = network.addHost("10.0.0.1");
 *     TestHost client = network.addHost("10.0.0.2", new HostOptions().withFaults("loss=2%,seed=7"));
 *     CmId listener = server.connectionManager().createId(PortSpace.TCP);
 *     listener.bindAddress(new InetSocketAddress("10.0.0.1", 7471));
 *     // ...
 * }
 * }
 */
public final class TestNetwork implements AutoCloseable {
    /** The default size of the memory for packets, in bytes. */
    public static final long DEFAULT_RECORDING_BYTES = 16L << 20;

    /** The default maximum size of an IP packet in bytes, which is sufficient for 4096 bytes of payload. */
    public static final int DEFAULT_MTU_BYTES = 4500;

    private final int mtuBytes;
    private final MemoryNetwork network;
    private final NetworkConditions conditions;
    private final @Nullable VirtualClock clock;
    private final @Nullable PacketRecording recording;
    private final @Nullable ObjectTracker objects;
    private final RandomGenerator random;
    private final long seed;
    private final List<TestHost> hosts = new ArrayList<>();

    /** Creates a network without hosts in real time, with packets of up to {@value #DEFAULT_MTU_BYTES} bytes. */
    public TestNetwork() {
        this(builder());
    }

    private TestNetwork(Builder builder) {
        mtuBytes = builder.mtuBytes;
        Long named = builder.seed;
        seed = named == null ? new SecureRandom().nextLong() : named;
        random = named == null ? new SecureRandom() : new Random(seed);
        conditions = new NetworkConditions(this::nanoTime);
        network = new MemoryNetwork(mtuBytes, conditions);
        clock = builder.isVirtual ? new VirtualClock(network, this::stacks) : null;
        objects = builder.tracesObjects ? new ObjectTracker() : null;
        recording = builder.recordedBytes == 0 ? null : record(builder.recordedBytes);
        conditions(builder.conditions);
    }

    private PacketRecording record(long bytes) {
        StackClock time = clock == null ? StackClock.SYSTEM : clock;
        PacketRecording created = new PacketRecording(bytes, time::nanoTime, time::epochNanos);
        network.observe(created::onSent);
        conditions.observeDropped(created::onDropped);
        return created;
    }

    /**
     * Creates a network without hosts in virtual time. Its stacks start no threads, and their timers use the network's
     * clock, which advances only while a thread waits for an object of a stack or calls a method of {@link #time}. A
     * test of a timeout of minutes therefore takes milliseconds, and the same program with the same seeds sends the
     * same packets at the same times.
     *
     * <p>Only one thread may use the network, its hosts and all their objects.
     *
     * @param seed the seed of all keys, identifiers and sequence numbers of the stacks
     */
    public static TestNetwork inVirtualTime(long seed) {
        return builder().virtualTime().seed(seed).build();
    }

    /** Returns a builder of a network in real time, without faults, recording and traces. */
    public static Builder builder() {
        return new Builder();
    }

    /** Builds a network. Not thread safe. */
    public static final class Builder {
        private static final int MIN_MTU_BYTES = 576;

        private int mtuBytes = DEFAULT_MTU_BYTES;
        private @Nullable Long seed;
        private String conditions = "";
        private boolean isVirtual;
        private boolean tracesObjects;
        private long recordedBytes;

        private Builder() {}

        /**
         * Sets the maximum size of an IP packet.
         *
         * @param bytes at least 576; {@value TestNetwork#DEFAULT_MTU_BYTES} by default
         * @throws IllegalArgumentException if it is less
         */
        public Builder mtuBytes(int bytes) {
            if (bytes < MIN_MTU_BYTES) {
                throw new IllegalArgumentException("the MTU is " + bytes + " bytes, must be at least " + MIN_MTU_BYTES);
            }
            mtuBytes = bytes;
            return this;
        }

        /**
         * Sets the seed of the faults of the network, and of all keys, identifiers and sequence numbers of the stacks.
         */
        public Builder seed(long value) {
            seed = value;
            return this;
        }

        /** Advances time only while a thread waits; see {@link TestNetwork#inVirtualTime}. */
        public Builder virtualTime() {
            isVirtual = true;
            return this;
        }

        /** Sets the initial conditions of the network; see {@link TestNetwork#conditions}. */
        public Builder conditions(String specification) {
            conditions = specification;
            return this;
        }

        /**
         * Keeps the last packets in memory; see {@link TestNetwork#recording}.
         *
         * @param bytes the size of the memory, such as {@link #DEFAULT_RECORDING_BYTES}
         * @throws IllegalArgumentException if it is not positive
         */
        public Builder recordPackets(long bytes) {
            if (bytes <= 0) {
                throw new IllegalArgumentException("a recording of " + bytes + " bytes is not possible");
            }
            recordedBytes = bytes;
            return this;
        }

        /** Records where each object of a stack was created; see {@link TestNetwork#openObjects}. */
        public Builder traceObjects() {
            tracesObjects = true;
            return this;
        }

        /**
         * Returns a new network without hosts.
         *
         * @throws IllegalArgumentException if the conditions are malformed
         */
        public TestNetwork build() {
            return new TestNetwork(this);
        }
    }

    /**
     * Changes the conditions for subsequent packets. Each packet is lost, duplicated, reordered, corrupted or delayed
     * once, independently of the number of hosts; a rate applies to each host, in both directions.
     *
     * @param specification such as {@code loss=5%,delay=1ms,rate=10Gbit}; empty for none. The format is that of the
     *     tools' option {@code --fault}; a seed has no effect, since the network has a seed
     * @throws IllegalArgumentException if the specification is malformed
     */
    public void conditions(String specification) {
        FaultSpec faults = specification.isEmpty() ? FaultSpec.NONE : FaultSpec.parse(specification);
        conditions.change(faults.withSeed(seed));
    }

    /** Returns the seed of the network. */
    public long seed() {
        return seed;
    }

    /** Returns whether the network is in virtual time. */
    public boolean isInVirtualTime() {
        return clock != null;
    }

    /**
     * Returns the time of the network.
     *
     * @throws IllegalStateException if the network is in real time
     */
    public VirtualTime time() {
        VirtualClock virtual = clock;
        if (virtual == null) {
            throw new IllegalStateException("the network is in real time: create it with virtual time");
        }
        return new VirtualTime(virtual);
    }

    private long nanoTime() {
        VirtualClock virtual = clock;
        return virtual == null ? StackClock.SYSTEM.nanoTime() : virtual.nanoTime();
    }

    private PacketRecording recording() {
        PacketRecording known = recording;
        if (known == null) {
            throw new IllegalStateException("the network does not record packets: create it with recordPackets");
        }
        return known;
    }

    /**
     * Returns the number of packets that were sent.
     *
     * @throws IllegalStateException if the network does not record packets
     */
    public long packetsSent() {
        return recording().packets();
    }

    /**
     * Returns the number of the latest packets that are still in memory, which {@link #writeCapture} writes.
     *
     * @throws IllegalStateException if the network does not record packets
     */
    public long packetsInMemory() {
        return recording().packetsInMemory();
    }

    /**
     * Returns the last packets as text, a line for each sent packet, and a second line if the network dropped it: the
     * time in seconds, the addresses, and the contents, in the format of the tools' option {@code --trace}.
     *
     * @param count maximum number of lines
     * @throws IllegalStateException if the network does not record packets
     */
    public List<String> lastPackets(int count) {
        return recording().lastLines(count);
    }

    /**
     * Writes the packets in memory to a capture for Wireshark, in pcapng format. Replaces the file.
     *
     * @throws IOException if the file cannot be written
     * @throws IllegalStateException if the network does not record packets
     */
    public void writeCapture(Path file) throws IOException {
        recording().writeCapture(file);
    }

    /**
     * Returns the objects that the program has not closed, in the order of their creation: identifiers, contexts and
     * everything that was created in them.
     *
     * @throws IllegalStateException if the network does not trace objects
     */
    public List<OpenObject> openObjects() {
        ObjectTracker tracker = objects;
        if (tracker == null) {
            throw new IllegalStateException("the network does not trace objects: create it with traceObjects");
        }
        Set<AutoCloseable> kept = Collections.newSetFromMap(new IdentityHashMap<>());
        stacks().forEach(stack -> kept.addAll(stack.connectionManager().keptObjects()));
        return tracker.openObjects(kept);
    }

    /** Calls an observer with every frame that is sent on the network; the frame is valid during the call. */
    void observe(Consumer<Frame> observer) {
        network.observe(observer);
    }

    /** Returns the hosts in the order in which they were added. */
    public synchronized List<TestHost> hosts() {
        return List.copyOf(hosts);
    }

    private synchronized List<SoftStack> stacks() {
        return hosts.stream().flatMap(host -> host.stacks().stream()).toList();
    }

    /**
     * Adds a host.
     *
     * @param address the IPv4 or IPv6 address of its only network interface
     */
    public TestHost addHost(String address) {
        return addHost(address, new HostOptions());
    }

    /**
     * Adds a host with options.
     *
     * @param address the IPv4 or IPv6 address of its only network interface
     * @param options its name, capture, faults and security
     */
    public synchronized TestHost addHost(String address, HostOptions options) {
        String name = options.name();
        TestHost host = new TestHost(
                network,
                name == null ? "host" + (hosts.size() + 1) : name,
                InetAddress.ofLiteral(address),
                mtuBytes,
                options,
                clock,
                random,
                objects == null ? ObjectObserver.NONE : objects);
        hosts.add(host);
        return host;
    }

    /**
     * Closes the stacks of all hosts.
     *
     * @throws IllegalStateException if contexts or identifiers are still open; the message names them, and they are
     *     closed
     */
    @Override
    public synchronized void close() {
        List<String> open = new ArrayList<>();
        for (TestHost host : hosts) {
            open.addAll(host.closeStacks());
        }
        hosts.clear();
        if (!open.isEmpty()) {
            throw new IllegalStateException("left open: " + open);
        }
    }
}
