/**
 * The values that the protocol and the API have in common, which are exported to all, and codecs of RoCEv2 frames, InfiniBand CM
 * messages and their ICRC: no I/O, no clock, no thread.
 */
@org.jspecify.annotations.NullMarked
@SuppressWarnings("module") // the modules above, to which packages are exported, are compiled later
module io.rdma4j.wire {
    requires static org.jspecify;

    exports io.rdma4j.value;
    exports io.rdma4j.wire to
            io.rdma4j.link,
            io.rdma4j.sharing,
            io.rdma4j.simulator,
            io.rdma4j.soft,
            io.rdma4j.testkit,
            io.rdma4j.tools,
            io.rdma4j.transport;
    exports io.rdma4j.wire.cm to
            io.rdma4j.sharing,
            io.rdma4j.simulator,
            io.rdma4j.soft,
            io.rdma4j.transport;
    exports io.rdma4j.wire.dissector to
            io.rdma4j.link,
            io.rdma4j.simulator;
    exports io.rdma4j.wire.rsocket to
            io.rdma4j.simulator,
            io.rdma4j.sockets;
}
