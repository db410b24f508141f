package io.rdma4j.soft.gsi;

import io.rdma4j.cm.host.AddressText;
import io.rdma4j.link.Link;
import io.rdma4j.link.ReceiveBurst;
import io.rdma4j.soft.engine.Engine;
import io.rdma4j.soft.engine.FrameSource;
import io.rdma4j.soft.host.SystemFailure;
import io.rdma4j.value.Gid;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.wire.Frame;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.util.HashMap;
import java.util.Map;

/**
 * The multicast groups that this process receives, each on one network interface. Used under the engine lock.
 *
 * <p>Each group has its own link. The kernel delivers each frame to every process of the host that is a member, so
 * nothing is relayed (decision 013).
 */
public final class MulticastGroups implements FrameSource {
    /** The maximum number of groups of one process. */
    public static final int MAX_GROUPS = 1 << 13;

    private static final int BURST_FRAMES = 64;

    record Key(Gid group, String networkName) {
        @Override
        public String toString() {
            return AddressText.of(group.toInetAddress()) + " on " + networkName;
        }
    }

    private final Engine engine;
    private final ReceiveBurst burst = new ReceiveBurst(BURST_FRAMES);
    private final Map<Key, MulticastGroup> byKey = new HashMap<>();
    private MulticastGroup[] all = {};

    private MulticastGroups(Engine engine) {
        this.engine = engine;
    }

    /** Creates an empty set, which the engine receives from. Without the engine lock. */
    public static MulticastGroups open(Engine engine) {
        MulticastGroups opened = new MulticastGroups(engine);
        engine.lock();
        try {
            engine.multicastSource(opened);
        } finally {
            engine.unlock();
        }
        return opened;
    }

    /**
     * Returns a group on an interface. The first holder makes this host a member of it there.
     *
     * @param operation the C name of the caller's operation, for the message
     * @param group a multicast address
     * @param networkName the network interface
     * @param local an address of the interface, of the group's family
     * @return the group, to be released by each holder
     * @throws RdmaException {@code ENOMEM} if there are too many groups; {@code EADDRINUSE} if another socket has bound
     *     UDP port 4791 exclusively, such as the kernel's rdma_rxe; {@code EIO} if the kernel refuses for another
     *     reason
     */
    public MulticastGroup hold(String operation, Gid group, String networkName, InetAddress local) {
        Key key = new Key(group, networkName);
        MulticastGroup known = byKey.get(key);
        if (known == null) {
            if (all.length >= MAX_GROUPS) {
                throw new RdmaException(
                        operation,
                        Errno.ENOMEM,
                        key + ": this process already receives " + all.length + " groups",
                        "Leave groups that are not used");
            }
            known = new MulticastGroup(this, key, open(operation, key, local));
            byKey.put(key, known);
            all = byKey.values().toArray(MulticastGroup[]::new);
        }
        known.holders++;
        return known;
    }

    private Link open(String operation, Key key, InetAddress local) {
        try {
            InetAddress group = key.group().toInetAddress();
            return engine.decorate(engine.links().openMulticast(group, Frame.UDP_PORT, local));
        } catch (BindException e) {
            throw new RdmaException(
                    operation,
                    Errno.EADDRINUSE,
                    key + ": " + e.getMessage(),
                    "Another socket has bound UDP port 4791 of the group exclusively. If it is the kernel's rdma_rxe,"
                            + " unload it (rmmod rdma_rxe) or use another network namespace",
                    e);
        } catch (IOException e) {
            throw SystemFailure.of(
                    operation, key.toString(), e, "`ip maddress` lists the groups that this host is a member of");
        }
    }

    void release(MulticastGroup group) {
        group.holders--;
        if (group.holders == 0) {
            byKey.remove(group.key);
            all = byKey.values().toArray(MulticastGroup[]::new);
            try {
                group.link.close();
            } catch (IOException e) {
                // It buffers nothing, and the kernel ends the membership with the socket.
                return;
            }
        }
    }

    /** Returns the number of groups that this process receives. */
    public int size() {
        return all.length;
    }

    @Override
    public int receive(long nowNanos, boolean cold) {
        int frames = 0;
        for (MulticastGroup group : all) {
            if (cold || group.idleCycles < COLD_CYCLES) {
                frames += group.receive(nowNanos, burst, engine.receiver());
            }
        }
        return frames;
    }

    @Override
    public long nextDeadlineNanos() {
        long next = Long.MAX_VALUE;
        for (MulticastGroup group : all) {
            next = Math.min(next, group.link.nextDeadlineNanos());
        }
        return next;
    }
}
