package io.rdma4j.transport.cm;

/** What an agent has counted since its creation; plain fields, written by the agent's thread. */
public final class CmCounters {
    /** MADs given to the agent. */
    public long madsReceived;

    /** MADs handed out. */
    public long madsSent;

    /** REQ, REP and DREQ handed out again because no answer came. */
    public long retransmissions;

    /** MADs dropped because a length, version, class, method or field was wrong. */
    public long malformedDropped;

    /** MADs of a message that this agent does not serve. */
    public long unsupportedDropped;

    /** REQs dropped because they name another sender than the packet's source. */
    public long foreignRequestsDropped;

    /** Other messages dropped because they did not come from the connection's peer. */
    public long foreignMessagesDropped;

    /** Messages dropped because no connection has their communication IDs, or not in that state. */
    public long unmatchedDropped;

    /** DREQs ignored because they name another queue pair. */
    public long wrongQueuePairDropped;

    /** REQs of a connection that exists. */
    public long duplicateRequests;

    /** REPs of a connection that has taken one. */
    public long duplicateReplies;

    /** RTUs of an established connection. */
    public long duplicateReadyToUse;

    /** DREQs of a connection that has taken one. */
    public long duplicateDisconnectRequests;

    /** Connections found stale because the peer's queue pair asked again under a new communication ID. */
    public long staleConnections;

    /** REQs rejected because nobody listens on the service ID. */
    public long requestsWithoutListener;

    /** REQs rejected because no listener of the service ID wanted them. */
    public long requestsUnwanted;

    /** REQs rejected because of their P_Key or addresses. */
    public long requestsWithInvalidAddress;

    /** Requests dropped because their address sent too many in a short time. */
    public long rateLimitedRequests;

    /** Requests rejected because nothing of their address is served. */
    public long requestsRefused;

    /** REQs rejected because their address has as many connections as it may have. */
    public long requestsBeyondPeerLimit;

    /** REPs that were not repeated, since too many went to addresses that never answered one. */
    public long repetitionsSaved;

    /** REQs dropped because the backlog or the limit of half-open connections was reached. */
    public long backlogDropped;

    /** Answers not sent because too many MADs waited to be polled. */
    public long answersDropped;

    /** DREPs sent for connections that do not exist. */
    public long unknownDisconnectsAnswered;

    /** Connections that became established. */
    public long established;

    /** REJs sent. */
    public long rejectsSent;

    /** REJs received for a connection. */
    public long rejectsReceived;

    /** Connection attempts given up because the peer was silent. */
    public long unreachable;

    /** Connections whose peer died without a word. */
    public long lostPeers;

    /** Connections that another process of this host has left, and that are ended in its name. */
    public long orphans;

    /** Creates counters at zero. */
    CmCounters() {}
}
