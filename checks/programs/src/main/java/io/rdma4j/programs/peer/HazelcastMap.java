package io.rdma4j.programs.peer;

import com.hazelcast.cluster.Member;
import com.hazelcast.config.Config;
import com.hazelcast.config.JoinConfig;
import com.hazelcast.core.Hazelcast;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.map.IMap;
import java.nio.file.Path;

/** Hazelcast with two members: values of 1000 bytes, which the other member owns, put and read again. */
final class HazelcastMap implements ServingPeer {
    private static final int BYTES = 1000;
    private static final int MEMBERS = 2;

    @Override
    public void serve(int port, Path folder) {
        HazelcastInstance _ = member(port, port);
    }

    private static HazelcastInstance member(int port, int first) {
        Config config = new Config();
        config.setClusterName("programs");
        config.setProperty("hazelcast.phone.home.enabled", "false");
        config.setProperty("hazelcast.logging.type", "none");
        config.getNetworkConfig().setPort(port).setPortAutoIncrement(false);
        config.getNetworkConfig().getInterfaces().setEnabled(true).addInterface("127.0.0.1");
        JoinConfig join = config.getNetworkConfig().getJoin();
        join.getAutoDetectionConfig().setEnabled(false);
        join.getMulticastConfig().setEnabled(false);
        join.getTcpIpConfig().setEnabled(true).addMember("127.0.0.1:" + first);
        return Hazelcast.newHazelcastInstance(config);
    }

    @Override
    public PeerClient connect(int port) {
        HazelcastInstance member = member(port + 1, port);
        requireBoth(member);
        IMap<Integer, byte[]> map = member.getMap("blocks");
        int key = keyOfOther(member);
        Blocks blocks = new Blocks(BYTES);
        return () -> {
            map.set(key, blocks.next());
            blocks.requireSame(map.get(key));
            requireBoth(member);
        };
    }

    /** A member that is alone owns all keys, and its operations would succeed without the other one. */
    private static void requireBoth(HazelcastInstance member) {
        if (member.getCluster().getMembers().size() != MEMBERS) {
            throw new IllegalStateException("the other member has left");
        }
    }

    private static int keyOfOther(HazelcastInstance member) {
        int key = 0;
        Member local = member.getCluster().getLocalMember();
        while (local.equals(member.getPartitionService().getPartition(key).getOwner())) {
            key++;
        }
        return key;
    }
}
