package io.rdma4j.testkit;

import io.rdma4j.link.memory.MemoryNetwork;
import io.rdma4j.soft.SoftStack;
import io.rdma4j.wire.Frame;
import java.net.InetAddress;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * A network in memory with hosts that have a software RDMA device each, for tests. Hosts reach each other as on one network
 * segment, without sockets and without root. Thread safe.
 *
 * {@snippet :
 * try (TestNetwork network = new TestNetwork()) {
 *     TestHost server = network.addHost("10.0.0.1");
 *     TestHost client = network.addHost("10.0.0.2", new HostOptions().faults("loss=2%,seed=7"));
 *     CmId listener = server.connectionManager().createId(PortSpace.TCP);
 *     listener.bindAddress(new InetSocketAddress("10.0.0.1", 7471));
 *     // ...
 * }
 * }
 */
public final class TestNetwork implements AutoCloseable {
    /** The default size of the largest IP packet, in bytes, in which 4096 bytes of payload fit. */
    public static final int DEFAULT_MTU_BYTES = 4500;

    private final int mtuBytes;
    private final MemoryNetwork network;
    private final @Nullable VirtualTime time;
    private final RandomGenerator random;
    private final List<TestHost> hosts = new ArrayList<>();

    /** Creates a network without hosts whose packets may have {@value #DEFAULT_MTU_BYTES} bytes. */
    public TestNetwork() {
        this(DEFAULT_MTU_BYTES);
    }

    /**
     * Creates a network without hosts.
     *
     * @param mtuBytes the largest IP packet, in bytes, at least 576
     */
    public TestNetwork(int mtuBytes) {
        this(mtuBytes, null);
    }

    private TestNetwork(int mtuBytes, @Nullable Long seed) {
        if (mtuBytes < 576) {
            throw new IllegalArgumentException("the MTU is " + mtuBytes + " bytes, must be at least 576");
        }
        this.mtuBytes = mtuBytes;
        network = new MemoryNetwork(mtuBytes);
        time = seed == null ? null : new VirtualTime(network, this::stacks);
        random = seed == null ? new SecureRandom() : new Random(seed);
    }

    /**
     * Creates a network without hosts in virtual time. Its stacks start no threads, and their timers use the network's clock,
     * which advances only while a thread waits for an object of a stack or calls {@link #step}. So a test of a timeout of
     * minutes takes milliseconds, and the same program with the same seeds sends the same packets at the same times.
     *
     * <p>The network, its hosts and all their objects may be used by one thread only.
     *
     * @param seed the seed of all keys, identifiers and sequence numbers of the stacks
     */
    public static TestNetwork inVirtualTime(long seed) {
        return new TestNetwork(DEFAULT_MTU_BYTES, seed);
    }

    /**
     * Lets virtual time pass: runs a duty cycle of each stack, or advances the clock to the next timer if all are idle.
     *
     * @throws IllegalStateException if the network is in real time, or if no stack has a timer, so that no event can follow
     */
    public void step() {
        virtualTime().step(Long.MAX_VALUE);
    }

    /**
     * Returns the time that has passed in virtual time, in nanoseconds.
     *
     * @throws IllegalStateException if the network is in real time
     */
    public long nowNanos() {
        return virtualTime().nanoTime();
    }

    private VirtualTime virtualTime() {
        VirtualTime virtual = time;
        if (virtual == null) {
            throw new IllegalStateException("the network is in real time");
        }
        return virtual;
    }

    /** Calls an observer with every frame that is sent on the network; the frame is valid during the call. */
    void observe(Consumer<Frame> observer) {
        network.observe(observer);
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
     * @param options its capture, faults and security
     */
    public synchronized TestHost addHost(String address, HostOptions options) {
        TestHost host = new TestHost(
                network, "host" + (hosts.size() + 1), InetAddress.ofLiteral(address), mtuBytes, options, time, random);
        hosts.add(host);
        return host;
    }

    /**
     * Closes the stacks of all hosts.
     *
     * @throws IllegalStateException if contexts or identifiers are still open; the message names them, and they are closed
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
