package io.rdma4j.faults.traffic;

import io.rdma4j.faults.process.Parent;
import io.rdma4j.faults.process.Role;
import io.rdma4j.verbs.RdmaException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * An active side that does as it is told, over a connection for each word to an {@link Answerer}.
 *
 * <p>Parameters {@code from}, {@code to}, {@code port}, {@code timeout} (exponent), {@code sizes} (as the other's). Words:
 * {@code exchange BYTES OPERATION…} moves so many bytes by each, checked; {@code stream MESSAGES} writes without a check.
 * To each it says {@code done}: {@code wrong}, {@code status}, {@code bytes}, {@code nanos}, {@code sentPackets},
 * {@code icrcErrors} (of the process so far). Ends
 * when told {@code end}.
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
            List<String> words = List.of(line.split(" "));
            Map<String, Object> done;
            try {
                done = words.getFirst().equals("stream")
                        ? stream(new WriteStream(from, to, timeout, sizes[0]), Long.parseLong(words.get(1)))
                        : exchange(new Exchange(from, to, timeout, sizes), words);
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

    private static Map<String, Object> exchange(Exchange exchange, List<String> words) {
        try (exchange) {
            long begin = System.nanoTime();
            long bytes = Long.parseLong(words.get(1));
            for (String operation : words.subList(2, words.size())) {
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
