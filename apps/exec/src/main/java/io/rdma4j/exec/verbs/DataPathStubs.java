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
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Makes pointers of C to the functions of {@link DataPath}. They cost a third of a call by JNI, but milliseconds to make. */
final class DataPathStubs {
    static final Function POLL = new Function(0, "poll", int.class, int.class, long.class);
    static final Function POST_SEND = new Function(24, "postSend", int.class, long.class, long.class);
    static final Function POST_RECEIVE = new Function(32, "postReceive", int.class, long.class, long.class);

    private static final List<Function> FUNCTIONS = List.of(
            POLL,
            new Function(8, "pollTimed", int.class, long.class, long.class),
            new Function(16, "requestNotification", int.class, int.class),
            POST_SEND,
            POST_RECEIVE,
            new Function(40, "postSharedReceive", int.class, long.class, long.class));

    /** The address of {@code struct bridge_data}; 0 while no program in C has opened a device, as in tests that call from Java. */
    private static long target;

    private static boolean isInstalled;

    private DataPathStubs() {}

    /** Sets the address of {@code struct bridge_data}, the same at each call. */
    static synchronized void setTarget(long address) {
        target = address;
    }

    /** Writes the pointers, unless that was done before. Each object that C polls or posts to needs them. */
    static synchronized void install() {
        if (isInstalled || target == 0) {
            return;
        }
        for (Function function : FUNCTIONS) {
            Native.putLong(target + function.offset, function.stub().address());
        }
        ProgramMemory.link();
        isInstalled = true;
    }

    /** A function of {@code struct bridge_data}, which returns an {@code int}. Thread safe. */
    static final class Function {
        private final int offset;
        private final String method;
        private final MethodType type;
        private @Nullable MemorySegment stub;

        private Function(int offset, String method, Class<?>... parameters) {
            this.offset = offset;
            this.method = method;
            type = MethodType.methodType(int.class, parameters);
        }

        /** Returns a handle that calls the function by its pointer, as C does. */
        @SuppressWarnings("restricted")
        MethodHandle caller() {
            return Linker.nativeLinker().downcallHandle(stub(), descriptor());
        }

        @SuppressWarnings("restricted")
        private synchronized MemorySegment stub() {
            MemorySegment known = stub;
            if (known == null) {
                known = Linker.nativeLinker().upcallStub(find(), descriptor(), Arena.global());
                stub = known;
            }
            return known;
        }

        private MethodHandle find() {
            try {
                return MethodHandles.lookup().findStatic(DataPath.class, method, type);
            } catch (ReflectiveOperationException e) {
                throw new LinkageError(method, e);
            }
        }

        private FunctionDescriptor descriptor() {
            MemoryLayout[] layouts = type.parameterList().stream()
                    .map(parameter -> parameter == int.class ? JAVA_INT : JAVA_LONG)
                    .toArray(MemoryLayout[]::new);
            return FunctionDescriptor.of(JAVA_INT, layouts);
        }
    }
}
