package io.rdma4j.sockets.datagram;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The peers of a socket in three groups: peers that the application sends to, peers that have sent a datagram from their
 * queue pair, and peers that have only asked for ours. A peer displaces only peers of its own group, and there the host with
 * the most peers gives way. Questions are cheap to send in any number, so they displace none but other questions. Not thread
 * safe.
 */
final class PeerTable {
    private final PeerGroup recipients;
    private final PeerGroup senders;
    private final PeerGroup askers;

    /** A table of {@code most} peers of each kind. */
    PeerTable(int most) {
        recipients = new PeerGroup(most);
        senders = new PeerGroup(most);
        askers = new PeerGroup(most);
    }

    /** The peer that the application sends to; added if it is not known. */
    Peer recipient(DatagramAddress address) {
        Peer peer = recipients.find(address);
        if (peer != null) {
            recipients.use(peer);
            return peer;
        }
        peer = find(address);
        if (peer == null) {
            peer = new Peer(address);
        }
        move(peer, recipients);
        return peer;
    }

    /** The peer that has asked for our queue pair; added if it is not known. */
    Peer asker(DatagramAddress address) {
        Peer peer = find(address);
        if (peer == null) {
            peer = new Peer(address);
            askers.add(peer);
        } else {
            use(peer);
        }
        return peer;
    }

    /** Notes that a datagram has come from the queue pair of a peer in this table. */
    void onDatagram(Peer peer) {
        if (peer.group() == askers) {
            move(peer, senders);
        } else {
            use(peer);
        }
    }

    private static void use(Peer peer) {
        PeerGroup group = peer.group();
        if (group != null) {
            group.use(peer);
        }
    }

    private static void move(Peer peer, PeerGroup to) {
        PeerGroup from = peer.group();
        if (from != null) {
            from.remove(peer);
        }
        to.add(peer);
    }

    /** The peer, or null if it is not known. */
    @Nullable
    Peer find(DatagramAddress address) {
        Peer peer = recipients.find(address);
        if (peer == null) {
            peer = senders.find(address);
        }
        return peer == null ? askers.find(address) : peer;
    }

    void forEach(Consumer<Peer> action) {
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
