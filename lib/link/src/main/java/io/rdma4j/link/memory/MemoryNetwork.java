package io.rdma4j.link.memory;

import io.rdma4j.link.LinkSet;
import io.rdma4j.wire.Frame;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * A network within this process, for tests. Its link sets exchange frames and messages through memory, without sockets and files.
 * All addresses are local to it. Without {@link NetworkConditions}, frames arrive immediately and in order; a receiver that does
 * not keep up loses frames. The network is one segment: a frame sent to a multicast group reaches all links opened for the group.
 * Thread safe. Its link sets follow the contract of {@link LinkSet}.
 */
public final class MemoryNetwork {
    private static final int FIRST_FREE_PORT = 0xc000;
    private static final int LAST_PORT = 0xffff;

    private final int mtuBytes;
    private final NetworkConditions conditions;
    private volatile Consumer<Frame> observer = _ -> {};
    private final Map<InetSocketAddress, MemoryLink> links = new HashMap<>();
    private final Map<InetSocketAddress, List<MemoryLink>> groups = new HashMap<>();
    private final Map<Path, MemoryChannel.Listener> listeners = new HashMap<>();

    /**
     * Creates an empty network without faults.
     *
     * @param mtuBytes size of the largest IP packet that it carries; larger ones are counted as send failures
     */
    public MemoryNetwork(int mtuBytes) {
        this(mtuBytes, new NetworkConditions(() -> 0));
    }

    /**
     * Creates an empty network.
     *
     * @param mtuBytes size of the largest IP packet that it carries; larger ones are counted as send failures
     * @param conditions the faults and rates of its links
     */
    public MemoryNetwork(int mtuBytes, NetworkConditions conditions) {
        this.mtuBytes = mtuBytes;
        this.conditions = conditions;
    }

    /** Opens a link set on this network, for one simulated process. */
    public LinkSet newLinkSet() {
        return new MemoryLinkSet(this);
    }

    /**
     * Observes every frame that a link sends, in the order of sending, before faults of the receiver are applied. The frame is
     * valid during the call. Set it before the network is used.
     */
    public void observe(Consumer<Frame> newObserver) {
        observer = newObserver;
    }

    Consumer<Frame> observer() {
        return observer;
    }

    /** Returns whether a link has frames that were not polled yet. */
    public synchronized boolean hasInput() {
        return links.values().stream().anyMatch(MemoryLink::hasInput)
                || groups.values().stream().flatMap(List::stream).anyMatch(MemoryLink::hasInput);
    }

    NetworkConditions conditions() {
        return conditions;
    }

    int mtuBytes() {
        return mtuBytes;
    }

    synchronized MemoryLink bind(MemoryLinkSet set, InetAddress address, int port) throws BindException {
        InetSocketAddress name = new InetSocketAddress(address, port == 0 ? freePort(address) : port);
        if (links.containsKey(name)) {
            throw new BindException("bind UDP " + address.getHostAddress() + " port " + port
                    + ": already in use on this memory network");
        }
        MemoryLink link = new MemoryLink(set, name);
        links.put(name, link);
        return link;
    }

    private int freePort(InetAddress address) throws BindException {
        for (int port = FIRST_FREE_PORT; port <= LAST_PORT; port++) {
            if (!links.containsKey(new InetSocketAddress(address, port))) {
                return port;
            }
        }
        throw new BindException("bind UDP " + address.getHostAddress() + ": no port is free on this memory network");
    }

    synchronized MemoryLink join(MemoryLinkSet set, InetAddress group, int port) {
        InetSocketAddress name = new InetSocketAddress(group, port);
        MemoryLink link = new MemoryLink(set, name);
        groups.computeIfAbsent(name, _ -> new ArrayList<>()).add(link);
        return link;
    }

    synchronized void unbind(MemoryLink link) {
        links.remove(link.localAddress(), link);
        List<MemoryLink> members = groups.get(link.localAddress());
        if (members != null && members.remove(link) && members.isEmpty()) {
            groups.remove(link.localAddress());
        }
    }

    /** Returns the links that receive frames sent to an address: at most one, or all links of a multicast group. */
    synchronized List<MemoryLink> receivers(InetSocketAddress name) {
        MemoryLink link = links.get(name);
        return link == null ? List.copyOf(groups.getOrDefault(name, List.of())) : List.of(link);
    }

    synchronized MemoryChannel.Listener listen(MemoryLinkSet set, Path path) throws BindException {
        if (listeners.containsKey(path)) {
            throw new BindException("listen on " + path + ": another process listens there");
        }
        MemoryChannel.Listener listener = new MemoryChannel.Listener(set, path);
        listeners.put(path, listener);
        return listener;
    }

    synchronized void unlisten(MemoryChannel.Listener listener) {
        listeners.remove(listener.path(), listener);
    }

    synchronized MemoryChannel connect(MemoryLinkSet set, Path path) throws ConnectException {
        MemoryChannel.Listener listener = listeners.get(path);
        if (listener == null) {
            throw new ConnectException("connect to " + path + ": no process listens there on this memory network");
        }
        MemoryChannel channel = new MemoryChannel(set);
        listener.connect(channel);
        return channel;
    }
}
