package io.rdma4j.sockets.io;

import io.rdma4j.cm.RoutePath;
import io.rdma4j.sockets.stream.StreamSizes;
import org.jspecify.annotations.Nullable;

/**
 * What an endpoint is set to, before and while it is connected. Immutable.
 *
 * @param sizes of the connections to come
 * @param reuseAddress whether others may have the port too
 * @param ipv6Only whether an IPv6 wildcard leaves IPv4 alone
 * @param typeOfService IPv4 type of service or IPv6 traffic class
 * @param keepAliveSeconds how often a sign of life is sent; 0 for never
 * @param route path of the connections to come; null for the one that the host takes
 */
public record StreamSettings(
        StreamSizes sizes,
        boolean reuseAddress,
        boolean ipv6Only,
        int typeOfService,
        int keepAliveSeconds,
        @Nullable RoutePath route) {
    /** What librdmacm begins with. */
    public static final StreamSettings DEFAULT = new StreamSettings(StreamSizes.DEFAULT, false, false, 0, 0, null);

    /** The same with other sizes. */
    public StreamSettings withSizes(StreamSizes value) {
        return new StreamSettings(value, reuseAddress, ipv6Only, typeOfService, keepAliveSeconds, route);
    }

    /** The same with another word on sharing the port. */
    public StreamSettings withReuseAddress(boolean value) {
        return new StreamSettings(sizes, value, ipv6Only, typeOfService, keepAliveSeconds, route);
    }

    /** The same with another word on IPv4. */
    public StreamSettings withIpv6Only(boolean value) {
        return new StreamSettings(sizes, reuseAddress, value, typeOfService, keepAliveSeconds, route);
    }

    /** The same with another type of service. */
    public StreamSettings withTypeOfService(int value) {
        return new StreamSettings(sizes, reuseAddress, ipv6Only, value, keepAliveSeconds, route);
    }

    /** The same with another interval of signs of life. */
    public StreamSettings withKeepAliveSeconds(int value) {
        return new StreamSettings(sizes, reuseAddress, ipv6Only, typeOfService, value, route);
    }

    /** The same with another path. */
    public StreamSettings withRoute(RoutePath value) {
        return new StreamSettings(sizes, reuseAddress, ipv6Only, typeOfService, keepAliveSeconds, value);
    }
}
