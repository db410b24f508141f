package io.rdma4j.conformance.device;

import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.Gid;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceAttributes;
import io.rdma4j.verbs.DeviceCapability;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.MemoryRegionChange;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.TransportType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/** A feature that a device may lack and still have the semantics of RDMA. */
public enum Capability {
    /** Memory windows of both types. */
    MEMORY_WINDOWS("memory windows"),

    /** Receive queues that several queue pairs share. */
    SHARED_RECEIVE_QUEUES("shared receive queues"),

    /** Extended reliable connections. */
    EXTENDED_CONNECTIONS("extended reliable connections"),

    /** Queue pairs of unreliable connections. */
    UNRELIABLE_CONNECTIONS("unreliable connections"),

    /** Queue pairs that are connected without the connection manager, which iWARP does not allow. */
    DIRECT_CONNECTIONS("connections without the connection manager"),

    /** Accepting and disconnecting wait for the peer's reply. */
    CONFIRMATIONS("replies to an acceptance and to a disconnect"),

    /** Queue pairs of datagrams. */
    DATAGRAMS("datagrams"),

    /** Datagram queue pairs that receive what is sent to a group. */
    MULTICAST("multicast"),

    /** Completion queues whose size can be changed. */
    RESIZABLE_COMPLETION_QUEUES("resizable completion queues"),

    /** Registration of memory of the Java heap. */
    HEAP_MEMORY("registration of heap memory"),

    /** Memory regions at addresses that the program chooses. */
    CHOSEN_ADDRESSES("memory regions at chosen addresses"),

    /** Memory regions whose memory, protection domain and access rights can be changed. */
    REREGISTRATION("changes of registered memory"),

    /** Work requests that name an object of another protection domain are refused when they are posted. */
    CHECKED_REGIONS("a check of the protection domain when a work request is posted"),

    /** The port space of IP over InfiniBand also on Ethernet. */
    IPOIB("the port space IPOIB on Ethernet"),

    /** FLUSH and ATOMIC WRITE, which a program can post and the device executes. */
    FLUSH("FLUSH and ATOMIC WRITE"),

    /** Probes on idle connections. */
    KEEP_ALIVE("keep-alive probes");

    private static final QueuePairCapabilities SMALL = new QueuePairCapabilities(1, 1, 1, 1, 0);

    private static final int PAGE_BYTES = 65_536; // the largest of Linux, which the memory's address must fit

    private final String words;

    Capability(String words) {
        this.words = words;
    }

    /** Returns a sentence that names the missing feature and how that was found, or nothing if the device has it. */
    public Optional<String> lackOf(DeviceContext context) {
        return sentence(context.device().name(), reason(context));
    }

    private Optional<String> reason(DeviceContext context) {
        return switch (this) {
            case MEMORY_WINDOWS, SHARED_RECEIVE_QUEUES -> reason(context.attributes());
            case EXTENDED_CONNECTIONS ->
                unsupported("ibv_open_xrcd", () -> context.openXrcDomain().close());
            case UNRELIABLE_CONNECTIONS ->
                unsupported("ibv_create_qp", () -> createQueuePair(context, QueuePairType.UNRELIABLE_CONNECTION));
            case DIRECT_CONNECTIONS, CONFIRMATIONS ->
                context.device().transportType() == TransportType.IWARP
                        ? Optional.of("its transport is iWARP")
                        : Optional.empty();
            case DATAGRAMS ->
                unsupported("ibv_create_qp", () -> createQueuePair(context, QueuePairType.UNRELIABLE_DATAGRAM));
            case MULTICAST -> unsupported("ibv_attach_mcast", () -> attach(context));
            case RESIZABLE_COMPLETION_QUEUES -> unsupported("ibv_resize_cq", () -> resize(context));
            case HEAP_MEMORY -> unsupported("ibv_reg_mr", () -> registerHeap(context));
            case CHOSEN_ADDRESSES -> unsupported("ibv_reg_mr_iova", () -> registerAtAddress(context));
            case REREGISTRATION -> unsupported("ibv_rereg_mr", () -> reregister(context));
            case CHECKED_REGIONS -> postForeign(context);
            case IPOIB ->
                Driver.of(context.device()) == Driver.SOFTWARE
                        ? Optional.empty()
                        : Optional.of("the kernel has it on InfiniBand only");
            case FLUSH -> flush(context);
            case KEEP_ALIVE -> unsupported("keep alive", () -> keepAlive(context));
        };
    }

    /** Returns the reason why a device with these limits lacks this capability, if they say so. */
    Optional<String> reason(DeviceAttributes limits) {
        return switch (this) {
            case MEMORY_WINDOWS -> zero("max_mw", limits.maxMemoryWindows());
            case SHARED_RECEIVE_QUEUES -> zero("max_srq", limits.maxSharedReceiveQueues());
            default -> Optional.empty();
        };
    }

    private static Optional<String> zero(String field, int limit) {
        return limit > 0 ? Optional.empty() : Optional.of("ibv_query_device: " + field + " " + limit);
    }

    /** Returns the sentence for a device that lacks this capability for a reason, if there is one. */
    Optional<String> sentence(String device, Optional<String> reason) {
        return reason.map(found -> device + " lacks " + words + " (" + found + ")");
    }

    /** Returns the reason why a call is not supported, or nothing if it succeeds. Other failures are thrown. */
    static Optional<String> unsupported(String call, Runnable attempt) {
        try {
            attempt.run();
            return Optional.empty();
        } catch (RdmaException refused) {
            if (refused.errno() == Errno.EOPNOTSUPP || refused.errno() == Errno.ENOSYS) {
                return Optional.of(call + ": " + refused.errno());
            }
            throw refused;
        }
    }

    private static void withQueuePair(DeviceContext context, QueuePairType type, Consumer<QueuePair> use) {
        try (CompletionQueue completions = context.createCompletionQueue(1);
                ProtectionDomain domain = context.createProtectionDomain();
                QueuePair queuePair = domain.createQueuePair(QueuePairInitAttributes.of(type, completions, SMALL))) {
            use.accept(queuePair);
        }
    }

    private static void createQueuePair(DeviceContext context, QueuePairType type) {
        withQueuePair(context, type, queuePair -> {});
    }

    private static void attach(DeviceContext context) {
        Gid group = Gid.of(TestDevices.group());
        withQueuePair(context, QueuePairType.UNRELIABLE_DATAGRAM, queuePair -> {
            queuePair.attachMulticast(group);
            queuePair.detachMulticast(group);
        });
    }

    private static void resize(DeviceContext context) {
        try (CompletionQueue completions = context.createCompletionQueue(1)) {
            completions.resize(2);
        }
    }

    private static void registerHeap(DeviceContext context) {
        try (ProtectionDomain domain = context.createProtectionDomain()) {
            domain.register(MemorySegment.ofArray(new byte[1])).close();
        }
    }

    private static void registerAtAddress(DeviceContext context) {
        try (ProtectionDomain domain = context.createProtectionDomain()) {
            domain.register(Arena.ofAuto().allocate(64, PAGE_BYTES), PAGE_BYTES, Set.of())
                    .close();
        }
    }

    private static void reregister(DeviceContext context) {
        MemorySegment memory = Arena.ofAuto().allocate(2 * PAGE_BYTES, PAGE_BYTES);
        try (ProtectionDomain domain = context.createProtectionDomain();
                MemoryRegion region = domain.register(memory.asSlice(0, PAGE_BYTES), AccessFlag.LOCAL_WRITE)) {
            region.reregister(MemoryRegionChange.ofAccess(AccessFlag.REMOTE_READ));
            region.reregister(MemoryRegionChange.ofProtectionDomain(domain));
            region.reregister(MemoryRegionChange.ofMemory(memory.asSlice(PAGE_BYTES, PAGE_BYTES)));
        }
    }

    private static Optional<String> postForeign(DeviceContext context) {
        try (ProtectionDomain another = context.createProtectionDomain();
                MemoryRegion foreign = another.register(Arena.ofAuto().allocate(1), AccessFlag.LOCAL_WRITE);
                CompletionQueue completions = context.createCompletionQueue(1);
                ProtectionDomain domain = context.createProtectionDomain();
                QueuePair queuePair = domain.createQueuePair(QueuePairInitAttributes.reliable(completions, SMALL))) {
            queuePair.modify(new QueuePairAttributes()
                    .state(QueuePairState.INIT)
                    .partitionKeyIndex(0)
                    .port(1)
                    .accessFlags(Set.of()));
            queuePair.postReceive(new ReceiveWorkRequest().reset(1).into(foreign));
            return Optional.of("ibv_post_recv accepts a region of another protection domain");
        } catch (RdmaException refused) {
            if (refused.errno() == Errno.EINVAL && refused.operation().equals("ibv_post_recv")) {
                return Optional.empty();
            }
            throw refused;
        }
    }

    private static Optional<String> flush(DeviceContext context) {
        DeviceAttributes limits = context.attributes();
        if (!limits.capabilities().contains(DeviceCapability.FLUSH_GLOBAL)
                || !limits.capabilities().contains(DeviceCapability.FLUSH_PERSISTENT)
                || !limits.capabilities().contains(DeviceCapability.ATOMIC_WRITE)) {
            return Optional.of("ibv_query_device_ex: device_cap_flags_ex");
        }
        return Driver.of(context.device()) == Driver.SOFTWARE
                ? Optional.empty()
                : Optional.of("hardware posts them by ibv_wr_* only");
    }

    /** A provider that supports probes refuses the state of the queue pair. */
    private static void keepAlive(DeviceContext context) {
        withQueuePair(context, QueuePairType.RELIABLE_CONNECTION, queuePair -> {
            try {
                queuePair.setKeepAlive(Duration.ofSeconds(1));
            } catch (RdmaException refused) {
                if (refused.errno() != Errno.EINVAL) {
                    throw refused;
                }
            }
        });
    }
}
