package io.rdma4j.link;

final class Marker {
    private Marker() {}
}
