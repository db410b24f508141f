package io.rdma4j.hardware.device;

import io.rdma4j.hardware.library.Call;
import io.rdma4j.verbs.ClosedException;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.MemoryWindow;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.abi.Native;
import io.rdma4j.verbs.abi.VerbsStructures.Context;
import io.rdma4j.verbs.abi.VerbsStructures.WindowFields;
import org.jspecify.annotations.Nullable;

/** A memory window of a device. Its key is the key of the last posted binding. */
final class HardwareMemoryWindow extends HardwareObject implements MemoryWindow {
    private final HardwareProtectionDomain domain;
    private final Type type;
    private volatile int remoteKey;
    private volatile @Nullable MemoryRegion region;

    HardwareMemoryWindow(HardwareProtectionDomain domain, long address, Type type, int remoteKey) {
        super(domain.context(), Kind.MEMORY_WINDOW, address);
        this.domain = domain;
        this.type = type;
        this.remoteKey = remoteKey;
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return domain;
    }

    @Override
    public Type type() {
        return type;
    }

    @Override
    public int remoteKey() {
        return remoteKey;
    }

    /**
     * Records a binding that was posted as a work request. The driver reads the present key at the next binding. The
     * program must set this key, as the man page of {@code ibv_post_send} specifies for windows of type 2.
     */
    void onPosted(@Nullable MemoryRegion to, int key) {
        long address;
        try {
            address = handle().enter("ibv_post_send", this);
        } catch (ClosedException closed) {
            return; // a closed window is not bound
        }
        try {
            Native.putInt(address + WindowFields.KEY, key);
            onBound(to, key);
        } finally {
            handle().exit();
        }
    }

    /** Records a binding after the driver has set the key. */
    void onBound(@Nullable MemoryRegion to, int key) {
        region = to;
        remoteKey = key;
    }

    /** Returns the region of the last binding, or null. */
    @Nullable
    MemoryRegion region() {
        return region;
    }

    @Override
    void destroy(Call call, long address) {
        int error = (int) call.result(context().function(Context.FREE_WINDOW), address);
        call.checkResult("ibv_dealloc_mw", toString(), error);
    }

    @Override
    public String toString() {
        return "memory window with key 0x%x of %s"
                .formatted(remoteKey, context().device());
    }
}
