package io.rdma4j.soft;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.concurrent.ThreadLocalRandom;

/** Loopback addresses that no other test on this machine is likely to use at the same time. */
public final class TestAddresses {
    private TestAddresses() {}

    /** Returns a random address of 127/8. */
    public static InetAddress loopback() {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        byte[] bytes = {127, (byte) random.nextInt(1, 255), (byte) random.nextInt(256), (byte) random.nextInt(1, 255)};
        try {
            return InetAddress.getByAddress(bytes);
        } catch (UnknownHostException e) {
            throw new AssertionError("four bytes are an address", e);
        }
    }

    /** Returns a random multicast group of 239/8. */
    public static InetAddress group() {
        byte[] bytes = loopback().getAddress();
        bytes[0] = (byte) 239;
        try {
            return InetAddress.getByAddress(bytes);
        } catch (UnknownHostException e) {
            throw new AssertionError("four bytes are an address", e);
        }
    }
}
