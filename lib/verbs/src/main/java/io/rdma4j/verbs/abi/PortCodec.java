package io.rdma4j.verbs.abi;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import io.rdma4j.value.PathMtu;
import io.rdma4j.verbs.LinkLayer;
import io.rdma4j.verbs.PhysicalPortState;
import io.rdma4j.verbs.PortAttributes;
import io.rdma4j.verbs.PortState;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.function.ToIntFunction;

/** Reads and writes the attributes of a port in a C structure. */
public final class PortCodec {
    private static final int BYTE = 0xff;
    private static final int SHORT = 0xffff;
    private static final long UNSIGNED = 0xffff_ffffL;

    /** The highest speed that the old field of eight bits can represent. */
    private static final int HIGHEST_SPEED = 1 << 7;

    private PortCodec() {}

    /** Reads the attributes of a port. The C structure lacks the network interface, which is a parameter. */
    public static PortAttributes read(MemorySegment from, String networkInterface) {
        PortAttributes.Builder attributes = PortAttributes.builder();
        addInfinibandAttributes(from, attributes);
        int speed = from.get(JAVA_INT_UNALIGNED, PortFields.ACTIVE_SPEED_EXTENDED);
        return attributes
                .state(ofCode(
                        PortState.values(),
                        PortState::code,
                        from.get(JAVA_INT_UNALIGNED, PortFields.STATE),
                        PortState.DOWN))
                .maxMtu(mtu(from, PortFields.MAX_MTU))
                .activeMtu(mtu(from, PortFields.ACTIVE_MTU))
                .gidTableLength(from.get(JAVA_INT_UNALIGNED, PortFields.GID_TABLE_LENGTH))
                .partitionKeyTableLength(shortAt(from, PortFields.PARTITION_KEY_TABLE_LENGTH))
                .maxMessageBytes(from.get(JAVA_INT_UNALIGNED, PortFields.MAX_MESSAGE_BYTES) & UNSIGNED)
                .capabilityBits(from.get(JAVA_INT_UNALIGNED, PortFields.CAPABILITIES))
                .capabilityBits2(shortAt(from, PortFields.CAPABILITIES_2))
                .partitionKeyViolations(from.get(JAVA_INT_UNALIGNED, PortFields.PARTITION_KEY_VIOLATIONS) & UNSIGNED)
                .queueKeyViolations(from.get(JAVA_INT_UNALIGNED, PortFields.QUEUE_KEY_VIOLATIONS) & UNSIGNED)
                .linkLayer(ofCode(
                        LinkLayer.values(),
                        LinkLayer::code,
                        byteAt(from, PortFields.LINK_LAYER),
                        LinkLayer.UNSPECIFIED))
                .physicalState(ofCode(
                        PhysicalPortState.values(),
                        PhysicalPortState::code,
                        byteAt(from, PortFields.PHYSICAL_STATE),
                        PhysicalPortState.NONE))
                .activeWidth(byteAt(from, PortFields.ACTIVE_WIDTH))
                .activeSpeed(speed != 0 ? speed : byteAt(from, PortFields.ACTIVE_SPEED))
                .networkInterface(networkInterface)
                .build();
    }

    /** Writes the attributes of a port into zeroed memory of {@link PortFields#MAX_BYTES} bytes. */
    public static void write(MemorySegment to, PortAttributes attributes) {
        to.set(JAVA_INT_UNALIGNED, PortFields.STATE, attributes.state().code());
        to.set(JAVA_INT_UNALIGNED, PortFields.MAX_MTU, attributes.maxMtu().code());
        to.set(JAVA_INT_UNALIGNED, PortFields.ACTIVE_MTU, attributes.activeMtu().code());
        to.set(JAVA_INT_UNALIGNED, PortFields.GID_TABLE_LENGTH, attributes.gidTableLength());
        putShort(to, PortFields.PARTITION_KEY_TABLE_LENGTH, attributes.partitionKeyTableLength());
        to.set(JAVA_INT_UNALIGNED, PortFields.MAX_MESSAGE_BYTES, (int)
                Math.min(UNSIGNED, attributes.maxMessageBytes()));
        to.set(JAVA_INT_UNALIGNED, PortFields.CAPABILITIES, attributes.capabilityBits());
        putShort(to, PortFields.CAPABILITIES_2, attributes.capabilityBits2());
        to.set(JAVA_INT_UNALIGNED, PortFields.PARTITION_KEY_VIOLATIONS, (int) attributes.partitionKeyViolations());
        to.set(JAVA_INT_UNALIGNED, PortFields.QUEUE_KEY_VIOLATIONS, (int) attributes.queueKeyViolations());
        putByte(to, PortFields.LINK_LAYER, attributes.linkLayer().code());
        putByte(to, PortFields.PHYSICAL_STATE, attributes.physicalState().code());
        putByte(to, PortFields.ACTIVE_WIDTH, attributes.activeWidth());
        putByte(to, PortFields.ACTIVE_SPEED, Math.min(HIGHEST_SPEED, attributes.activeSpeed()));
        to.set(JAVA_INT_UNALIGNED, PortFields.ACTIVE_SPEED_EXTENDED, attributes.activeSpeed());
        putByte(to, PortFields.MAX_VIRTUAL_LANES, attributes.maxVirtualLanes());
        putShort(to, PortFields.LID, attributes.localIdentifier());
        putByte(to, PortFields.LOCAL_IDENTIFIER_MASK, attributes.localIdentifierMask());
        putShort(to, PortFields.SUBNET_MANAGER_IDENTIFIER, attributes.subnetManagerIdentifier());
        putByte(to, PortFields.SUBNET_MANAGER_SERVICE_LEVEL, attributes.subnetManagerServiceLevel());
        putByte(to, PortFields.SUBNET_TIMEOUT, attributes.subnetTimeout());
        putByte(to, PortFields.INITIALIZATION_REPLY, attributes.initializationReply());
    }

    private static void putByte(MemorySegment to, int at, int value) {
        to.set(JAVA_BYTE, at, (byte) value);
    }

    private static void putShort(MemorySegment to, int at, int value) {
        to.set(JAVA_SHORT_UNALIGNED, at, (short) value);
    }

    private static void addInfinibandAttributes(MemorySegment from, PortAttributes.Builder attributes) {
        attributes
                .maxVirtualLanes(byteAt(from, PortFields.MAX_VIRTUAL_LANES))
                .localIdentifier(shortAt(from, PortFields.LID))
                .localIdentifierMask(byteAt(from, PortFields.LOCAL_IDENTIFIER_MASK))
                .subnetManagerIdentifier(shortAt(from, PortFields.SUBNET_MANAGER_IDENTIFIER))
                .subnetManagerServiceLevel(byteAt(from, PortFields.SUBNET_MANAGER_SERVICE_LEVEL))
                .subnetTimeout(byteAt(from, PortFields.SUBNET_TIMEOUT))
                .initializationReply(byteAt(from, PortFields.INITIALIZATION_REPLY));
    }

    private static <T> T ofCode(T[] values, ToIntFunction<T> codes, int code, T otherwise) {
        return Arrays.stream(values)
                .filter(each -> codes.applyAsInt(each) == code)
                .findFirst()
                .orElse(otherwise);
    }

    private static int byteAt(MemorySegment from, int at) {
        return from.get(JAVA_BYTE, at) & BYTE;
    }

    private static int shortAt(MemorySegment from, int at) {
        return from.get(JAVA_SHORT_UNALIGNED, at) & SHORT;
    }

    private static PathMtu mtu(MemorySegment from, int at) {
        int code = from.get(JAVA_INT_UNALIGNED, at);
        return code >= PathMtu.MTU_256.code() && code <= PathMtu.MTU_4096.code()
                ? PathMtu.ofCode(code)
                : PathMtu.MTU_1024;
    }
}
