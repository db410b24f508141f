package io.rdma4j.verbs.abi;

import io.rdma4j.value.PathMtu;
import io.rdma4j.verbs.LinkLayer;
import io.rdma4j.verbs.PhysicalPortState;
import io.rdma4j.verbs.PortAttributes;
import io.rdma4j.verbs.PortState;
import io.rdma4j.verbs.abi.VerbsStructures.PortFields;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.function.ToIntFunction;

/** Reads and writes the attributes of a port in a C structure. */
public final class PortCodec {
    private static final long UNSIGNED = 0xffff_ffffL;

    /** The highest speed that the old field of eight bits can represent. */
    private static final int HIGHEST_SPEED = 1 << 7;

    private PortCodec() {}

    /** Reads the attributes of a port. The C structure lacks the network interface, which is a parameter. */
    public static PortAttributes read(MemorySegment from, String networkInterface) {
        PortAttributes.Builder attributes = PortAttributes.builder();
        addInfinibandAttributes(from, attributes);
        int speed = Fields.intAt(from, PortFields.ACTIVE_SPEED_EXTENDED);
        return attributes
                .state(ofCode(
                        PortState.values(), PortState::code, Fields.intAt(from, PortFields.STATE), PortState.DOWN))
                .maxMtu(mtu(from, PortFields.MAX_MTU))
                .activeMtu(mtu(from, PortFields.ACTIVE_MTU))
                .gidTableLength(Fields.intAt(from, PortFields.GID_TABLE_LENGTH))
                .partitionKeyTableLength(Fields.shortAt(from, PortFields.PARTITION_KEY_TABLE_LENGTH))
                .maxMessageBytes(Fields.intAt(from, PortFields.MAX_MESSAGE_BYTES) & UNSIGNED)
                .capabilityBits(Fields.intAt(from, PortFields.CAPABILITIES))
                .capabilityBits2(Fields.shortAt(from, PortFields.CAPABILITIES_2))
                .partitionKeyViolations(Fields.intAt(from, PortFields.PARTITION_KEY_VIOLATIONS) & UNSIGNED)
                .queueKeyViolations(Fields.intAt(from, PortFields.QUEUE_KEY_VIOLATIONS) & UNSIGNED)
                .linkLayer(ofCode(
                        LinkLayer.values(),
                        LinkLayer::code,
                        Fields.byteAt(from, PortFields.LINK_LAYER),
                        LinkLayer.UNSPECIFIED))
                .physicalState(ofCode(
                        PhysicalPortState.values(),
                        PhysicalPortState::code,
                        Fields.byteAt(from, PortFields.PHYSICAL_STATE),
                        PhysicalPortState.NONE))
                .activeWidth(Fields.byteAt(from, PortFields.ACTIVE_WIDTH))
                .activeSpeed(speed != 0 ? speed : Fields.byteAt(from, PortFields.ACTIVE_SPEED))
                .networkInterface(networkInterface)
                .build();
    }

    /** Writes the attributes of a port into zeroed memory of {@link PortFields#MAX_BYTES} bytes. */
    public static void write(MemorySegment to, PortAttributes attributes) {
        Fields.putInt(to, PortFields.STATE, attributes.state().code());
        Fields.putInt(to, PortFields.MAX_MTU, attributes.maxMtu().code());
        Fields.putInt(to, PortFields.ACTIVE_MTU, attributes.activeMtu().code());
        Fields.putInt(to, PortFields.GID_TABLE_LENGTH, attributes.gidTableLength());
        Fields.putShort(to, PortFields.PARTITION_KEY_TABLE_LENGTH, attributes.partitionKeyTableLength());
        Fields.putInt(to, PortFields.MAX_MESSAGE_BYTES, (int) Math.min(UNSIGNED, attributes.maxMessageBytes()));
        Fields.putInt(to, PortFields.CAPABILITIES, attributes.capabilityBits());
        Fields.putShort(to, PortFields.CAPABILITIES_2, attributes.capabilityBits2());
        Fields.putInt(to, PortFields.PARTITION_KEY_VIOLATIONS, (int) attributes.partitionKeyViolations());
        Fields.putInt(to, PortFields.QUEUE_KEY_VIOLATIONS, (int) attributes.queueKeyViolations());
        Fields.putByte(to, PortFields.LINK_LAYER, attributes.linkLayer().code());
        Fields.putByte(to, PortFields.PHYSICAL_STATE, attributes.physicalState().code());
        Fields.putByte(to, PortFields.ACTIVE_WIDTH, attributes.activeWidth());
        Fields.putByte(to, PortFields.ACTIVE_SPEED, Math.min(HIGHEST_SPEED, attributes.activeSpeed()));
        Fields.putInt(to, PortFields.ACTIVE_SPEED_EXTENDED, attributes.activeSpeed());
        Fields.putByte(to, PortFields.MAX_VIRTUAL_LANES, attributes.maxVirtualLanes());
        Fields.putShort(to, PortFields.LID, attributes.localIdentifier());
        Fields.putByte(to, PortFields.LOCAL_IDENTIFIER_MASK, attributes.localIdentifierMask());
        Fields.putShort(to, PortFields.SUBNET_MANAGER_IDENTIFIER, attributes.subnetManagerIdentifier());
        Fields.putByte(to, PortFields.SUBNET_MANAGER_SERVICE_LEVEL, attributes.subnetManagerServiceLevel());
        Fields.putByte(to, PortFields.SUBNET_TIMEOUT, attributes.subnetTimeout());
        Fields.putByte(to, PortFields.INITIALIZATION_REPLY, attributes.initializationReply());
    }

    private static void addInfinibandAttributes(MemorySegment from, PortAttributes.Builder attributes) {
        attributes
                .maxVirtualLanes(Fields.byteAt(from, PortFields.MAX_VIRTUAL_LANES))
                .localIdentifier(Fields.shortAt(from, PortFields.LID))
                .localIdentifierMask(Fields.byteAt(from, PortFields.LOCAL_IDENTIFIER_MASK))
                .subnetManagerIdentifier(Fields.shortAt(from, PortFields.SUBNET_MANAGER_IDENTIFIER))
                .subnetManagerServiceLevel(Fields.byteAt(from, PortFields.SUBNET_MANAGER_SERVICE_LEVEL))
                .subnetTimeout(Fields.byteAt(from, PortFields.SUBNET_TIMEOUT))
                .initializationReply(Fields.byteAt(from, PortFields.INITIALIZATION_REPLY));
    }

    private static <T> T ofCode(T[] values, ToIntFunction<T> codes, int code, T otherwise) {
        return Arrays.stream(values)
                .filter(each -> codes.applyAsInt(each) == code)
                .findFirst()
                .orElse(otherwise);
    }

    private static PathMtu mtu(MemorySegment from, int at) {
        int code = Fields.intAt(from, at);
        return code >= PathMtu.MTU_256.code() && code <= PathMtu.MTU_4096.code()
                ? PathMtu.ofCode(code)
                : PathMtu.MTU_1024;
    }
}
