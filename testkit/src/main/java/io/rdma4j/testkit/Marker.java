package io.rdma4j.testkit;

final class Marker {
    private Marker() {}
}
