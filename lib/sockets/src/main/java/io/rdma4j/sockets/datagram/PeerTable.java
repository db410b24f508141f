package io.rdma4j.sockets.datagram;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The peers of a socket, in three groups. The groups are the peers that the application sends to, the peers that have
 * sent a datagram from their queue pair, and the peers that have only asked for this side's queue pair. A new peer
 * displaces only a peer of its own group, of the host with the most peers in that group. Anyone can send many questions
 * at little cost, so questions displace only other questions. Not thread safe.
 */
final class PeerTable {
    private final PeerGroup recipients;
    private final PeerGroup senders;
    private final PeerGroup askers;

    /** Creates a table for {@code most} peers of each group. */
    PeerTable(int most) {
        recipients = new PeerGroup(most);
        senders = new PeerGroup(most);
        askers = new PeerGroup(most);
    }

    /** Returns the peer that the application sends to; adds it if it is unknown. */
    DatagramPeer recipient(DatagramAddress address) {
        DatagramPeer peer = recipients.find(address);
        if (peer != null) {
            recipients.use(peer);
            return peer;
        }
        peer = find(address);
        if (peer == null) {
            peer = new DatagramPeer(address);
        }
        move(peer, recipients);
        return peer;
    }

    /** Returns the peer that has asked for this side's queue pair; adds it if it is unknown. */
    DatagramPeer asker(DatagramAddress address) {
        DatagramPeer peer = find(address);
        if (peer == null) {
            peer = new DatagramPeer(address);
            askers.add(peer);
        } else {
            use(peer);
        }
        return peer;
    }

    /** Records that a datagram arrived from the queue pair of a peer in this table. */
    void onDatagram(DatagramPeer peer) {
        if (peer.group() == askers) {
            move(peer, senders);
        } else {
            use(peer);
        }
    }

    private static void use(DatagramPeer peer) {
        PeerGroup group = peer.group();
        if (group != null) {
            group.use(peer);
        }
    }

    private static void move(DatagramPeer peer, PeerGroup to) {
        PeerGroup from = peer.group();
        if (from != null) {
            from.remove(peer);
        }
        to.add(peer);
    }

    /** Returns the peer, or null if it is unknown. */
    @Nullable
    DatagramPeer find(DatagramAddress address) {
        DatagramPeer peer = recipients.find(address);
        if (peer == null) {
            peer = senders.find(address);
        }
        return peer == null ? askers.find(address) : peer;
    }

    void forEach(Consumer<DatagramPeer> action) {
        recipients.forEach(action);
        senders.forEach(action);
        askers.forEach(action);
    }

    int size() {
        return recipients.size() + senders.size() + askers.size();
    }

    void clear() {
        recipients.clear();
        senders.clear();
        askers.clear();
    }
}
