package io.rdma4j.conformance.programs;

import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;

/** A ZooKeeper server and its client, without any RDMA code. */
final class ZooKeeperRun {
    private static final int NODES = 50;
    private static final int SESSION_MILLIS = 20_000;

    private ZooKeeperRun() {}

    public static void main(String[] words) throws Exception {
        if (words[0].equals("server")) {
            serve(words[1], Integer.parseInt(words[2]), Path.of(words[3]));
        } else {
            use(words[1] + ":" + words[2]);
        }
    }

    private static void serve(String host, int port, Path folder) throws Exception {
        ServerCnxnFactory factory = new NIOServerCnxnFactory();
        factory.configure(new InetSocketAddress(host, port), 10);
        factory.startup(new ZooKeeperServer(folder.toFile(), folder.toFile(), 2000));
        System.out.println("ready");
        factory.join();
    }

    @SuppressWarnings("try") // an interrupted close ends the program anyway
    private static void use(String server) throws Exception {
        CountDownLatch connected = new CountDownLatch(1);
        try (ZooKeeper client = new ZooKeeper(server, SESSION_MILLIS, event -> {
            if (event.getState() == Watcher.Event.KeeperState.SyncConnected) {
                connected.countDown();
            }
        })) {
            if (!connected.await(SESSION_MILLIS, TimeUnit.MILLISECONDS)) {
                System.out.println("not connected");
                return;
            }
            CountDownLatch changed = new CountDownLatch(1);
            client.create("/a", new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            client.getChildren("/a", event -> changed.countDown());
            int same = 0;
            for (int i = 0; i < NODES; i++) {
                byte[] data = ("value " + i).getBytes(StandardCharsets.UTF_8);
                client.create("/a/" + i, data, ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
                same += new String(client.getData("/a/" + i, false, null), StandardCharsets.UTF_8).equals("value " + i)
                        ? 1
                        : 0;
            }
            System.out.println(same + " nodes, watch " + changed.await(10, TimeUnit.SECONDS));
        }
    }
}
