package io.rdma4j.bench.worker;

import io.rdma4j.bench.peers.AeronPair;
import io.rdma4j.bench.peers.ChannelLatency;
import io.rdma4j.bench.peers.ChannelOpening;
import io.rdma4j.bench.peers.ChannelStream;
import io.rdma4j.bench.peers.NettyLatency;
import io.rdma4j.bench.peers.NettyStream;
import io.rdma4j.bench.peers.UcxPair;
import io.rdma4j.bench.project.DatagramRate;
import io.rdma4j.bench.project.IdleConnections;
import io.rdma4j.bench.project.InOneProcess;
import io.rdma4j.bench.project.LayerLatency;
import io.rdma4j.bench.project.LayerThroughput;
import io.rdma4j.bench.project.RdmaLatency;
import io.rdma4j.bench.project.RdmaThroughput;
import io.rdma4j.bench.project.SetUp;
import io.rdma4j.bench.raw.MemoryPingPong;
import io.rdma4j.bench.raw.MemoryStream;
import io.rdma4j.bench.raw.RawPingPong;
import io.rdma4j.bench.raw.RawStream;
import java.util.Map;
import java.util.function.Supplier;

/** All measurements by two processes, by name. */
public final class PairTests {
    private static final Map<String, Supplier<PairTest>> ALL = Map.ofEntries(
            entry("raw-ping-pong", RawPingPong::new),
            entry("raw-stream", RawStream::new),
            entry("memory-ping-pong", MemoryPingPong::new),
            entry("memory-stream", MemoryStream::new),
            entry("rdma-latency", RdmaLatency::new),
            entry("rdma-throughput", RdmaThroughput::new),
            entry("rdma-layer-latency", LayerLatency::new),
            entry("rdma-layer-throughput", LayerThroughput::new),
            entry("rdma-datagrams", DatagramRate::new),
            entry("rdma-latency-in-one-process", () -> new InOneProcess(new RdmaLatency())),
            entry("rdma-throughput-in-one-process", () -> new InOneProcess(new RdmaThroughput())),
            entry("rdma-set-up", SetUp::new),
            entry("rdma-idle", IdleConnections::new),
            entry("channel-latency", ChannelLatency::new),
            entry("channel-opening", ChannelOpening::new),
            entry("channel-stream", ChannelStream::new),
            entry("netty-latency", NettyLatency::new),
            entry("netty-stream", NettyStream::new),
            entry("aeron", AeronPair::new),
            entry("ucx", UcxPair::new));

    private static Map.Entry<String, Supplier<PairTest>> entry(String name, Supplier<PairTest> constructor) {
        return Map.entry(name, constructor);
    }

    private PairTests() {}

    /** Returns a new measurement by its name. */
    public static PairTest named(String name) {
        Supplier<PairTest> constructor = ALL.get(name);
        if (constructor == null) {
            throw new IllegalArgumentException("there is no measurement " + name + "; known ones are " + ALL.keySet());
        }
        return constructor.get();
    }
}
