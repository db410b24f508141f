package io.rdma4j.programs;

import io.rdma4j.programs.Program.ModuleServer;
import io.rdma4j.programs.Program.PeerServer;
import java.util.List;

/** All programs. */
final class Programs {
    static final List<Program> ALL = List.of(
            peer("netty", "Netty, NIO transport", "netty-transport", "1 MiB there and back"),
            peer("grpc", "gRPC", "grpc-netty-shaded", "a unary call, 1000 bytes each way"),
            peer(
                    "kafka",
                    "Kafka, broker and controller",
                    "kafka_2.13",
                    "100 records of 1000 bytes produced and consumed"),
            peer("tomcat", "Tomcat, NIO, and java.net.http", "tomcat-embed-core", "a POST, 10 000 bytes each way"),
            peer(
                    "tomcat-nio2",
                    "Tomcat, NIO.2, and java.net.http",
                    "tomcat-embed-core",
                    "a POST, 10 000 bytes each way"),
            peer("jetty", "Jetty with TLS, and java.net.http", "jetty-server", "a POST, 100 000 bytes each way"),
            peer("hazelcast", "Hazelcast, two members", "hazelcast", "1000 bytes put and read at the other member"),
            peer("jgroups-nio2", "JGroups, TCP_NIO2", "jgroups", "500 000 bytes there and back"),
            peer("jgroups", "JGroups, TCP (blocking sockets)", "jgroups", "500 000 bytes there and back"),
            peer("zookeeper", "ZooKeeper", "zookeeper", "a node of 1000 bytes created, watched, read, deleted"),
            peer("h2", "H2 and its JDBC driver (blocking)", "h2", "a row of 1000 bytes inserted, read, deleted"),
            new Program(
                    "jdk",
                    "java -m jdk.httpserver, java.net.http",
                    null,
                    "the list of a folder",
                    ModuleServer.INSTANCE));

    private Programs() {}

    private static Program peer(String name, String title, String artifact, String exchange) {
        return new Program(name, title, artifact, exchange, PeerServer.INSTANCE);
    }
}
