package io.rdma4j.tools.perftest;

import io.rdma4j.tools.command.ToolFailure;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import io.rdma4j.verbs.XrcDomain;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The memory, the completion queues and the queue pairs of a run. Not thread safe. */
final class Resources implements AutoCloseable {
    private static final int PAGE_BYTES = 4096;

    /** Spare entries of a completion queue beyond the outstanding work requests. */
    private static final int SPARE_COMPLETIONS = 16;

    private final Settings settings;
    private final Arena arena = Arena.ofShared();
    private final List<QueuePairRun> queuePairRuns = new ArrayList<>();
    private final List<MemoryRegion> regions = new ArrayList<>();
    private @Nullable ProtectionDomain domain;
    private @Nullable CompletionChannel channel;
    private @Nullable CompletionQueue sends;
    private @Nullable CompletionQueue receives;
    private @Nullable XrcDomain extendedDomain;
    private @Nullable SharedReceiveQueue sharedReceives;

    private Resources(Settings settings) {
        this.settings = settings;
    }

    /** Creates all resources except the queue pairs. */
    static Resources create(Settings settings, DeviceContext context, Console console) throws ToolFailure {
        Resources resources = new Resources(settings);
        try {
            resources.allocate(context, console);
            return resources;
        } catch (ToolFailure e) {
            resources.close();
            throw e;
        }
    }

    private void allocate(DeviceContext context, Console console) throws ToolFailure {
        if (settings.events) {
            channel = console.call("Couldn't create completion channel", context::createCompletionChannel);
        }
        domain = console.call("Couldn't allocate PD", context::createProtectionDomain);
        CompletionChannel events = channel;
        sends = console.call(
                "Couldn't create CQ",
                () -> context.createCompletionQueue(
                        Math.addExact(Math.multiplyExact(settings.sendDepth, settings.queuePairs), SPARE_COMPLETIONS),
                        null,
                        events,
                        settings.completionVector));
        receives = !settings.consumesReceives()
                ? sends
                : console.call(
                        "Couldn't create a receiver CQ",
                        () -> context.createCompletionQueue(
                                Math.addExact(
                                        Math.multiplyExact(settings.receiveDepth, settings.queuePairs),
                                        SPARE_COMPLETIONS),
                                null,
                                events,
                                settings.completionVector));
        if (settings.hasSharedReceives()) {
            SharedReceiveQueueInitAttributes plain = SharedReceiveQueueInitAttributes.of(settings.receiveDepth, 1);
            XrcDomain extended = settings.isExtended()
                    ? console.call("Couldn't create XRC resources", context::openXrcDomain)
                    : null;
            extendedDomain = extended;
            sharedReceives = console.call(
                    extended == null ? "Couldn't create SRQ" : "Couldn't create SRQ XRC resources",
                    () -> domain().createSharedReceiveQueue(
                                    extended == null
                                            ? plain
                                            : plain.withXrcDomain(extended).withCompletions(receives())));
        }
        long slot = settings.slotBytes();
        int shared = settings.regionPerQueuePair ? 1 : settings.queuePairs;
        for (int i = 0; i < settings.queuePairs; i++) {
            if (i % shared == 0) {
                regions.add(register(2 * slot * shared, console));
            }
            int slotIndex = i % shared;
            queuePairRuns.add(new QueuePairRun(
                    settings, i, regions.getLast(), slotIndex * slot, (shared + slotIndex) * slot, sharedReceives));
        }
    }

    private MemoryRegion register(long bytes, Console console) throws ToolFailure {
        try {
            return console.call(
                    "Couldn't allocate MR",
                    () -> domain().register(arena.allocate(bytes, PAGE_BYTES), access(settings.operation, true)));
        } catch (OutOfMemoryError e) {
            throw console.failure(
                    "Couldn't allocate work buf.", e.getMessage() + "; use a smaller -s, or fewer queue pairs");
        }
    }

    /** Returns the access rights of the memory, and of the queue pairs over which the peer accesses it. */
    static Set<AccessFlag> access(MeasuredOperation operation, boolean local) {
        EnumSet<AccessFlag> rights = EnumSet.noneOf(AccessFlag.class);
        if (local) {
            rights.add(AccessFlag.LOCAL_WRITE);
        }
        switch (operation) {
            case WRITE -> rights.add(AccessFlag.REMOTE_WRITE);
            case READ -> rights.add(AccessFlag.REMOTE_READ);
            case ATOMIC -> rights.add(AccessFlag.REMOTE_ATOMIC);
            case SEND -> {
                // Needs no remote access right.
            }
        }
        return rights;
    }

    /** Returns whether a queue pair is the target of an extended connection. */
    boolean isTarget(int index) {
        if (settings.hasBothRoles()) {
            return index >= settings.queuePairs / 2;
        }
        return settings.isExtended() && !settings.isClient();
    }

    /** Returns the attributes of a new queue pair of an extended connection. */
    private QueuePairInitAttributes extendedAttributes(int index) {
        return isTarget(index)
                ? QueuePairInitAttributes.extendedReceive(Objects.requireNonNull(extendedDomain), receives())
                : QueuePairInitAttributes.of(
                        settings.connection.type(),
                        sends(),
                        new QueuePairCapabilities(settings.sendDepth, 0, 1, 0, Math.max(0, settings.inlineBytes)));
    }

    /** Returns the attributes of new queue pair {@code index}. */
    QueuePairInitAttributes attributes(int index) {
        if (settings.isExtended()) {
            return extendedAttributes(index);
        }
        return QueuePairInitAttributes.of(
                        settings.connection.type(),
                        sends(),
                        new QueuePairCapabilities(
                                settings.sendDepth,
                                sharedReceives == null ? settings.receiveDepth : 0,
                                1,
                                sharedReceives == null ? 1 : 0,
                                Math.max(0, settings.inlineBytes)))
                .withReceiveCompletions(receives())
                .withSharedReceiveQueue(sharedReceives);
    }

    ProtectionDomain domain() {
        return Objects.requireNonNull(domain);
    }

    @Nullable
    CompletionChannel channel() {
        return channel;
    }

    CompletionQueue sends() {
        return Objects.requireNonNull(sends);
    }

    CompletionQueue receives() {
        return Objects.requireNonNull(receives);
    }

    List<QueuePairRun> queuePairRuns() {
        return queuePairRuns;
    }

    /** Returns the queue pairs that send, fetch or write. */
    List<QueuePairRun> senders() {
        return settings.hasBothRoles() ? queuePairRuns.subList(0, settings.queuePairs / 2) : queuePairRuns;
    }

    /** Returns the queue pairs that receive. */
    List<QueuePairRun> receivers() {
        return settings.hasBothRoles()
                ? queuePairRuns.subList(settings.queuePairs / 2, settings.queuePairs)
                : queuePairRuns;
    }

    /** Returns the queue pair that the peer's queue pair {@code index} is connected to. */
    QueuePairRun connectedTo(int index) {
        int distance = settings.hasBothRoles() ? settings.queuePairs / 2 : 0;
        return queuePairRuns.get((index + distance) % settings.queuePairs);
    }

    /** Returns the number of the shared receive queue of extended connections. */
    int sharedReceiveQueue() {
        return Objects.requireNonNull(sharedReceives).number();
    }

    /** Closes all resources. Queue pairs of the connection manager must already be closed. */
    @Override
    public void close() {
        for (QueuePairRun queuePairRun : queuePairRuns) {
            AddressHandle handle = queuePairRun.handle();
            if (handle != null) {
                handle.close();
            }
            if (queuePairRun.hasQueuePair()) {
                queuePairRun.queuePair().close();
            }
        }
        if (sharedReceives != null) {
            sharedReceives.close();
        }
        if (extendedDomain != null) {
            extendedDomain.close();
        }
        if (sends != null) {
            sends.close();
        }
        if (receives != null && !receives.equals(sends)) {
            receives.close();
        }
        if (channel != null) {
            channel.close();
        }
        regions.forEach(MemoryRegion::close);
        if (domain != null) {
            domain.close();
        }
        arena.close();
    }
}
