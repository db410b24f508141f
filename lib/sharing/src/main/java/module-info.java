/**
 * One address, many processes: the owner of the port, its members, rings, slots, claims, takeover, and the end of a
 * process.
 */
@org.jspecify.annotations.NullMarked
@SuppressWarnings("module") // the modules above, to which the package is exported, are compiled later
module io.rdma4j.sharing {
    requires static org.jspecify;
    requires transitive io.rdma4j.link;
    requires transitive io.rdma4j.wire;

    exports io.rdma4j.sharing to
            io.rdma4j.soft,
            io.rdma4j.testkit;
}
