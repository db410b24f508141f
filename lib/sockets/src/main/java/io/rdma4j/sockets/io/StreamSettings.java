package io.rdma4j.sockets.io;

import io.rdma4j.cm.RoutePath;
import io.rdma4j.sockets.stream.BufferLimits;
import io.rdma4j.sockets.stream.StreamSizes;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a stream endpoint. Immutable.
 *
 * @param sizes the sizes of later connections
 * @param limits the sizes to which the buffers of later connections grow
 * @param reuseAddress true if other sockets may use the port
 * @param ipv6Only true if an IPv6 wildcard excludes IPv4
 * @param typeOfService IPv4 type of service or IPv6 traffic class
 * @param keepAlive the times of keep-alives
 * @param route the path of later connections; null for the one that the host chooses
 */
public record StreamSettings(
        StreamSizes sizes,
        BufferLimits limits,
        boolean reuseAddress,
        boolean ipv6Only,
        int typeOfService,
        KeepAliveTimes keepAlive,
        @Nullable RoutePath route) {
    /** The defaults of librdmacm, with buffers that grow. */
    public static final StreamSettings DEFAULT =
            new StreamSettings(DefaultSizes.SIZES, DefaultSizes.LIMITS, false, false, 0, KeepAliveTimes.NONE, null);

    /** Returns these settings with other sizes. */
    public StreamSettings withSizes(StreamSizes value) {
        return new StreamSettings(value, limits, reuseAddress, ipv6Only, typeOfService, keepAlive, route);
    }

    /** Returns these settings with other limits of the buffers. */
    public StreamSettings withLimits(BufferLimits value) {
        return new StreamSettings(sizes, value, reuseAddress, ipv6Only, typeOfService, keepAlive, route);
    }

    /** Returns these settings with another {@code reuseAddress}. */
    public StreamSettings withReuseAddress(boolean value) {
        return new StreamSettings(sizes, limits, value, ipv6Only, typeOfService, keepAlive, route);
    }

    /** Returns these settings with another {@code ipv6Only}. */
    public StreamSettings withIpv6Only(boolean value) {
        return new StreamSettings(sizes, limits, reuseAddress, value, typeOfService, keepAlive, route);
    }

    /** Returns these settings with another type of service. */
    public StreamSettings withTypeOfService(int value) {
        return new StreamSettings(sizes, limits, reuseAddress, ipv6Only, value, keepAlive, route);
    }

    /** Returns these settings with other times of keep-alives. */
    public StreamSettings withKeepAlive(KeepAliveTimes value) {
        return new StreamSettings(sizes, limits, reuseAddress, ipv6Only, typeOfService, value, route);
    }

    /** Returns these settings with another path. */
    public StreamSettings withRoute(RoutePath value) {
        return new StreamSettings(sizes, limits, reuseAddress, ipv6Only, typeOfService, keepAlive, value);
    }
}
