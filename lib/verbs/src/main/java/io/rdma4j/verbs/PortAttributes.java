package io.rdma4j.verbs;

import io.rdma4j.value.PathMtu;

/**
 * The attributes of a port at the time of the query. {@link DeviceContext#port} returns them; a provider creates them
 * with a {@link Builder}. C: {@code struct ibv_port_attr}. Immutable.
 */
public final class PortAttributes {
    private PortState state = PortState.DOWN;
    private PathMtu maxMtu = PathMtu.MTU_4096;
    private PathMtu activeMtu = PathMtu.MTU_256;
    private int gidTableLength;
    private int partitionKeyTableLength;
    private long maxMessageBytes;
    private int capabilityBits;
    private int capabilityBits2;
    private long partitionKeyViolations;
    private long queueKeyViolations;
    private LinkLayer linkLayer = LinkLayer.ETHERNET;
    private PhysicalPortState physicalState = PhysicalPortState.NONE;
    private int activeWidth = 1;
    private int activeSpeed = 1;
    private int maxVirtualLanes = 1;
    private int localIdentifier;
    private int localIdentifierMask;
    private int subnetManagerIdentifier;
    private int subnetManagerServiceLevel;
    private int subnetTimeout;
    private int initializationReply;
    private String networkInterface = "";

    private PortAttributes() {}

    /** Returns a builder for an Ethernet port that is down, with one lane of 2.5 Gbit/s. The other numbers are 0. */
    public static Builder builder() {
        return new Builder();
    }

    /** Returns the state. C: {@code ibv_port_attr.state}. */
    public PortState state() {
        return state;
    }

    /** Returns whether the port is up. */
    public boolean isActive() {
        return state == PortState.ACTIVE;
    }

    /** Returns the largest path MTU. C: {@code ibv_port_attr.max_mtu}. */
    public PathMtu maxMtu() {
        return maxMtu;
    }

    /**
     * Returns the largest path MTU that the network interface currently supports. C: {@code ibv_port_attr.active_mtu}.
     */
    public PathMtu activeMtu() {
        return activeMtu;
    }

    /** Returns the number of entries of the GID table. C: {@code ibv_port_attr.gid_tbl_len}. */
    public int gidTableLength() {
        return gidTableLength;
    }

    /** Returns the number of entries of the partition key table. C: {@code ibv_port_attr.pkey_tbl_len}. */
    public int partitionKeyTableLength() {
        return partitionKeyTableLength;
    }

    /** Returns the maximum length of a message in bytes. C: {@code ibv_port_attr.max_msg_sz}. */
    public long maxMessageBytes() {
        return maxMessageBytes;
    }

    /**
     * Returns the optional features of the port as bits of {@code enum ibv_port_cap_flags}. Most bits are for
     * InfiniBand; a RoCE port has {@code IBV_PORT_CM_SUP}, 0x10000. C: {@code ibv_port_attr.port_cap_flags}.
     */
    public int capabilityBits() {
        return capabilityBits;
    }

    /**
     * Returns further optional features of the port, as bits of {@code enum ibv_port_cap_flags2}. C: {@code
     * ibv_port_attr.port_cap_flags2}.
     */
    public int capabilityBits2() {
        return capabilityBits2;
    }

    /**
     * Returns the number of packets that were dropped because they belong to another partition. A software device
     * counts the packets of this process. C: {@code ibv_port_attr.bad_pkey_cntr}.
     */
    public long partitionKeyViolations() {
        return partitionKeyViolations;
    }

    /**
     * Returns the number of datagrams that were dropped because of a wrong queue key. A software device counts the
     * datagrams of this process. C: {@code ibv_port_attr.qkey_viol_cntr}.
     */
    public long queueKeyViolations() {
        return queueKeyViolations;
    }

    /** Returns the kind of link. C: {@code ibv_port_attr.link_layer}. */
    public LinkLayer linkLayer() {
        return linkLayer;
    }

    /** Returns the state of the physical link. C: {@code ibv_port_attr.phys_state}. */
    public PhysicalPortState physicalState() {
        return physicalState;
    }

    /**
     * Returns the number of lanes as a code. 1 means 1 lane, 2 means 4, 4 means 8, 8 means 12, and 16 means 2. C:
     * {@code ibv_port_attr.active_width}.
     */
    public int activeWidth() {
        return activeWidth;
    }

    /**
     * Returns the speed of a lane as a code. 1 means 2.5 Gbit/s, 2 means 5, 4 and 8 mean 10, 16 means 14, 32 means 25,
     * 64 means 50, 128 means 100, and 256 means 200. C: {@code ibv_port_attr.active_speed}.
     */
    public int activeSpeed() {
        return activeSpeed;
    }

    /**
     * Returns the speed of the port in Mbit/s: the number of lanes times their speed. A software device rounds the
     * speed of its network interface to one of these codes, like Linux. It returns 2500 if the speed is unknown.
     */
    public int megabitsPerSecond() {
        int lanes = switch (activeWidth) {
            case 2 -> 4;
            case 4 -> 8;
            case 8 -> 12;
            case 16 -> 2;
            default -> 1;
        };
        int lane = switch (activeSpeed) {
            case 2 -> 5_000;
            case 4, 8 -> 10_000;
            case 16 -> 14_000;
            case 32 -> 25_000;
            case 64 -> 50_000;
            case 128 -> 100_000;
            case 256 -> 200_000;
            default -> 2_500;
        };
        return lanes * lane;
    }

    /**
     * Returns the number of virtual lanes as a code. 1 means 1 lane, 2 means 2, 3 means 4, 4 means 8, and 5 means 15.
     * Ethernet has one. C: {@code ibv_port_attr.max_vl_num}.
     */
    public int maxVirtualLanes() {
        return maxVirtualLanes;
    }

    /** Returns the local identifier of an InfiniBand port, otherwise 0. C: {@code ibv_port_attr.lid}. */
    public int localIdentifier() {
        return localIdentifier;
    }

    /**
     * Returns the number of low bits of an InfiniBand port's local identifier that select a path, otherwise 0. C:
     * {@code ibv_port_attr.lmc}.
     */
    public int localIdentifierMask() {
        return localIdentifierMask;
    }

    /** Returns the local identifier of the InfiniBand subnet manager, otherwise 0. C: {@code ibv_port_attr.sm_lid}. */
    public int subnetManagerIdentifier() {
        return subnetManagerIdentifier;
    }

    /** Returns the service level of the InfiniBand subnet manager, otherwise 0. C: {@code ibv_port_attr.sm_sl}. */
    public int subnetManagerServiceLevel() {
        return subnetManagerServiceLevel;
    }

    /**
     * Returns the exponent n of the maximum delay of the InfiniBand subnet, 4.096 µs × 2<sup>n</sup>, otherwise 0. C:
     * {@code ibv_port_attr.subnet_timeout}.
     */
    public int subnetTimeout() {
        return subnetTimeout;
    }

    /**
     * Returns the kind of initialization that the InfiniBand subnet manager performed, otherwise 0. C: {@code
     * ibv_port_attr.init_type_reply}.
     */
    public int initializationReply() {
        return initializationReply;
    }

    /** Returns the name of the network interface; empty if the port has none. */
    public String networkInterface() {
        return networkInterface;
    }

    /** Builds the attributes. Not thread safe. */
    public static final class Builder {
        private PortAttributes attributes = new PortAttributes();

        private Builder() {}

        /** Sets the state. */
        public Builder state(PortState value) {
            attributes.state = value;
            return this;
        }

        /** Sets the largest path MTU. */
        public Builder maxMtu(PathMtu value) {
            attributes.maxMtu = value;
            return this;
        }

        /** Sets the largest path MTU that the network interface currently supports. */
        public Builder activeMtu(PathMtu value) {
            attributes.activeMtu = value;
            return this;
        }

        /** Sets the number of entries of the GID table. */
        public Builder gidTableLength(int value) {
            attributes.gidTableLength = value;
            return this;
        }

        /** Sets the number of entries of the partition key table. */
        public Builder partitionKeyTableLength(int value) {
            attributes.partitionKeyTableLength = value;
            return this;
        }

        /** Sets the maximum length of a message in bytes. */
        public Builder maxMessageBytes(long value) {
            attributes.maxMessageBytes = value;
            return this;
        }

        /**
         * Sets the optional features of the port as bits of {@code enum ibv_port_cap_flags}. Most bits are for
         * InfiniBand; a RoCE port has {@code IBV_PORT_CM_SUP}, 0x10000.
         */
        public Builder capabilityBits(int value) {
            attributes.capabilityBits = value;
            return this;
        }

        /** Sets further optional features of the port, as bits of {@code enum ibv_port_cap_flags2}. */
        public Builder capabilityBits2(int value) {
            attributes.capabilityBits2 = value;
            return this;
        }

        /** Sets the number of packets that were dropped because they belong to another partition. */
        public Builder partitionKeyViolations(long value) {
            attributes.partitionKeyViolations = value;
            return this;
        }

        /** Sets the number of datagrams that were dropped because of a wrong queue key. */
        public Builder queueKeyViolations(long value) {
            attributes.queueKeyViolations = value;
            return this;
        }

        /** Sets the kind of link. */
        public Builder linkLayer(LinkLayer value) {
            attributes.linkLayer = value;
            return this;
        }

        /** Sets the state of the physical link. */
        public Builder physicalState(PhysicalPortState value) {
            attributes.physicalState = value;
            return this;
        }

        /** Sets the number of lanes as a code. 1 means 1 lane, 2 means 4, 4 means 8, 8 means 12, and 16 means 2. */
        public Builder activeWidth(int value) {
            attributes.activeWidth = value;
            return this;
        }

        /**
         * Sets the speed of a lane as a code. 1 means 2.5 Gbit/s, 2 means 5, 4 and 8 mean 10, 16 means 14, 32 means 25,
         * 64 means 50, 128 means 100, and 256 means 200.
         */
        public Builder activeSpeed(int value) {
            attributes.activeSpeed = value;
            return this;
        }

        /**
         * Sets the number of virtual lanes as a code. 1 means 1 lane, 2 means 2, 3 means 4, 4 means 8, and 5 means 15.
         * Ethernet has one.
         */
        public Builder maxVirtualLanes(int value) {
            attributes.maxVirtualLanes = value;
            return this;
        }

        /** Sets the local identifier of an InfiniBand port, otherwise 0. */
        public Builder localIdentifier(int value) {
            attributes.localIdentifier = value;
            return this;
        }

        /** Sets the number of low bits of an InfiniBand port's local identifier that select a path, otherwise 0. */
        public Builder localIdentifierMask(int value) {
            attributes.localIdentifierMask = value;
            return this;
        }

        /** Sets the local identifier of the InfiniBand subnet manager; 0 if there is none. */
        public Builder subnetManagerIdentifier(int value) {
            attributes.subnetManagerIdentifier = value;
            return this;
        }

        /** Sets the service level of the InfiniBand subnet manager, otherwise 0. */
        public Builder subnetManagerServiceLevel(int value) {
            attributes.subnetManagerServiceLevel = value;
            return this;
        }

        /** Sets the exponent n of the maximum delay of the InfiniBand subnet, 4.096 µs × 2<sup>n</sup>, otherwise 0. */
        public Builder subnetTimeout(int value) {
            attributes.subnetTimeout = value;
            return this;
        }

        /** Sets the kind of initialization that the InfiniBand subnet manager performed, otherwise 0. */
        public Builder initializationReply(int value) {
            attributes.initializationReply = value;
            return this;
        }

        /** Sets the name of the network interface; empty if the port has none. */
        public Builder networkInterface(String value) {
            attributes.networkInterface = value;
            return this;
        }

        /** Returns the attributes, and resets the builder. */
        public PortAttributes build() {
            PortAttributes built = attributes;
            attributes = new PortAttributes();
            return built;
        }
    }
}
