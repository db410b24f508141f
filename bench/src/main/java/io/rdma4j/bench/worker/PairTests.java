package io.rdma4j.bench.worker;

import io.rdma4j.bench.peers.ChannelLatency;
import io.rdma4j.bench.peers.ChannelStream;
import io.rdma4j.bench.project.RdmaLatency;
import io.rdma4j.bench.project.RdmaThroughput;
import io.rdma4j.bench.raw.RawPingPong;
import io.rdma4j.bench.raw.RawStream;
import java.util.Map;
import java.util.function.Supplier;

/** All measurements of two processes, by name. */
public final class PairTests {
    private static final Map<String, Supplier<PairTest>> ALL = Map.of(
            "raw-ping-pong", RawPingPong::new,
            "raw-stream", RawStream::new,
            "rdma-latency", RdmaLatency::new,
            "rdma-throughput", RdmaThroughput::new,
            "channel-latency", ChannelLatency::new,
            "channel-stream", ChannelStream::new);

    private PairTests() {}

    /** A measurement by its name. */
    public static PairTest named(String name) {
        Supplier<PairTest> maker = ALL.get(name);
        if (maker == null) {
            throw new IllegalArgumentException("there is no measurement " + name + ", but " + ALL.keySet());
        }
        return maker.get();
    }
}
