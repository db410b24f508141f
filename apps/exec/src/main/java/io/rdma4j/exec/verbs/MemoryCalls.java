package io.rdma4j.exec.verbs;

import io.rdma4j.exec.bridge.Arguments;
import io.rdma4j.exec.bridge.Failures;
import io.rdma4j.exec.bridge.Handles;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.verbs.AddressVector;
import io.rdma4j.verbs.MemoryAdvice;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.MemoryRegionChange;
import io.rdma4j.verbs.MemoryWindow;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.ScatterGatherList;
import io.rdma4j.verbs.abi.Flags;
import io.rdma4j.verbs.abi.Native;
import io.rdma4j.verbs.abi.QueuePairCodec;
import java.lang.foreign.MemorySegment;
import java.util.Set;

/** The calls for domains, memory and windows. Each takes the address of its {@link Arguments}. Thread safe. */
public final class MemoryCalls {
    /** {@code IBV_ACCESS_OPTIONAL_RANGE}: rights that a device may ignore. */
    private static final int OPTIONAL_RIGHTS = 0x3ff0_0000;

    private static final int ALL_RIGHTS = AccessFlag.bits(Set.of(AccessFlag.values())) | OPTIONAL_RIGHTS;

    private static final int ALL_CHANGES = Flags.CHANGE_MEMORY | Flags.CHANGE_PROTECTION_DOMAIN | Flags.CHANGE_ACCESS;

    private MemoryCalls() {}

    /** Allocates a protection domain. C: {@code ibv_alloc_pd}. */
    public static void allocateDomain(long arguments) {
        OpenDevice device = Handles.of(Arguments.number(arguments, 0), OpenDevice.class);
        Arguments.set(arguments, 0, Handles.add(new Domain(device)));
    }

    private static Domain domain(long arguments, int index) {
        return Handles.of(Arguments.number(arguments, index), Domain.class);
    }

    /** Registers memory. C: {@code ibv_reg_mr_iova2}. */
    public static void register(long arguments) {
        Domain domain = domain(arguments, 0);
        MemorySegment memory = Native.segment(Arguments.get(arguments, 1), Arguments.get(arguments, 2));
        Set<AccessFlag> access = access("ibv_reg_mr", Arguments.number(arguments, 4));
        MemoryRegion registered = Region.register(domain, memory, Arguments.get(arguments, 3), access);
        Region region = new Region(domain, registered);
        Arguments.set(arguments, 0, Handles.add(region));
        setKeys(arguments, registered);
    }

    private static Set<AccessFlag> access(String operation, int bits) {
        if ((bits & ~ALL_RIGHTS) != 0) {
            throw Failures.unsupported(operation, "access 0x" + Integer.toHexString(bits));
        }
        return QueuePairCodec.accessFlags(bits);
    }

    private static void setKeys(long arguments, MemoryRegion region) {
        Arguments.set(arguments, 1, region.localKey() & 0xffff_ffffL);
        Arguments.set(arguments, 2, region.remoteKey() & 0xffff_ffffL);
    }

    /** Changes a registration. C: {@code ibv_rereg_mr}. */
    public static void reregister(long arguments) {
        Region region = Handles.of(Arguments.number(arguments, 0), Region.class);
        int flags = Arguments.number(arguments, 1);
        if (flags == 0 || (flags & ~ALL_CHANGES) != 0) {
            throw Failures.invalid("ibv_rereg_mr", "flags " + flags);
        }
        Domain domain = (flags & Flags.CHANGE_PROTECTION_DOMAIN) == 0 ? null : domain(arguments, 2);
        Set<AccessFlag> access =
                (flags & Flags.CHANGE_ACCESS) == 0 ? null : access("ibv_rereg_mr", Arguments.number(arguments, 5));
        if ((flags & Flags.CHANGE_MEMORY) != 0) {
            region.move(Native.segment(Arguments.get(arguments, 3), Arguments.get(arguments, 4)), domain, access);
        } else {
            region.change(new MemoryRegionChange(null, domain == null ? null : domain.domain(), access), domain);
        }
        setKeys(arguments, region.region());
    }

    /** Ends access to the memory of a region before it is unmapped, or allows it again. The region stays registered. */
    public static void setAccessible(long arguments) {
        Handles.of(Arguments.number(arguments, 0), Region.class).setAccessible(Arguments.get(arguments, 1) != 0);
    }

    /** Gives advice about memory. C: {@code ibv_advise_mr}. */
    public static void advise(long arguments) {
        Domain domain = domain(arguments, 0);
        ScatterGatherList ranges = new ScatterGatherList();
        new MemoryLookup(domain).addAll(ranges, Arguments.get(arguments, 3), Arguments.number(arguments, 4));
        boolean waits = (Arguments.number(arguments, 2) & Flags.ADVICE_WAITS) != 0;
        domain.domain().advise(advice(Arguments.number(arguments, 1)), ranges, waits);
    }

    private static MemoryAdvice advice(int code) {
        for (MemoryAdvice advice : MemoryAdvice.values()) {
            if (advice.code() == code) {
                return advice;
            }
        }
        throw Failures.unsupported("ibv_advise_mr", "advice " + code);
    }

    /** Allocates a memory window. C: {@code ibv_alloc_mw}. */
    public static void allocateWindow(long arguments) {
        ProtectionDomain domain = domain(arguments, 0).domain();
        int type = Arguments.number(arguments, 1);
        if (type != MemoryWindow.Type.TYPE_1.code() && type != MemoryWindow.Type.TYPE_2.code()) {
            throw Failures.invalid("ibv_alloc_mw", "type " + type);
        }
        MemoryWindow window = domain.allocateMemoryWindow(
                type == MemoryWindow.Type.TYPE_1.code() ? MemoryWindow.Type.TYPE_1 : MemoryWindow.Type.TYPE_2);
        Arguments.set(arguments, 0, Handles.add(window));
        Arguments.set(arguments, 1, window.remoteKey() & 0xffff_ffffL);
    }

    /** Creates an address handle for datagrams. C: {@code ibv_create_ah}. */
    public static void createAddressHandle(long arguments) {
        AddressVector path = Paths.read("ibv_create_ah", Arguments.get(arguments, 1));
        Arguments.set(arguments, 0, Handles.add(domain(arguments, 0).domain().createAddressHandle(path)));
    }
}
