/** Codecs of RoCEv2 frames, InfiniBand CM messages and their ICRC: no I/O, no clock, no thread. */
@org.jspecify.annotations.NullMarked
module io.rdma4j.wire {
    requires static org.jspecify;

    exports io.rdma4j.wire;
    exports io.rdma4j.wire.cm;
    exports io.rdma4j.wire.dissector;
    exports io.rdma4j.wire.rsocket;
}
