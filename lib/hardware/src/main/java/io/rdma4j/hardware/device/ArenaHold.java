package io.rdma4j.hardware.device;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

/**
 * Keeps an arena open while any of its memory is registered: {@link Arena#close} throws meanwhile. A device may write
 * to registered memory at any time, even after the memory was freed and is used for something else.
 *
 * <p>Java keeps an arena open during a downcall that has a segment of the arena as an argument, and offers programs no
 * other way. A thread therefore makes such a call, which lasts until the memory is deregistered. It calls
 * {@code pthread_cond_wait(3)} with the segment as an additional argument, which the function does not read. Each arena
 * with registered memory has one thread, which sleeps.
 */
final class ArenaHold {
    /** More than a mutex or a condition needs. On glibc and musl, their static initializers are all zeros. */
    private static final long OBJECT_BYTES = 128;

    private static final long STACK_BYTES = 256 << 10;
    private static final FunctionDescriptor THREE_POINTERS = FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS);
    private static final MethodHandle LOCK = handle("pthread_mutex_lock");
    private static final MethodHandle UNLOCK = handle("pthread_mutex_unlock");
    private static final MethodHandle WAIT = handle("pthread_cond_wait");
    private static final MethodHandle SIGNAL = handle("pthread_cond_signal");

    private static final Map<MemorySegment.Scope, ArenaHold> HOLDS = new HashMap<>();

    private final MemorySegment.Scope scope;
    private final Thread thread;
    private final MemorySegment mutex = Arena.ofAuto().allocate(OBJECT_BYTES, 16);
    private final MemorySegment condition = Arena.ofAuto().allocate(OBJECT_BYTES, 16);
    private final CountDownLatch hasLocked = new CountDownLatch(1);
    private volatile boolean released;
    private int regions;

    private ArenaHold(MemorySegment memory) {
        scope = memory.scope();
        thread = Thread.ofPlatform()
                .daemon()
                .stackSize(STACK_BYTES)
                .name("rdma4j-arena")
                .unstarted(() -> hold(memory));
    }

    @SuppressWarnings("restricted")
    private static MethodHandle handle(String function) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(linker.defaultLookup().findOrThrow(function), THREE_POINTERS);
    }

    /**
     * Holds the arena of memory that is about to be registered.
     *
     * @throws IllegalStateException if it is closed
     */
    static ArenaHold of(MemorySegment memory) {
        synchronized (HOLDS) {
            ArenaHold hold = HOLDS.get(memory.scope());
            if (hold == null) {
                hold = new ArenaHold(memory);
                hold.start();
                HOLDS.put(hold.scope, hold);
            }
            hold.regions++;
            return hold;
        }
    }

    private void start() {
        thread.start();
        awaitUninterruptibly(hasLocked);
        // The thread has the mutex until it waits, with the memory as an argument.
        call(LOCK, mutex);
        call(UNLOCK, mutex);
        if (!scope.isAlive()) {
            throw new IllegalStateException("the arena of the memory is closed");
        }
    }

    private void hold(MemorySegment memory) {
        call(LOCK, mutex);
        hasLocked.countDown();
        try {
            while (!released) {
                var _ = (int) WAIT.invokeExact(condition, mutex, memory);
            }
        } catch (IllegalStateException closed) {
            // The arena was closed before the call: start() checks for this in the registering thread.
        } catch (Throwable thrown) {
            throw new AssertionError("a function of C does not throw", thrown);
        } finally {
            call(UNLOCK, mutex);
        }
    }

    /** Ends the hold when the last region of the arena is deregistered. The arena can be closed when this returns. */
    void release() {
        synchronized (HOLDS) {
            regions--;
            if (regions > 0) {
                return;
            }
            HOLDS.remove(scope);
            released = true;
            call(LOCK, mutex);
            call(SIGNAL, condition);
            call(UNLOCK, mutex);
            joinUninterruptibly(thread);
        }
    }

    private static void call(MethodHandle function, MemorySegment object) {
        try {
            var _ = (int) function.invokeExact(object, MemorySegment.NULL, MemorySegment.NULL);
        } catch (Throwable thrown) {
            throw new AssertionError("a function of C does not throw", thrown);
        }
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        uninterruptibly(latch::await);
    }

    private static void joinUninterruptibly(Thread thread) {
        uninterruptibly(thread::join);
    }

    /** A wait that an interrupt ends. */
    private interface Wait {
        void run() throws InterruptedException;
    }

    private static void uninterruptibly(Wait wait) {
        boolean isInterrupted = false;
        while (true) {
            try {
                wait.run();
                break;
            } catch (InterruptedException again) {
                isInterrupted = true;
            }
        }
        if (isInterrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
