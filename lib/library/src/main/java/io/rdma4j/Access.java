package io.rdma4j;

import io.rdma4j.value.AccessFlag;
import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.Set;

/** A right of peers to {@linkplain Exposed exposed} memory. */
public enum Access {
    /** Read it. C: {@code IBV_ACCESS_REMOTE_READ}. */
    READ(AccessFlag.REMOTE_READ),
    /** Write it. C: {@code IBV_ACCESS_REMOTE_WRITE}. */
    WRITE(AccessFlag.REMOTE_WRITE),
    /** Change it with compare-and-swap and fetch-and-add. C: {@code IBV_ACCESS_REMOTE_ATOMIC}. */
    ATOMIC(AccessFlag.REMOTE_ATOMIC),
    /** Request that written data become visible to other devices of the host. C: {@code IBV_ACCESS_FLUSH_GLOBAL}. */
    FLUSH_GLOBAL(AccessFlag.FLUSH_GLOBAL),
    /** Request that written data become persistent. C: {@code IBV_ACCESS_FLUSH_PERSISTENT}. */
    FLUSH_PERSISTENT(AccessFlag.FLUSH_PERSISTENT);

    private final AccessFlag flag;

    Access(AccessFlag flag) {
        this.flag = flag;
    }

    /** Returns the rights of a region of memory. The owner's device may write to it, unless it is read-only. */
    static Set<AccessFlag> flags(Set<Access> rights, MemorySegment memory) {
        Set<AccessFlag> flags = EnumSet.noneOf(AccessFlag.class);
        if (!memory.isReadOnly()) {
            flags.add(AccessFlag.LOCAL_WRITE);
        }
        for (Access right : rights) {
            flags.add(right.flag);
        }
        return flags;
    }
}
