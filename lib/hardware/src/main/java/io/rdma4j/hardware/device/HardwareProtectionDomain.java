package io.rdma4j.hardware.device;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdma4j.hardware.library.Call;
import io.rdma4j.hardware.library.Function;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.AddressVector;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryAdvice;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.MemoryWindow;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ScatterGatherList;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import io.rdma4j.verbs.abi.AddressVectors;
import io.rdma4j.verbs.abi.Flags;
import io.rdma4j.verbs.abi.Native;
import io.rdma4j.verbs.abi.VerbsStructures.AddressVectorFields;
import io.rdma4j.verbs.abi.VerbsStructures.Context;
import io.rdma4j.verbs.abi.VerbsStructures.ExtendedContext;
import io.rdma4j.verbs.abi.VerbsStructures.ScatterGather;
import io.rdma4j.verbs.abi.VerbsStructures.WindowFields;
import io.rdma4j.verbs.spi.RegionAddress;
import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A protection domain of a device. */
final class HardwareProtectionDomain extends HardwareObject implements ProtectionDomain {
    HardwareProtectionDomain(HardwareContext context, long address) {
        super(context, Kind.PROTECTION_DOMAIN, address);
    }

    @Override
    public MemoryRegion register(MemorySegment memory, Set<AccessFlag> access) {
        long domain = handle().enter("ibv_reg_mr", this);
        try {
            long first = access.contains(AccessFlag.ZERO_BASED) ? 0 : memory.address();
            return HardwareMemoryRegion.register(this, domain, memory, first, access);
        } finally {
            handle().exit();
        }
    }

    @Override
    public MemoryRegion register(MemorySegment memory, long address, Set<AccessFlag> access) {
        RegionAddress.require(memory, address, access);
        long domain = handle().enter("ibv_reg_mr_iova", this);
        try {
            return HardwareMemoryRegion.register(this, domain, memory, address, access);
        } finally {
            handle().exit();
        }
    }

    @Override
    public void advise(MemoryAdvice advice, ScatterGatherList ranges, boolean wait) {
        long domain = handle().enter("ibv_advise_mr", this);
        try (Call call = new Call()) {
            MemorySegment function = context().extendedFunction(ExtendedContext.ADVISE, "ibv_advise_mr");
            MemorySegment list = call.allocate(Math.max(1L, ranges.count()) * ScatterGather.BYTES);
            for (int i = 0; i < ranges.count(); i++) {
                HardwareRegistration region = own(HardwareMemoryRegion.class, ranges.region(i), "ibv_advise_mr")
                        .registration();
                long at = (long) i * ScatterGather.BYTES;
                list.set(JAVA_LONG, at + ScatterGather.ADDRESS, region.first() + ranges.offsetBytes(i));
                list.set(JAVA_INT, at + ScatterGather.LENGTH, (int) ranges.lengthBytes(i));
                list.set(JAVA_INT, at + ScatterGather.LOCAL_KEY, region.localKey());
            }
            int flags = wait ? Flags.ADVICE_WAITS : 0;
            int error = (int) call.result(function, domain, advice.code(), flags, list.address(), ranges.count());
            call.checkResult(
                    "ibv_advise_mr",
                    advice + " of " + ranges.count() + " ranges at " + context().device(),
                    error);
        } finally {
            handle().exit();
        }
    }

    @Override
    public QueuePair createQueuePair(QueuePairInitAttributes attributes) {
        long domain = handle().enter("ibv_create_qp", this);
        try {
            return QueuePairFactory.create(this, domain, attributes);
        } finally {
            handle().exit();
        }
    }

    @Override
    public SharedReceiveQueue createSharedReceiveQueue(SharedReceiveQueueInitAttributes attributes) {
        long domain = handle().enter("ibv_create_srq", this);
        try {
            return HardwareSharedReceiveQueue.create(this, domain, attributes);
        } finally {
            handle().exit();
        }
    }

    @Override
    public MemoryWindow allocateMemoryWindow(MemoryWindow.Type type) {
        long domain = handle().enter("ibv_alloc_mw", this);
        try (Call call = new Call()) {
            MemorySegment function = context().function(Context.ALLOCATE_WINDOW);
            if (function.address() == 0) {
                throw context().unsupported("ibv_alloc_mw");
            }
            long window = call.created(
                    "ibv_alloc_mw", type + " of " + context().device(), call.result(function, domain, type.code()));
            return new HardwareMemoryWindow(this, window, type, Native.intAt(window + WindowFields.KEY));
        } finally {
            handle().exit();
        }
    }

    @Override
    public AddressHandle createAddressHandle(AddressVector addressVector) {
        long domain = handle().enter("ibv_create_ah", this);
        try (Call call = new Call()) {
            MemorySegment fields = call.allocate(AddressVectorFields.BYTES);
            AddressVectors.write(fields, 0, addressVector);
            long created =
                    call.create(Function.CREATE_ADDRESS_HANDLE, addressVector.toString(), domain, fields.address());
            return new HardwareAddressHandle(this, created, addressVector);
        } finally {
            handle().exit();
        }
    }

    /**
     * Casts an object of this device.
     *
     * @throws RdmaException {@code EINVAL} if it belongs to another device
     */
    <T extends HardwareObject> T own(Class<T> type, @Nullable Object object, String operation) {
        if (!type.isInstance(object) || !type.cast(object).context().equals(context())) {
            throw new RdmaException(operation, Errno.EINVAL, object + " is of another device", "");
        }
        return type.cast(object);
    }

    @Override
    void destroy(Call call, long address) {
        destroy(call, Function.FREE_PROTECTION_DOMAIN, address);
    }

    @Override
    public String toString() {
        return "protection domain of " + context().device();
    }
}
