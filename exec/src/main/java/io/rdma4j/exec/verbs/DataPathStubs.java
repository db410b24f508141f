package io.rdma4j.exec.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdma4j.exec.bridge.ProgramMemory;
import io.rdma4j.verbs.abi.Native;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Makes pointers of C to the functions of {@link DataPath}. They cost a third of a call by JNI, but milliseconds to make. */
final class DataPathStubs {
    /** The functions, in the order of {@code struct bridge_data}. */
    enum Function {
        POLL("poll", int.class, int.class, long.class),
        POLL_TIMED("pollTimed", int.class, long.class, long.class),
        REQUEST_NOTIFICATION("requestNotification", int.class, int.class),
        POST_SEND("postSend", int.class, long.class, long.class),
        POST_RECEIVE("postReceive", int.class, long.class, long.class),
        POST_SHARED_RECEIVE("postSharedReceive", int.class, long.class, long.class);

        private final String method;
        private final Class<?>[] parameters;

        Function(String method, Class<?>... parameters) {
            this.method = method;
            this.parameters = parameters;
        }

        private FunctionDescriptor descriptor() {
            MemoryLayout[] layouts = Stream.of(parameters)
                    .map(type -> type == int.class ? JAVA_INT : JAVA_LONG)
                    .toArray(MemoryLayout[]::new);
            return FunctionDescriptor.of(JAVA_INT, layouts);
        }
    }

    private static final Function[] FUNCTIONS = Function.values();

    private static MemorySegment @Nullable [] stubs;

    private DataPathStubs() {}

    private static synchronized MemorySegment[] stubs() {
        MemorySegment[] known = stubs;
        if (known == null) {
            known = Stream.of(FUNCTIONS).map(DataPathStubs::stub).toArray(MemorySegment[]::new);
            ProgramMemory.link();
            stubs = known;
        }
        return known;
    }

    /**
     * Writes the pointers.
     *
     * @param target the address of {@code struct bridge_data}
     */
    static void install(long target) {
        MemorySegment[] pointers = stubs();
        for (int i = 0; i < pointers.length; i++) {
            Native.putLong(target + (long) i * Long.BYTES, pointers[i].address());
        }
    }

    /** Returns a handle that calls a function by its pointer, as C does. */
    @SuppressWarnings("restricted")
    static MethodHandle caller(Function function) {
        return Linker.nativeLinker().downcallHandle(stubs()[function.ordinal()], function.descriptor());
    }

    @SuppressWarnings("restricted")
    private static MemorySegment stub(Function function) {
        return Linker.nativeLinker().upcallStub(find(function), function.descriptor(), Arena.global());
    }

    private static MethodHandle find(Function function) {
        try {
            return MethodHandles.lookup()
                    .findStatic(DataPath.class, function.method, MethodType.methodType(int.class, function.parameters));
        } catch (ReflectiveOperationException e) {
            throw new LinkageError(function.method, e);
        }
    }
}
