package io.rdma4j.sockets.datagram;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A bounded number of peers in which each host has a fair share. When the group is full, a new peer takes the place of the
 * least recently used peer of the host that has the most; of several such hosts, of the one that was used, or gave or took a
 * place, least recently. So a host with many ports displaces its own peers only. All operations take constant time. Not thread safe.
 */
final class PeerGroup {
    /** The peers of one address, the least recently used first. */
    private static final class Host {
        private final Map<DatagramAddress, Peer> peers = new LinkedHashMap<>(2, 0.75f, true);
    }

    private final int most;
    private final Map<DatagramAddress, Peer> peers = new HashMap<>();
    private final Map<DatagramAddress, Host> hosts = new HashMap<>();

    /** Hosts by their number of peers, index 0 for one peer; those of each number the least recently used first. */
    private final List<LinkedHashMap<Host, Host>> hostsByCount = new ArrayList<>();

    private @Nullable Peer lastUsed;

    PeerGroup(int most) {
        this.most = most;
    }

    int size() {
        return peers.size();
    }

    @Nullable
    Peer find(DatagramAddress address) {
        return peers.get(address);
    }

    /** Marks a peer of the group as the most recently used one. */
    void use(Peer peer) {
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

    /** Adds a peer that is not in the group; closes the peer whose place it takes. */
    void add(Peer peer) {
        if (peers.size() == most) {
            Host largest = hostsByCount.getLast().firstEntry().getKey();
            Peer displaced = largest.peers.values().iterator().next();
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

    /** Takes a peer out, and leaves it open. */
    void remove(Peer peer) {
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

    /** Moves a host to those with {@code newCount} peers. */
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

    void forEach(Consumer<Peer> action) {
        peers.values().forEach(action);
    }

    /** Closes all peers, and forgets them. */
    void clear() {
        for (Peer peer : peers.values()) {
            peer.group(null);
            peer.close();
        }
        peers.clear();
        hosts.clear();
        hostsByCount.clear();
        lastUsed = null;
    }
}
