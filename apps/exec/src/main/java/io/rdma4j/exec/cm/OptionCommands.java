package io.rdma4j.exec.cm;

import io.rdma4j.cm.RoutePath;
import io.rdma4j.cm.abi.CmNumbers;
import io.rdma4j.cm.abi.CmStructures.PathData;
import io.rdma4j.cm.abi.CmStructures.SetOption;
import io.rdma4j.cm.abi.PathRecord;
import io.rdma4j.cm.spi.AcknowledgementTimeouts;
import io.rdma4j.cm.spi.ProviderCmId;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.abi.Fields;
import io.rdma4j.verbs.abi.Native;
import java.lang.foreign.MemorySegment;

/** The options of identifiers. */
final class OptionCommands {
    /** The largest exponent of a timeout. */
    private static final int MAX_EXPONENT = 31;

    private OptionCommands() {}

    static void set(Request request) {
        MemorySegment option = request.structure(SetOption.BYTES);
        Identifier identifier = request.identifier(SetOption.ID);
        MemorySegment value = value(option);
        int name = Fields.intAt(option, SetOption.NAME);
        synchronized (identifier.commandLock) {
            switch (Fields.intAt(option, SetOption.LEVEL)) {
                case CmNumbers.LEVEL_ID -> set(identifier, name, value);
                case CmNumbers.LEVEL_PATH -> setPath(identifier, name, value);
                default -> throw unknown(name);
            }
        }
    }

    private static MemorySegment value(MemorySegment option) {
        long address = Fields.longAt(option, SetOption.VALUE);
        long bytes = Integer.toUnsignedLong(Fields.intAt(option, SetOption.VALUE_BYTES));
        if (address == 0 && bytes != 0) {
            throw new RdmaException("rdma_set_option", Errno.EFAULT, "the value has no address", "");
        }
        return Native.segment(address, bytes);
    }

    private static void set(Identifier identifier, int name, MemorySegment value) {
        ProviderCmId provider = identifier.provider();
        switch (name) {
            case CmNumbers.OPTION_TYPE_OF_SERVICE -> provider.setTypeOfService(byteOf(value));
            case CmNumbers.OPTION_REUSE_ADDRESS -> provider.setReuseAddress(flagOf(value));
            case CmNumbers.OPTION_FAMILY_ONLY -> provider.setIpv6Only(flagOf(value));
            case CmNumbers.OPTION_ACK_TIMEOUT -> {
                AcknowledgementTimeouts.require(identifier.queuePairType);
                provider.setAckTimeout(exponentOf(value));
            }
            default -> throw unknown(name);
        }
    }

    private static int byteOf(MemorySegment value) {
        requireBytes(value, Byte.BYTES);
        return Fields.byteAt(value, 0);
    }

    private static int exponentOf(MemorySegment value) {
        int exponent = byteOf(value);
        if (exponent > MAX_EXPONENT) {
            throw Request.invalid("the timeout's exponent is " + exponent);
        }
        return exponent;
    }

    private static boolean flagOf(MemorySegment value) {
        requireBytes(value, Integer.BYTES);
        return Fields.intAt(value, 0) != 0;
    }

    private static void requireBytes(MemorySegment value, int bytes) {
        if (value.byteSize() != bytes) {
            throw Request.invalid("an option of " + value.byteSize() + " bytes instead of " + bytes);
        }
    }

    /** Sets the first path that the kernel would accept. */
    private static void setPath(Identifier identifier, int name, MemorySegment value) {
        if (name != CmNumbers.OPTION_PATH) {
            throw unknown(name);
        }
        if (value.byteSize() % PathData.BYTES != 0) {
            throw Request.invalid("path records of " + value.byteSize() + " bytes");
        }
        for (long at = 0; at < value.byteSize(); at += PathData.BYTES) {
            MemorySegment path = value.asSlice(at, PathData.BYTES);
            if (Fields.intAt(path, PathData.FLAGS) == CmNumbers.PATH_FLAGS) {
                RoutePath chosen = PathRecord.read(path);
                identifier.withDevice().setPath(chosen);
                return;
            }
        }
        throw Request.invalid("no primary path that leads both ways");
    }

    private static RdmaException unknown(int name) {
        return new RdmaException("rdma_set_option", Errno.ENOSYS, "there is no option " + name, "");
    }
}
