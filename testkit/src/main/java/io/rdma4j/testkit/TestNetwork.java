package io.rdma4j.testkit;

import io.rdma4j.link.MemoryNetwork;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;

/**
 * A network in memory with hosts that have a software RDMA device each, for tests. Hosts reach each other as on one network
 * segment, without sockets and without root. Thread safe.
 *
 * {@snippet :
 * try (TestNetwork network = new TestNetwork()) {
 *     TestHost server = network.addHost("10.0.0.1");
 *     TestHost client = network.addHost("10.0.0.2", new HostOptions().faults("loss=2%,seed=7"));
 *     CmId listener = server.connectionManager().createId(PortSpace.TCP, null);
 *     listener.bindAddress(new InetSocketAddress("10.0.0.1", 7471));
 *     // ...
 * }
 * }
 */
public final class TestNetwork implements AutoCloseable {
    /** The largest IP packet unless stated otherwise, in bytes; it lets a packet carry 4096 bytes of payload. */
    public static final int DEFAULT_MTU_BYTES = 4500;

    private final int mtuBytes;
    private final MemoryNetwork network;
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
        if (mtuBytes < 576) {
            throw new IllegalArgumentException("the MTU is " + mtuBytes + " bytes, must be at least 576");
        }
        this.mtuBytes = mtuBytes;
        network = new MemoryNetwork(mtuBytes);
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
        TestHost host =
                new TestHost(network, "host" + (hosts.size() + 1), InetAddress.ofLiteral(address), mtuBytes, options);
        hosts.add(host);
        return host;
    }

    /**
     * Closes the stacks of all hosts.
     *
     * @throws IllegalStateException if a test has left contexts or identifiers open; the message names them, and all is closed
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
