package io.rdma4j.acceptance.traffic;

import io.rdma4j.acceptance.process.Parent;
import io.rdma4j.acceptance.process.Role;
import io.rdma4j.soft.host.SystemFailure;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.RdmaException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A process that runs out of file descriptors and of protection domains while it has a connection, and then frees them.
 *
 * <p>The parameters are {@code from} (two addresses separated by a comma: the second is first used while no descriptors
 * are free), {@code to}, {@code port} and {@code sizes}. It reports {@code result}: {@code wrong}, {@code refusal} (the
 * message with which a connection from the second address failed) and {@code recoveryMillis}.
 */
public final class Starved implements Role {
    private static final Path FILE = Path.of("/dev/null");
    private static final long BYTES = 4 << 20;
    private static final int TIMEOUT = 14;

    private final Deque<InputStream> descriptors = new ArrayDeque<>();
    private final List<String> wrong = new ArrayList<>();

    @Override
    public void run(Parent parent) throws IOException, InterruptedException {
        String[] from = parent.text("from", "").split(",", -1);
        InetSocketAddress to = new InetSocketAddress(parent.text("to", "127.0.0.1"), (int) parent.number("port", 0));
        int[] sizes = parent.numbers("sizes");
        Map<String, Object> result = new LinkedHashMap<>();
        try (Exchange exchange = new Exchange(new InetSocketAddress(from[0], 0), to, TIMEOUT, sizes)) {
            move(exchange);
            // Loads classes that only failures use while descriptors are available.
            connect(new InetSocketAddress(from[0], 0), new InetSocketAddress(to.getAddress(), 1), sizes);
            System.err.println("lacking descriptors: " + SystemFailure.lacksDescriptors(new IOException("none yet")));
            exhaust();
            move(exchange);
            result.put("refusal", connect(new InetSocketAddress(from[1], 0), to, sizes));
            Thread.sleep(2500); // periodic checks have run meanwhile
            move(exchange);
            freeDescriptors();
            long begin = System.nanoTime();
            String refused = connect(new InetSocketAddress(from[1], 0), to, sizes);
            result.put("recoveryMillis", (System.nanoTime() - begin) / 1_000_000);
            if (!refused.isEmpty()) {
                wrong.add("with descriptors again: " + refused);
            }
            exhaustDomains(exchange);
            move(exchange);
        }
        result.put("wrong", String.join("; ", wrong));
        parent.report("result", result);
    }

    private void move(Exchange exchange) {
        for (TrafficOperation operation : TrafficOperation.values()) {
            if (!exchange.move(operation, BYTES)) {
                wrong.add(exchange.wrong());
                return;
            }
        }
    }

    /** Returns why the connection failed; empty if it succeeded. */
    private static String connect(InetSocketAddress from, InetSocketAddress to, int[] sizes) {
        try (Exchange exchange = new Exchange(from, to, TIMEOUT, sizes)) {
            return exchange.moveBatch(TrafficOperation.SEND) ? "" : exchange.wrong();
        } catch (RdmaException e) {
            return String.valueOf(e.getMessage());
        }
    }

    private void exhaust() {
        try {
            while (true) {
                descriptors.push(Files.newInputStream(FILE));
            }
        } catch (IOException e) {
            System.err.println(descriptors.size() + " descriptors used: " + e.getMessage());
        }
    }

    private void freeDescriptors() throws IOException {
        while (!descriptors.isEmpty()) {
            descriptors.pop().close();
        }
    }

    /** Creates as many protection domains as allowed and one more, then replaces one. */
    private void exhaustDomains(Exchange exchange) {
        var device = exchange.side().id().verbs();
        int max = device.attributes().maxProtectionDomains();
        Deque<ProtectionDomain> domains = new ArrayDeque<>();
        try {
            while (domains.size() <= max) {
                domains.push(device.createProtectionDomain());
            }
            wrong.add(domains.size() + " protection domains where " + max + " are allowed");
        } catch (RdmaException e) {
            if (e.errno() != Errno.ENOMEM || max - domains.size() > 16) {
                wrong.add("protection domain " + (domains.size() + 1) + " of " + max + ": " + e.getMessage());
            }
        }
        domains.pop().close();
        domains.push(device.createProtectionDomain());
        domains.forEach(ProtectionDomain::close);
    }
}
