package io.rdma4j.cm.host;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A cache of recent route lookups. Thread safe. */
final class RouteCache {
    /** The time for which an entry is valid. */
    static final long FRESH_NANOS = 100_000_000;

    /** The maximum number of entries. The cache is cleared when it is full. */
    static final int MAX_ENTRIES = 256;

    /** The arguments of a lookup. The scopes are separate, since Java does not compare the scopes of IPv6 addresses. */
    private record Key(@Nullable InetAddress source, int sourceScope, InetAddress destination, int scope) {}

    private record Entry(InetAddress source, long atNanos) {}

    private final LongSupplier clock;

    /** Replaced when the cache is cleared, so that results of lookups in progress are discarded. */
    private volatile Map<Key, Entry> entries = new ConcurrentHashMap<>();

    RouteCache(LongSupplier clock) {
        this.clock = clock;
    }

    /**
     * Returns the source address of a route, from the cache or otherwise from the system.
     *
     * @param query queries the system; its exceptions are passed to the caller and not cached
     */
    InetAddress find(@Nullable InetAddress source, InetAddress destination, Supplier<InetAddress> query) {
        Key key = new Key(source, scope(source), destination, scope(destination));
        long now = clock.getAsLong();
        Map<Key, Entry> current = entries;
        Entry cached = current.get(key);
        if (cached != null && now - cached.atNanos < FRESH_NANOS) {
            return cached.source;
        }
        Entry updated = new Entry(query.get(), now);
        if (current.size() >= MAX_ENTRIES) {
            current.clear();
        }
        current.put(key, updated);
        return updated.source;
    }

    private static int scope(@Nullable InetAddress address) {
        return address instanceof Inet6Address six ? six.getScopeId() : 0;
    }

    int size() {
        return entries.size();
    }

    /** Clears the cache, so that the next lookup queries the system. */
    void clear() {
        entries = new ConcurrentHashMap<>();
    }
}
