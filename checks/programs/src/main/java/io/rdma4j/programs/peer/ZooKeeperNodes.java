package io.rdma4j.programs.peer;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
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

/** ZooKeeper: a node of 1000 bytes is created, which a watch reports, then read and deleted. */
final class ZooKeeperNodes implements ServingPeer {
    private static final int BYTES = 1000;
    private static final int SESSION_MILLIS = 20_000;
    private static final int ANY_VERSION = -1;

    /** The node of a client that was killed stays until its session expires. */
    private static final String NODE = "/node-" + ProcessHandle.current().pid();

    @Override
    public void serve(int port, Path folder) throws Exception {
        ServerCnxnFactory factory = new NIOServerCnxnFactory();
        factory.configure(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 10);
        factory.startup(new ZooKeeperServer(folder.toFile(), folder.toFile(), 2000));
    }

    @Override
    public PeerClient connect(int port) throws Exception {
        CountDownLatch connected = new CountDownLatch(1);
        ZooKeeper client = new ZooKeeper("127.0.0.1:" + port, SESSION_MILLIS, event -> {
            if (event.getState() == Watcher.Event.KeeperState.SyncConnected) {
                connected.countDown();
            }
        });
        if (!connected.await(SESSION_MILLIS, TimeUnit.MILLISECONDS)) {
            client.close();
            throw new IOException("no session");
        }
        Blocks blocks = new Blocks(BYTES);
        return () -> exchange(client, blocks);
    }

    private static void exchange(ZooKeeper client, Blocks blocks) throws Exception {
        CountDownLatch changed = new CountDownLatch(1);
        client.exists(NODE, event -> changed.countDown());
        client.create(NODE, blocks.next(), ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
        if (!changed.await(30, TimeUnit.SECONDS)) {
            throw new IllegalStateException("the watch did not report the new node");
        }
        blocks.requireSame(client.getData(NODE, false, null));
        client.delete(NODE, ANY_VERSION);
    }
}
