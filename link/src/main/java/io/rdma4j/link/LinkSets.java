package io.rdma4j.link;

import io.rdma4j.link.nio.NioLinkSet;
import java.io.IOException;

/** Makes link sets: {@code nio} works everywhere. */
public final class LinkSets {
    /** System property that names the kind of link set to use: {@code nio} or {@code linux}. */
    public static final String KIND_PROPERTY = "rdma4j.link";

    private LinkSets() {}

    /**
     * Opens the portable link set, on NIO.
     *
     * @throws IOException if the system gives no selector
     */
    public static LinkSet portable() throws IOException {
        return new NioLinkSet();
    }

    /**
     * Opens a link set of one kind.
     *
     * @param kind {@code nio}
     * @throws IllegalArgumentException if there is no such kind
     * @throws IOException if the system does not allow it
     */
    public static LinkSet open(String kind) throws IOException {
        return switch (kind) {
            case "nio" -> portable();
            default -> throw new IllegalArgumentException("link kind '" + kind + "': must be nio");
        };
    }

    /**
     * Opens the best link set there is, or the one that {@value #KIND_PROPERTY} names.
     *
     * @throws IllegalArgumentException if the property names no kind
     * @throws IOException if the system does not allow it
     */
    public static LinkSet best() throws IOException {
        String kind = System.getProperty(KIND_PROPERTY);
        return kind == null ? portable() : open(kind);
    }
}
