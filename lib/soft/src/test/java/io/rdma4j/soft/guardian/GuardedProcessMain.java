package io.rdma4j.soft.guardian;

import io.rdma4j.cm.CmId;
import io.rdma4j.value.PortSpace;
import io.rdma4j.verbs.QueuePairInitAttributes;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;

/**
 * A process that connects to a listener from an address, and ends in the way that the first line of its input
 * specifies.
 */
public final class GuardedProcessMain {
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private GuardedProcessMain() {}

    /** Runs the process; the arguments are its address, and address and port of the listener. */
    public static void main(String[] arguments) throws IOException {
        CmId id = CmId.create(PortSpace.TCP);
        id.resolveAddress(
                new InetSocketAddress(InetAddress.getByName(arguments[0]), 0),
                new InetSocketAddress(InetAddress.getByName(arguments[1]), Integer.parseInt(arguments[2])),
                PATIENCE);
        id.resolveRoute(PATIENCE);
        var _ = id.createQueuePair(QueuePairInitAttributes.defaults());
        id.connect();
        System.out.println("connected");
        int way = System.in.read();
        if (way == 'h') {
            Runtime.getRuntime().halt(1);
        } else if (way == 'c') {
            id.disconnect();
            System.out.println("closed");
        }
        while (System.in.read() >= 0) {
            // It is killed.
        }
    }
}
