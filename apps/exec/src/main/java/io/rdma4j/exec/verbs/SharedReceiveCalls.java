package io.rdma4j.exec.verbs;

import io.rdma4j.exec.bridge.Arguments;
import io.rdma4j.exec.bridge.Failures;
import io.rdma4j.exec.bridge.Handles;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.SharedReceiveQueueAttributes;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import io.rdma4j.verbs.XrcDomain;
import io.rdma4j.verbs.abi.Flags;
import org.jspecify.annotations.Nullable;

/** The calls for shared receive queues. Each takes the address of its {@link Arguments}. Thread safe. */
public final class SharedReceiveCalls {
    private SharedReceiveCalls() {}

    /** Creates a queue. C: {@code ibv_create_srq_ex}. */
    public static void create(long arguments) {
        Domain domain = Handles.of(Arguments.number(arguments, 0), Domain.class);
        int limit = Arguments.number(arguments, 3);
        XrcDomain extended = extendedDomain(Arguments.number(arguments, 5));
        SharedReceiveQueue queue = domain.domain()
                .createSharedReceiveQueue(new SharedReceiveQueueInitAttributes(
                        Arguments.number(arguments, 1),
                        Arguments.number(arguments, 2),
                        Arguments.get(arguments, 4),
                        extended,
                        completions(Arguments.number(arguments, 6))));
        if (limit > 0) {
            queue.setLimit(limit);
        }
        DataPathStubs.install();
        SharedReceiveQueueAttributes actual = queue.query();
        Arguments.set(arguments, 0, Handles.add(new SharedReceives(domain, queue)));
        Arguments.set(arguments, 1, extended == null ? 0 : queue.number());
        Arguments.set(arguments, 2, actual.maxWorkRequests());
        Arguments.set(arguments, 3, actual.maxScatterGather());
    }

    private static @Nullable XrcDomain extendedDomain(int handle) {
        return handle == 0 ? null : Handles.of(handle, ExtendedDomain.class).domain();
    }

    private static @Nullable CompletionQueue completions(int handle) {
        return handle == 0 ? null : Handles.of(handle, Completions.class).queue();
    }

    private static SharedReceiveQueue queue(long arguments) {
        return Handles.of(Arguments.number(arguments, 0), SharedReceives.class).queue();
    }

    /** Changes the size or the limit. C: {@code ibv_modify_srq}. */
    public static void modify(long arguments) {
        SharedReceiveQueue queue = queue(arguments);
        int mask = Arguments.number(arguments, 3);
        if ((mask & ~(Flags.SHARED_RECEIVE_QUEUE_RESIZE | Flags.SHARED_RECEIVE_QUEUE_LIMIT)) != 0) {
            throw Failures.invalid("ibv_modify_srq", "mask " + mask);
        }
        if ((mask & Flags.SHARED_RECEIVE_QUEUE_RESIZE) != 0) {
            queue.resize(Arguments.number(arguments, 1));
        }
        if ((mask & Flags.SHARED_RECEIVE_QUEUE_LIMIT) != 0) {
            queue.setLimit(Arguments.number(arguments, 2));
        }
    }

    /** Returns the sizes and the limit. C: {@code ibv_query_srq}. */
    public static void query(long arguments) {
        SharedReceiveQueueAttributes attributes = queue(arguments).query();
        Arguments.set(arguments, 1, attributes.maxWorkRequests());
        Arguments.set(arguments, 2, attributes.maxScatterGather());
        Arguments.set(arguments, 3, attributes.limit());
    }
}
