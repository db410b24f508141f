package io.rdma4j.cm;

/** What an identifier wants of a multicast group. C: {@code enum rdma_cm_mc_join_flags}. */
public enum MulticastJoinFlag {
    /** To send to the group and to receive what is sent to it. C: {@code RDMA_MC_JOIN_FLAG_FULLMEMBER}. */
    FULL_MEMBER(0),
    /**
     * To send to the group only: the host does not become a member of it, and the queue pair is not attached. C: {@code
     * RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER}.
     */
    SEND_ONLY_FULL_MEMBER(1);

    private final int code;

    MulticastJoinFlag(int code) {
        this.code = code;
    }

    /** The number of {@code enum rdma_cm_mc_join_flags}. */
    public int code() {
        return code;
    }
}
