package io.rdma4j.hardware.cm;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.ConnectionEnhancement;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.DatagramParameters;
import io.rdma4j.cm.abi.CmStructures.DatagramService;
import io.rdma4j.cm.abi.CmStructures.Event;
import io.rdma4j.cm.abi.CmStructures.Parameters;
import io.rdma4j.cm.abi.KernelParameters;
import io.rdma4j.verbs.abi.Fields;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** An event as the kernel reports it. It is a copy, and stays valid after the command that read it. */
final class KernelEvent {
    private final MemorySegment bytes;

    private KernelEvent(MemorySegment bytes) {
        this.bytes = bytes;
    }

    /** Copies the response of the command that takes an event. */
    static KernelEvent copyOf(MemorySegment response) {
        return new KernelEvent(MemorySegment.ofArray(Fields.bytesAt(response, 0, Event.BYTES)));
    }

    /** Returns the number that this process has assigned to the identifier or to the join of a group. */
    long uid() {
        return Fields.longAt(bytes, Event.UID);
    }

    /** Returns the kernel's number of the identifier; for a request, the number of the new identifier. */
    int id() {
        return Fields.intAt(bytes, Event.ID);
    }

    /** Returns the type, or null if this library does not know it. */
    CmEvent.@Nullable Type type() {
        int code = Fields.intAt(bytes, Event.TYPE);
        for (CmEvent.Type type : CmEvent.Type.values()) {
            if (type.code() == code) {
                return type;
            }
        }
        return null;
    }

    /** Returns 0, a negated errno, or a positive reason. */
    int status() {
        return Fields.intAt(bytes, Event.STATUS);
    }

    /** Returns the parameters of a connection. The kernel has swapped the depths, so they are the receiver's. */
    ConnectionParameters connection() {
        return KernelParameters.connection(bytes.asSlice(Event.PARAMETERS, Parameters.BYTES));
    }

    /** Returns the private data of an event of a datagram service. */
    byte[] datagramPrivateData() {
        return KernelParameters.datagramPrivateData(service());
    }

    /** Returns the parameters for sending to a datagram service, or to a group, which has no private data. */
    DatagramParameters datagram(boolean isGroup) {
        return KernelParameters.datagram(service(), isGroup ? new byte[0] : datagramPrivateData());
    }

    private MemorySegment service() {
        return bytes.asSlice(Event.PARAMETERS, DatagramService.BYTES);
    }

    /** Returns the options of enhanced connection establishment; kernels before 5.11 report none. */
    ConnectionEnhancement enhancement() {
        return KernelParameters.enhancement(bytes.asSlice(Event.ENHANCEMENT));
    }
}
