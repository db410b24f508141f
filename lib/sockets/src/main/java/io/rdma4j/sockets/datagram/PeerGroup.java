package io.rdma4j.sockets.datagram;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A bounded set of peers in which each host has a fair share. When the set is full, a new peer replaces the least
 * recently used peer of the host with the most peers. If several hosts have the most peers, the host that was least
 * recently used or changed loses one. Therefore, a host with many ports displaces only its own peers. All operations
 * take constant time. Not thread safe.
 */
final class PeerGroup {
    /** The peers of one address, the least recently used first. */
    private static final class Host {
        private final Map<DatagramAddress, DatagramPeer> peers = new LinkedHashMap<>(2, 0.75f, true);
    }

    private final int most;
    private final Map<DatagramAddress, DatagramPeer> peers = new HashMap<>();
    private final Map<DatagramAddress, Host> hosts = new HashMap<>();

    /** Hosts by their number of peers, index 0 for one peer. Each map has the least recently used host first. */
    private final List<LinkedHashMap<Host, Host>> hostsByCount = new ArrayList<>();

    private @Nullable DatagramPeer lastUsed;

    PeerGroup(int most) {
        this.most = most;
    }

    int size() {
        return peers.size();
    }

    @Nullable
    DatagramPeer find(DatagramAddress address) {
        return peers.get(address);
    }

    /** Marks a peer of the group as the most recently used one. */
    void use(DatagramPeer peer) {
        if (peer == lastUsed) {
            return;
        }
        lastUsed = peer;
        Host host = hosts.get(peer.host());
        if (host != null) { // both maps are in order of access
            host.peers.get(peer.address());
            hostsByCount.get(host.peers.size() - 1).get(host);
        }
    }

    /** Adds a peer that is not in the group; closes the peer that it displaces. */
    void add(DatagramPeer peer) {
        if (peers.size() == most) {
            Host largest = hostsByCount.getLast().firstEntry().getKey();
            DatagramPeer displaced = largest.peers.values().iterator().next();
            remove(displaced);
            displaced.close();
        }
        Host host = hosts.computeIfAbsent(peer.host(), address -> new Host());
        count(host, host.peers.size() + 1);
        host.peers.put(peer.address(), peer);
        peers.put(peer.address(), peer);
        peer.group(this);
        lastUsed = peer;
    }

    /** Removes a peer without closing it. */
    void remove(DatagramPeer peer) {
        Host host = hosts.get(peer.host());
        if (host == null || peers.remove(peer.address()) == null) {
            return;
        }
        peer.group(null);
        count(host, host.peers.size() - 1);
        host.peers.remove(peer.address());
        if (host.peers.isEmpty()) {
            hosts.remove(peer.host());
        }
        lastUsed = null;
    }

    /** Moves a host to the map for {@code newCount} peers. */
    private void count(Host host, int newCount) {
        int count = host.peers.size();
        if (count > 0) {
            hostsByCount.get(count - 1).remove(host);
        }
        if (newCount > hostsByCount.size()) {
            hostsByCount.add(new LinkedHashMap<>(2, 0.75f, true));
        }
        if (newCount > 0) {
            hostsByCount.get(newCount - 1).put(host, host);
        }
        while (!hostsByCount.isEmpty() && hostsByCount.getLast().isEmpty()) {
            hostsByCount.removeLast();
        }
    }

    void forEach(Consumer<DatagramPeer> action) {
        peers.values().forEach(action);
    }

    /** Closes and removes all peers. */
    void clear() {
        for (DatagramPeer peer : peers.values()) {
            peer.group(null);
            peer.close();
        }
        peers.clear();
        hosts.clear();
        hostsByCount.clear();
        lastUsed = null;
    }
}
