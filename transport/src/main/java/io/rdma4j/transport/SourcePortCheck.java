package io.rdma4j.transport;

/**
 * What a connection does with packets that come from the right address but from another UDP port than its peer's, which it
 * learns from the first packet in sequence. Who knows addresses, queue pair number and PSN can put the rest into a packet, but
 * needs the right to send from that port, too.
 */
public enum SourcePortCheck {
    /** Takes them without a word. */
    OFF,
    /** Takes and counts them: for peers that may change the port, as some cards do to spread packets over paths. */
    COUNT,
    /** Drops and counts them: for peers that keep their port as long as the connection lasts. */
    ENFORCE
}
