package io.rdma4j.soft;

final class Marker {
    private Marker() {}
}
