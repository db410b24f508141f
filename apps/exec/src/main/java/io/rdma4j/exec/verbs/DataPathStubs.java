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

/** Creates C function pointers to {@link DataPath}. A call costs a third of a JNI call; creation takes milliseconds. */
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

    /** The address of {@code struct bridge_data}; 0 until a C program opens a device, and in tests. */
    private static long target;

    private static boolean isInstalled;

    private DataPathStubs() {}

    /** Sets the address of {@code struct bridge_data}. All calls pass the same address. */
    static synchronized void setTarget(long address) {
        target = address;
    }

    /** Creates and writes the pointers at the first call. Called before C receives an object to poll or post to. */
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

    /** A function of {@code struct bridge_data} that returns an {@code int}. Thread safe. */
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

        /** Returns a handle that calls the function through its pointer, like C. */
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
