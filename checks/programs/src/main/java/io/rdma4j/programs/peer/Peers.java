package io.rdma4j.programs.peer;

import java.util.Map;
import java.util.function.Supplier;

/** The programs that run in a {@link PeerMain}, by name. */
final class Peers {
    private static final Map<String, Supplier<Peer>> ALL = Map.of(
            "netty", NettyEcho::new,
            "grpc", GrpcCalls::new,
            "kafka", KafkaRecords::new,
            "tomcat", () -> new TomcatRequests(TomcatRequests.NIO),
            "tomcat-nio2", () -> new TomcatRequests(TomcatRequests.NIO2),
            "hazelcast", HazelcastMap::new,
            "jgroups-nio2", () -> new JGroupsMessages(JGroupsMessages.NIO2),
            "jgroups", () -> new JGroupsMessages(JGroupsMessages.BLOCKING),
            "h2", H2Database::new,
            "jdk", JdkHttp::new);

    private Peers() {}

    static Peer named(String name) {
        Supplier<Peer> peer = ALL.get(name);
        if (peer == null) {
            throw new IllegalArgumentException("there is no program " + name);
        }
        return peer.get();
    }
}
