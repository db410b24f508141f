package io.rdma4j.verbs;

final class Marker {
    private Marker() {}
}
