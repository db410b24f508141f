package io.rdma4j.exec.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdma4j.exec.bridge.ProgramMemory;
import io.rdma4j.verbs.abi.Native;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/** Makes pointers of C to the functions of {@link DataPath}. They cost a third of a call by JNI, but milliseconds to make. */
final class DataPathStubs {
    private static final int POLL = 0;
    private static final int POLL_TIMED = 8;
    private static final int REQUEST_NOTIFICATION = 16;
    private static final int POST_SEND = 24;
    private static final int POST_RECEIVE = 32;
    private static final int POST_SHARED_RECEIVE = 40;

    private static boolean isInstalled;

    private DataPathStubs() {}

    /**
     * Writes the pointers, unless that was done before.
     *
     * @param target the address of {@code struct bridge_data}, the same at each call
     */
    static synchronized void install(long target) {
        if (isInstalled) {
            return;
        }
        Linker linker = Linker.nativeLinker();
        write(linker, target + POLL, "poll", int.class, int.class, long.class);
        write(linker, target + POLL_TIMED, "pollTimed", int.class, long.class, long.class);
        write(linker, target + REQUEST_NOTIFICATION, "requestNotification", int.class, int.class);
        write(linker, target + POST_SEND, "postSend", int.class, long.class, long.class);
        write(linker, target + POST_RECEIVE, "postReceive", int.class, long.class, long.class);
        write(linker, target + POST_SHARED_RECEIVE, "postSharedReceive", int.class, long.class, long.class);
        ProgramMemory.link();
        isInstalled = true;
    }

    @SuppressWarnings("restricted")
    private static void write(Linker linker, long target, String method, Class<?>... parameters) {
        MemoryLayout[] layouts = new MemoryLayout[parameters.length];
        for (int i = 0; i < parameters.length; i++) {
            layouts[i] = parameters[i] == int.class ? JAVA_INT : JAVA_LONG;
        }
        FunctionDescriptor descriptor = FunctionDescriptor.of(JAVA_INT, layouts);
        long stub = linker.upcallStub(find(method, parameters), descriptor, Arena.global())
                .address();
        Native.putLong(target, stub);
    }

    private static MethodHandle find(String method, Class<?>[] parameters) {
        try {
            return MethodHandles.lookup()
                    .findStatic(DataPath.class, method, MethodType.methodType(int.class, parameters));
        } catch (ReflectiveOperationException e) {
            throw new LinkageError(method, e);
        }
    }
}
