package io.rdma4j.verbs;

import io.rdma4j.value.Gid;

/**
 * An entry of a GID table. C: {@code struct ibv_gid_entry}.
 *
 * @param gid the GID
 * @param index its index in the table
 * @param port the port, from 1
 * @param type packet format of the GID
 * @param networkInterfaceIndex index of the network interface that has the address
 */
public record GidEntry(Gid gid, int index, int port, Type type, int networkInterfaceIndex) {
    /** The packet formats. C: {@code enum ibv_gid_type}. */
    public enum Type {
        /** InfiniBand. */
        INFINIBAND(0),
        /** Ethernet frames with a separate EtherType. */
        ROCE_V1(1),
        /** UDP datagrams. */
        ROCE_V2(2);

        private final int code;

        Type(int code) {
            this.code = code;
        }

        /** Returns the numeric value of {@code ibv_gid_type}. */
        public int code() {
            return code;
        }
    }
}
