package io.rdma4j.cm;

/** The type of membership in a multicast group. C: {@code enum rdma_cm_mc_join_flags}. */
public enum MulticastJoinFlag {
    /** The identifier sends to the group and receives from it. C: {@code RDMA_MC_JOIN_FLAG_FULLMEMBER}. */
    FULL_MEMBER(0),
    /**
     * The identifier only sends to the group. The host does not become a member, and the queue pair is not attached. C:
     * {@code RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER}.
     */
    SEND_ONLY_FULL_MEMBER(1);

    private final int code;

    MulticastJoinFlag(int code) {
        this.code = code;
    }

    /** Returns the number in {@code enum rdma_cm_mc_join_flags}. */
    public int code() {
        return code;
    }
}
