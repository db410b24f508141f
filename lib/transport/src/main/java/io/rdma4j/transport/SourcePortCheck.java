package io.rdma4j.transport;

/**
 * How a connection treats packets that have the peer's address but not the peer's UDP source port. The port is learned
 * from the first packet in sequence. An attacker who knows the addresses, the queue pair number and the PSN can forge
 * the rest of a packet, but needs privileges to send from that port (decision 025).
 */
public enum SourcePortCheck {
    /** Accepts them without counting them. */
    OFF,
    /** Accepts and counts them: for peers that may change the port, as some NICs do to spread packets over paths. */
    COUNT,
    /** Drops and counts them: for peers that keep their port for the lifetime of the connection. */
    ENFORCE
}
