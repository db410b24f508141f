package io.rdma4j.acceptance.traffic;

import io.rdma4j.acceptance.process.Parent;
import io.rdma4j.acceptance.process.Role;
import io.rdma4j.verbs.RdmaException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * An active side that executes commands, each over a new connection to an {@link Answerer}.
 *
 * <p>The parameters are {@code from}, {@code to}, {@code port}, {@code timeout} (exponent) and {@code sizes} (as the
 * passive side's). {@code exchange BYTES OPERATION…} transfers and checks so many bytes by each operation; {@code
 * stream MESSAGES} writes without checks. After each command it reports {@code done}: {@code wrong}, {@code status},
 * {@code bytes}, {@code nanos}, {@code sentPackets} and {@code icrcErrors} (of the process so far). It exits on {@code
 * end}.
 */
public final class Mover implements Role {
    @Override
    public void run(Parent parent) throws IOException {
        InetSocketAddress from = new InetSocketAddress(parent.text("from", "127.0.0.1"), 0);
        InetSocketAddress to = new InetSocketAddress(parent.text("to", "127.0.0.1"), (int) parent.number("port", 0));
        int timeout = (int) parent.number("timeout", 14);
        int[] sizes = parent.numbers("sizes");
        parent.report("ready", 1);
        for (String line = parent.nextCommand(); !line.equals("end"); line = parent.nextCommand()) {
            List<String> arguments = List.of(line.split(" "));
            Map<String, Object> done;
            try {
                done = arguments.getFirst().equals("stream")
                        ? stream(new WriteStream(from, to, timeout, sizes[0]), Long.parseLong(arguments.get(1)))
                        : exchange(new Exchange(from, to, timeout, sizes), arguments);
            } catch (RdmaException e) {
                done = Map.of("wrong", String.valueOf(e.getMessage()), "status", "not connected");
            }
            parent.report("done", done);
        }
    }

    private static Map<String, Object> stream(WriteStream stream, long messages) {
        try (stream) {
            long begin = System.nanoTime();
            boolean _ = stream.write(messages);
            Map<String, Object> done = new LinkedHashMap<>();
            done.put("nanos", System.nanoTime() - begin);
            done.put("wrong", stream.wrong());
            done.put("sentPackets", sentPackets(stream.side()));
            return done;
        }
    }

    private static Map<String, Object> exchange(Exchange exchange, List<String> arguments) {
        try (exchange) {
            long begin = System.nanoTime();
            long bytes = Long.parseLong(arguments.get(1));
            for (String operation : arguments.subList(2, arguments.size())) {
                boolean _ = exchange.move(TrafficOperation.valueOf(operation), bytes);
            }
            long nanos = System.nanoTime() - begin;
            boolean _ = exchange.isQuiet();
            Map<String, Object> done = exchange.report();
            done.put("nanos", nanos);
            done.put("sentPackets", sentPackets(exchange.side()));
            done.put("icrcErrors", exchange.side().icrcErrors());
            done.put("milliseconds", TimeUnit.NANOSECONDS.toMillis(nanos));
            return done;
        }
    }

    private static long sentPackets(TrafficSide side) {
        return side.queuePair().counters().getOrDefault("sent_pkts", 0L);
    }
}
