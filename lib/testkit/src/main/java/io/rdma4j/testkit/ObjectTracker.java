package io.rdma4j.testkit;

import io.rdma4j.soft.host.ObjectObserver;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.XrcDomain;
import java.util.Arrays;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;

/** The open objects of stacks, with the calls that created them. Thread safe. */
final class ObjectTracker implements ObjectObserver {
    private record Creation(long number, Throwable calls) {}

    private final IdentityHashMap<Object, Creation> open = new IdentityHashMap<>();
    private long created;

    @Override
    public void onCreated(Object object) {
        Throwable calls = new Throwable();
        synchronized (this) {
            open.put(object, new Creation(created++, calls));
        }
    }

    @Override
    public synchronized void onClosed(Object object) {
        open.remove(object);
    }

    /** Returns the open objects in the order of their creation, except those that are expected to be open. */
    synchronized List<OpenObject> openObjects(Set<?> expected) {
        return open.entrySet().stream()
                .filter(entry -> !expected.contains(entry.getKey()))
                .sorted(Comparator.comparingLong(entry -> entry.getValue().number))
                .map(entry -> new OpenObject(describe(entry.getKey()), calls(entry.getValue())))
                .toList();
    }

    private static List<StackTraceElement> calls(Creation creation) {
        StackTraceElement[] calls = creation.calls.getStackTrace();
        // The first call is in this class; the calls of the stack that follow are also removed.
        return OpenObject.callsOfProgram(Arrays.copyOfRange(calls, 1, calls.length));
    }

    private static String describe(Object object) {
        return switch (object) {
            case CompletionQueue queue -> "completion queue of " + queue.capacity() + " entries";
            case CompletionChannel _ -> "completion channel";
            case ProtectionDomain _ -> "protection domain";
            case XrcDomain _ -> "XRC domain";
            case DeviceContext context -> "context of " + context;
            default -> object.toString();
        };
    }
}
