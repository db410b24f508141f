package io.rdma4j.bench.plan;

import static io.rdma4j.bench.plan.Experiments.KIB_64;
import static io.rdma4j.bench.plan.Experiments.MIB;
import static io.rdma4j.bench.plan.Experiments.pair;

import io.rdma4j.bench.worker.Parameters;
import java.util.List;

/** The rows for other libraries in Java. */
final class PeerRows {
    /** The options that Agrona needs to access internals of the JDK. */
    private static final List<String> AERON_OPTIONS = List.of(
            "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED",
            "--add-opens=java.base/java.util.zip=ALL-UNNAMED",
            "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED");

    private final Plan plan;

    private PeerRows(Plan plan) {
        this.plan = plan;
    }

    static void addTo(Plan plan) {
        PeerRows rows = new PeerRows(plan);
        rows.channels();
        rows.netty();
        rows.aeron();
        rows.ucx();
    }

    private RowBuilder row(String id, String title) {
        return new RowBuilder(plan, id, Experiments.JAVA_PEERS, title);
    }

    private void channels() {
        row("tcp-64", "NIO TCP, 64 B, one way, polling")
                .raw(Experiments.RAW_LATENCY)
                .latency(pair("channel-latency", "kind", "tcp", "size", 64));
        row("tcp-block-64", "NIO TCP, 64 B, one way, blocking")
                .from(1)
                .raw(Experiments.RAW_BLOCKING)
                .latency(pair("channel-latency", "kind", "tcp", "size", 64, "wait", "block"));
        row("tcp-64kib", "NIO TCP, 64 KiB writes")
                .raw(Experiments.RAW_STREAM)
                .throughput(pair("channel-stream", "kind", "tcp", "size", KIB_64));
        row("tcp-1mib", "NIO TCP, 1 MiB writes")
                .from(1)
                .raw(Experiments.RAW_STREAM)
                .throughput(pair("channel-stream", "kind", "tcp", "size", MIB));
    }

    private void netty() {
        row("netty-64", "Netty epoll, 64 B, one way, polling")
                .from(1)
                .raw(Experiments.RAW_LATENCY)
                .latency(pair("netty-latency", "size", 64));
        row("netty-block-64", "Netty epoll, 64 B, one way, blocking")
                .from(1)
                .raw(Experiments.RAW_BLOCKING)
                .latency(pair("netty-latency", "size", 64, "wait", "block"));
        row("netty-64kib", "Netty epoll, 64 KiB writes, polling")
                .from(1)
                .raw(Experiments.RAW_STREAM)
                .throughput(pair("netty-stream", "size", KIB_64));
        row("netty-1mib", "Netty epoll, 1 MiB writes, polling")
                .from(2)
                .raw(Experiments.RAW_STREAM)
                .throughput(pair("netty-stream", "size", MIB));
    }

    private static Experiment aeron(String mode, int size, int mtu) {
        return new PairExperiment("aeron", AERON_OPTIONS, Parameters.of("mode", mode, "size", size, "mtu", mtu));
    }

    /** Returns an experiment with Aeron through shared memory. */
    static Experiment aeronIpc(String mode, int size) {
        return new PairExperiment("aeron", AERON_OPTIONS, Parameters.of("media", "ipc", "mode", mode, "size", size));
    }

    private void aeron() {
        row("aeron-64", "Aeron UDP, 64 B, one way, polling")
                .raw(Experiments.RAW_LATENCY)
                .latency(aeron("latency", 64, 1408));
        row("aeron-rate", "Aeron UDP, 64 B, rate, datagrams of 8 KiB")
                .from(1)
                .raw(Experiments.RAW_RATE)
                .rate(aeron("stream", 64, 8192));
        row("aeron-64kib", "Aeron UDP, 64 KiB messages, datagrams of 64 KiB")
                .from(1)
                .raw(Experiments.RAW_STREAM)
                .throughput(aeron("stream", KIB_64, 65_504));
        row("aeron-1mib", "Aeron UDP, 1 MiB messages, datagrams of 64 KiB")
                .from(2)
                .raw(Experiments.RAW_STREAM)
                .throughput(aeron("stream", MIB, 65_504));
    }

    private void ucx() {
        row("jucx-tag-64", "JUCX over TCP, 64 B tagged message, one way")
                .from(1)
                .raw(Experiments.RAW_LATENCY)
                .latency(pair("ucx", "operation", "tag", "size", 64));
        row("jucx-put-64", "JUCX over TCP, 64 B put, one way, peer polls memory")
                .from(1)
                .raw(Experiments.RAW_LATENCY)
                .latency(pair("ucx", "operation", "put", "size", 64));
        row("jucx-get-64", "JUCX over TCP, 64 B get, round trip")
                .from(2)
                .raw(Experiments.RAW_ROUND_TRIP)
                .latency(pair("ucx", "operation", "get", "size", 64));
        row("jucx-tag-64kib", "JUCX over TCP, 64 KiB tagged messages")
                .from(1)
                .raw(Experiments.RAW_STREAM)
                .throughput(pair("ucx", "mode", "stream", "size", KIB_64));
        row("jucx-tag-1mib", "JUCX over TCP, 1 MiB tagged messages")
                .from(2)
                .raw(Experiments.RAW_STREAM)
                .throughput(pair("ucx", "mode", "stream", "size", MIB));
    }
}
