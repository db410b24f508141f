package io.rdma4j.transport;

import io.rdma4j.value.AccessFlag;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.locks.ReentrantLock;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJJ_Result;
import org.openjdk.jcstress.infra.results.LL_Result;
import org.openjdk.jcstress.infra.results.L_Result;
import org.openjdk.jcstress.infra.results.ZL_Result;

/** Lock-free key lookups while other threads register and deregister memory. */
public final class MemoryTableStress {
    private static final int KEY = 0x1234;
    private static final int DOMAIN = 1;
    private static final int ACCESS = AccessFlag.LOCAL_WRITE.bit() | AccessFlag.REMOTE_WRITE.bit();
    private static final long ADDRESS = 0x1000;

    private MemoryTableStress() {}

    private static MemoryRegion register(MemoryTable table, byte[] memory) {
        return table.register(MemorySegment.ofArray(memory), ADDRESS, ACCESS, DOMAIN);
    }

    /** A lookup finds nothing, or the region with all its access rights and its memory. */
    @JCStressTest
    @Outcome(id = "nothing", expect = Expect.ACCEPTABLE, desc = "not yet registered")
    @Outcome(id = "4660/4096/8/true", expect = Expect.ACCEPTABLE, desc = "registered, complete")
    @State
    public static class Register {
        private final MemoryTable table = new MemoryTable(() -> KEY);

        /** Registers memory. */
        @Actor
        public void owner() {
            MemoryRegion _ = register(table, new byte[8]);
        }

        /** Looks up the key. */
        @Actor
        public void driver(L_Result r) {
            MemoryRegion region = table.find(KEY);
            r.r1 = region == null
                    ? "nothing"
                    : region.key() + "/" + region.address() + "/" + region.lengthBytes() + "/" + region.allows(ACCESS);
        }
    }

    /** A key is found while other keys are added and removed and the table is replaced because of them. */
    @JCStressTest
    @Outcome(id = "true, true", expect = Expect.ACCEPTABLE, desc = "found")
    @State
    public static class OtherKeys {
        private int next = KEY;
        private final MemoryTable table = new MemoryTable(() -> next++);
        private final MemoryRegion region = register(table, new byte[8]);

        /** Registers many regions and deregisters half of them. */
        @Actor
        public void owner(LL_Result r) {
            for (int i = 0; i < 40; i++) {
                MemoryRegion other = register(table, new byte[1]);
                if ((i & 1) == 0) {
                    boolean _ = table.deregister(other);
                }
            }
            r.r2 = table.size() == 21;
        }

        /** Looks up the key. */
        @Actor
        public void driver(LL_Result r) {
            boolean found = true;
            for (int i = 0; i < 20; i++) {
                found &= table.find(KEY) == region;
            }
            r.r1 = found;
        }
    }

    /** A lookup during a change of rights and domain finds the old or the new ones, never a mixture. */
    @JCStressTest
    @Outcome(id = "3/1, 3/1", expect = Expect.ACCEPTABLE, desc = "before the change")
    @Outcome(id = "3/1, 4/2", expect = Expect.ACCEPTABLE, desc = "between the two")
    @Outcome(id = "4/2, 3/1", expect = Expect.ACCEPTABLE, desc = "the second read is an older one: no lock is between")
    @Outcome(id = "4/2, 4/2", expect = Expect.ACCEPTABLE, desc = "after the change")
    @State
    public static class Change {
        private final MemoryTable table = new MemoryTable(() -> KEY);
        private final MemoryRegion region = register(table, new byte[8]);

        private static String text(MemoryRegion found) {
            return found.access() + "/" + found.protectionDomain();
        }

        /** Changes rights and domain. */
        @Actor
        public void owner() {
            MemoryRegion _ = table.change(region, AccessFlag.REMOTE_READ.bit(), 2);
        }

        /** Looks up the key, and the present object of a region that a work request has. */
        @Actor
        public void driver(LL_Result r) {
            MemoryRegion found = table.find(KEY);
            r.r1 = found == null ? "nothing" : text(found);
            r.r2 = text(region.latest());
        }
    }

    /**
     * The protocol of deregistration: drivers hold a lock, and the owner acquires it once after deregistering.
     * Afterwards no driver writes to the memory.
     */
    @JCStressTest
    @Outcome(id = "true, 5", expect = Expect.ACCEPTABLE, desc = "the owner's later write remains")
    @State
    public static class Deregister {
        private final MemoryTable table = new MemoryTable(() -> KEY);
        private final byte[] memory = new byte[8];
        private final MemoryRegion region = register(table, memory);
        private final ReentrantLock engine = new ReentrantLock();

        /** Writes on behalf of a peer. */
        @Actor
        public void driver() {
            for (int i = 0; i < 3; i++) {
                engine.lock();
                try {
                    MemoryRegion found = table.find(KEY);
                    if (found != null && found.isValid()) {
                        found.memory().set(ValueLayout.JAVA_BYTE, 0, (byte) 9);
                    }
                } finally {
                    engine.unlock();
                }
            }
        }

        /** Deregisters the memory and reuses it. */
        @Actor
        @SuppressWarnings("LockNotBeforeTry") // acquiring the lock once is sufficient
        public void owner(ZL_Result r) {
            r.r1 = table.deregister(region);
            engine.lock();
            engine.unlock();
            memory[0] = 5;
        }

        /** Returns the contents of the memory. */
        @Arbiter
        public void end(ZL_Result r) {
            r.r2 = (int) memory[0];
        }
    }

    /** Atomic operations of several engines on one location: none is lost, aligned or not. */
    @JCStressTest
    @Outcome(id = "0, 1, 2", expect = Expect.ACCEPTABLE)
    @Outcome(id = "1, 0, 2", expect = Expect.ACCEPTABLE)
    @State
    public static class Atomics {
        private final MemorySegment memory = MemorySegment.ofArray(new byte[16]);

        private long add() {
            long[] result = new long[1];
            return LocalMemory.atomic(memory, 1, false, 0, 1, result) ? result[0] : -1;
        }

        /** Adds one. */
        @Actor
        public void one(JJJ_Result r) {
            r.r1 = add();
        }

        /** Adds one. */
        @Actor
        public void other(JJJ_Result r) {
            r.r2 = add();
        }

        /** Returns the sum. */
        @Arbiter
        public void end(JJJ_Result r) {
            r.r3 = memory.get(ValueLayout.JAVA_LONG_UNALIGNED, 1);
        }
    }
}
