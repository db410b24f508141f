package io.rdma4j.exec.verbs;

import io.rdma4j.exec.bridge.ProgramMemory;
import io.rdma4j.exec.bridge.Readiness;
import io.rdma4j.exec.bridge.Readiness.Descriptors;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.ProtectionDomain;
import org.jspecify.annotations.Nullable;

/** An open device. C: {@code struct ibv_context}. Thread safe. */
final class OpenDevice implements AutoCloseable {
    static {
        ProgramMemory.choose(); // before the first protection domain exists, including the warm-up's
    }

    private final DeviceContext context;
    private final Descriptors descriptors;
    private final Readiness asyncEvents;
    private @Nullable ProtectionDomain targetDomain;
    private @Nullable CompletionQueue targetCompletions;

    /**
     * Takes ownership of an open device.
     *
     * @param asyncDescriptor is readable while there are asynchronous events
     * @param descriptors the descriptors of the process; others in tests
     */
    OpenDevice(DeviceContext context, int asyncDescriptor, Descriptors descriptors) {
        this.context = context;
        this.descriptors = descriptors;
        asyncEvents = new Readiness(context.asyncEvents(), asyncDescriptor, descriptors);
        asyncEvents.start();
    }

    DeviceContext context() {
        return context;
    }

    Descriptors descriptors() {
        return descriptors;
    }

    /** Returns the readiness of the asynchronous events. It must be updated when events are taken or removed. */
    Readiness asyncEvents() {
        return asyncEvents;
    }

    /** Returns a protection domain for targets of extended connections, which have no domain in C. */
    synchronized ProtectionDomain targetDomain() {
        ProtectionDomain domain = targetDomain;
        if (domain == null) {
            domain = context.createProtectionDomain();
            targetDomain = domain;
        }
        return domain;
    }

    /** Returns a completion queue for targets of extended connections, which report no completions. */
    synchronized CompletionQueue targetCompletions() {
        CompletionQueue queue = targetCompletions;
        if (queue == null) {
            queue = context.createCompletionQueue(1);
            targetCompletions = queue;
        }
        return queue;
    }

    @Override
    public void close() {
        asyncEvents.close();
        context.close();
    }
}
