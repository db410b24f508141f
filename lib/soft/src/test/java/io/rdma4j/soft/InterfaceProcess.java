package io.rdma4j.soft;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.fixture.TestEndpoint;
import io.rdma4j.value.PortSpace;
import io.rdma4j.verbs.AsyncEvent;
import io.rdma4j.verbs.RdmaException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A process in its own network namespace, in which it creates an interface {@code v0}.
 *
 * <p>The process has a device on the interface and an identifier bound to it. Each line of its input is a command to
 * run. It replies {@code = } and the events that follow; the first word of the line is their number.
 */
public final class InterfaceProcess {
    private static final String ADDRESS = "192.0.2.2";

    private InterfaceProcess() {}

    /** Runs the process. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        if (run("ip link set lo up") != 0
                || run("ip link add v0 type veth peer name v1") != 0
                || run("ip addr add " + ADDRESS + "/24 dev v0") != 0
                || run("ip link set v0 up") != 0
                || run("ip link set v1 up") != 0) {
            System.out.println("= no interface");
            return;
        }
        Thread.sleep(2500); // until the link-local address is assigned
        InetAddress address = InetAddress.getByName(ADDRESS);
        TestEndpoint endpoint = new TestEndpoint(address);
        TestEndpoint.toInit(endpoint.queuePair);
        endpoint.postReceive(1);
        EventChannel channel = EventChannel.open();
        CmId id = channel.createId(PortSpace.TCP);
        id.bindAddress(new InetSocketAddress(address, 7000));
        System.out.println("= ready");
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String[] words = line.split(" ", 2);
            int wanted = Integer.parseInt(words[0]);
            if (run(words[1]) != 0) {
                System.out.println("= failed");
                continue;
            }
            System.out.println("= " + String.join(" ", events(endpoint, channel, wanted)));
            if (words[1].startsWith("ip link del")) {
                System.out.println("= " + aftermath(endpoint, id));
            }
        }
    }

    private static List<String> events(TestEndpoint endpoint, EventChannel channel, int wanted)
            throws InterruptedException {
        List<String> seen = new ArrayList<>();
        long giveUp = System.nanoTime() + 10_000_000_000L;
        while (seen.size() < wanted && System.nanoTime() - giveUp < 0) {
            AsyncEvent event = endpoint.context.awaitAsyncEvent(Duration.ofMillis(50));
            if (event != null) {
                seen.add(event.type() + (event.source().equals(endpoint.context) ? "" : "?"));
            }
            try (CmEvent of = channel.await(Duration.ofMillis(50))) {
                if (of != null) {
                    seen.add(of.type().toString());
                }
            }
        }
        seen.sort(null);
        return seen;
    }

    /** Uses the objects of a device that was removed. */
    private static String aftermath(TestEndpoint endpoint, CmId id) {
        String flushed = endpoint.completion().status().toString();
        String refused;
        try {
            id.listen(1);
            refused = "none";
        } catch (RdmaException e) {
            refused = e.errno().toString();
        }
        id.close();
        endpoint.close();
        return flushed + " " + refused;
    }

    private static int run(String command) throws IOException, InterruptedException {
        return new ProcessBuilder(command.split(" ", -1)).inheritIO().start().waitFor();
    }
}
