package io.rdma4j.tools;

final class Marker {
    private Marker() {}
}
