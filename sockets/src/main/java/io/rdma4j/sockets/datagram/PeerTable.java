package io.rdma4j.sockets.datagram;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The peers of a socket, not more than a certain number: those that the application sends to, of which the one that was used
 * longest ago goes first, and strangers that only sent something, in the order of their coming. So strangers drive no
 * acquaintance out. Not thread safe.
 */
final class PeerTable {
    private final int most;
    private final LinkedHashMap<DatagramAddress, Peer> acquaintances = new LinkedHashMap<>(16, 0.75f, true);
    private final LinkedHashMap<DatagramAddress, Peer> strangers = new LinkedHashMap<>();

    /** A table of so many acquaintances, and as many strangers. */
    PeerTable(int most) {
        this.most = most;
    }

    /** The peer that the application sends to. */
    Peer acquaintance(DatagramAddress address) {
        Peer peer = acquaintances.get(address);
        if (peer == null) {
            peer = strangers.remove(address);
            peer = peer == null ? new Peer(address) : peer;
            acquaintances.put(address, peer);
            trim(acquaintances);
        }
        return peer;
    }

    /** The peer that has sent something; a stranger if it is not known. */
    Peer sender(DatagramAddress address) {
        Peer peer = find(address);
        if (peer == null) {
            peer = new Peer(address);
            strangers.put(address, peer);
            trim(strangers);
        }
        return peer;
    }

    /** The peer, if it is known. */
    @Nullable
    Peer find(DatagramAddress address) {
        Peer peer = acquaintances.get(address);
        return peer == null ? strangers.get(address) : peer;
    }

    private void trim(Map<DatagramAddress, Peer> peers) {
        if (peers.size() > most) {
            Iterator<Peer> eldest = peers.values().iterator();
            eldest.next().close();
            eldest.remove();
        }
    }

    int size() {
        return acquaintances.size() + strangers.size();
    }

    void clear() {
        acquaintances.values().forEach(Peer::close);
        acquaintances.clear();
        strangers.clear();
    }
}
