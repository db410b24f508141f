package io.rdma4j.cm;

import io.rdma4j.value.QueuePairState;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A device that records which objects were created and not closed. One call that creates or changes an object fails.
 * Not thread safe.
 */
final class FailingVerbs implements Device {
    /** The objects that were created and not closed, in the order of their creation. */
    final List<String> open = new ArrayList<>();

    /** The states into which queue pairs were moved. */
    final List<@Nullable QueuePairState> modifications = new ArrayList<>();

    private final Supplier<? extends Throwable> failure;
    private int left;
    private boolean failed;

    /**
     * Creates a device.
     *
     * @param call the number of the call that fails, from 1
     * @param failure the exception that the call throws
     */
    FailingVerbs(int call, Supplier<? extends Throwable> failure) {
        left = call;
        this.failure = failure;
    }

    static RdmaException refusal() {
        return new RdmaException("a call", Errno.ENOMEM, "the one that is to fail", "");
    }

    /** Returns whether the failing call was made. */
    boolean hasFailed() {
        return failed;
    }

    /** Counts a call that creates or changes an object, and throws if it must fail. */
    void step() throws Throwable {
        if (--left == 0) {
            failed = true;
            throw failure.get();
        }
    }

    @Override
    public String name() {
        return "failing" + System.identityHashCode(this);
    }

    @Override
    public long guid() {
        return 1;
    }

    @Override
    public DeviceContext open() {
        return made(DeviceContext.class);
    }

    /** A domain of a context that was opened without a failure. */
    ProtectionDomain domain() {
        return made(ProtectionDomain.class);
    }

    private <T> T made(Class<T> type) {
        String name = type.getSimpleName();
        open.add(name);
        InvocationHandler calls = new InvocationHandler() {
            private boolean closed;

            @Override
            public @Nullable Object invoke(Object self, Method method, Object @Nullable [] arguments) throws Throwable {
                String call = method.getName();
                if (call.equals("close")) {
                    if (!closed) {
                        closed = true;
                        open.remove(name);
                    }
                    return null;
                }
                if (call.startsWith("create") || call.startsWith("open")) {
                    step();
                    return made(method.getReturnType());
                }
                return switch (call) {
                    case "modify" -> {
                        step();
                        modifications.add(((QueuePairAttributes) Objects.requireNonNull(arguments)[0]).state());
                        yield null;
                    }
                    case "context" -> made(DeviceContext.class, this);
                    case "device" -> FailingVerbs.this;
                    case "query" -> SharedReceiveQueueInitAttributes.of(1, 1);
                    case "toString" -> name;
                    default -> throw new UnsupportedOperationException(name + "." + call);
                };
            }
        };
        return made(type, calls);
    }

    private static <T> T made(Class<T> type, InvocationHandler calls) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, calls));
    }
}
