package io.rdma4j.programs.peer;

import java.util.Map;
import java.util.function.Supplier;

/** The programs that run in a {@link PeerMain}, by name. */
final class Peers {
    private static final Map<String, Supplier<Peer>> ALL = Map.ofEntries(
            Map.entry("netty", NettyEcho::new),
            Map.entry("grpc", GrpcCalls::new),
            Map.entry("kafka", KafkaRecords::new),
            Map.entry("tomcat", () -> new TomcatRequests(TomcatRequests.NIO)),
            Map.entry("tomcat-nio2", () -> new TomcatRequests(TomcatRequests.NIO2)),
            Map.entry("jetty", JettyRequests::new),
            Map.entry("hazelcast", HazelcastMap::new),
            Map.entry("jgroups-nio2", () -> new JGroupsMessages(JGroupsMessages.NIO2)),
            Map.entry("jgroups", () -> new JGroupsMessages(JGroupsMessages.BLOCKING)),
            Map.entry("zookeeper", ZooKeeperNodes::new),
            Map.entry("h2", H2Database::new),
            Map.entry("jdk", JdkHttp::new));

    private Peers() {}

    static Peer named(String name) {
        Supplier<Peer> peer = ALL.get(name);
        if (peer == null) {
            throw new IllegalArgumentException("there is no program " + name);
        }
        return peer.get();
    }
}
