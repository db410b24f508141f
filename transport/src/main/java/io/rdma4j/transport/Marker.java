package io.rdma4j.transport;

final class Marker {
    private Marker() {}
}
