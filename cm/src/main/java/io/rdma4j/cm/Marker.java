package io.rdma4j.cm;

final class Marker {
    private Marker() {}
}
