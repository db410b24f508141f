package io.rdma4j.transport.cm;

/** Event counters of an agent since its creation; plain fields, written by the agent's thread. */
public final class CmCounters {
    /** MADs passed to the agent. */
    public long madsReceived;

    /** MADs returned by {@link CmAgent#pollTransmit}. */
    public long madsSent;

    /** Retransmitted REQs, REPs, DREQs and SIDR_REQs. */
    public long retransmissions;

    /** MADs dropped because of an invalid length, version, class, method or field. */
    public long malformedDropped;

    /** MADs dropped because the agent does not support the message. */
    public long unsupportedDropped;

    /** REQs dropped because they name another sender than the packet's source address. */
    public long foreignRequestsDropped;

    /** Other messages dropped because they did not come from the connection's peer. */
    public long foreignMessagesDropped;

    /** Messages dropped because nothing matches their IDs, or the state of the connection does not expect them. */
    public long unmatchedDropped;

    /** DREQs dropped because they name another queue pair. */
    public long wrongQueuePairDropped;

    /** REQs of an existing connection, and SIDR_REQs received before. */
    public long duplicateRequests;

    /** REPs of a connection that has already received one. */
    public long duplicateReplies;

    /** RTUs of an established connection. */
    public long duplicateReadyToUse;

    /** DREQs of a connection that has already received one. */
    public long duplicateDisconnectRequests;

    /** Connections found stale because the peer's queue pair sent a request with a new communication ID. */
    public long staleConnections;

    /** REQs and SIDR_REQs rejected because the service ID has no listener. */
    public long requestsWithoutListener;

    /** REQs and SIDR_REQs rejected because no listener of the service ID accepted them. */
    public long requestsNotMatched;

    /** REQs rejected because of their P_Key or addresses. */
    public long requestsWithInvalidAddress;

    /** Requests dropped because their address exceeded the request rate. */
    public long rateLimitedRequests;

    /** Requests rejected because the {@link RequestGate} refused their address. */
    public long requestsRefused;

    /** REQs rejected because their address has reached its connection limit. */
    public long requestsBeyondPeerLimit;

    /** REP retransmissions suppressed because too many went to addresses that never answered one. */
    public long retransmissionsSuppressed;

    /** Requests dropped because the backlog or the limit of half-open connections was reached. */
    public long backlogDropped;

    /** Requests that their peers had withdrawn, discarded to make room for others. */
    public long withdrawnDiscarded;

    /** Responses dropped because too many MADs were pending. */
    public long responsesDropped;

    /** DREPs sent for unknown connections. */
    public long unknownDisconnectsAnswered;

    /** Connections that became established. */
    public long established;

    /** REJs sent, and SIDR_REQs rejected by the agent itself. */
    public long rejectsSent;

    /** REJs received for a connection. */
    public long rejectsReceived;

    /** Connection attempts and service resolutions that failed because the peer did not answer. */
    public long unreachable;

    /** Connections whose peer was reported lost without a DREQ. */
    public long lostPeers;

    /** Connections of exited processes of this host that are disconnected on their behalf. */
    public long abandonedConnections;

    /** Creates counters at zero. */
    CmCounters() {}
}
