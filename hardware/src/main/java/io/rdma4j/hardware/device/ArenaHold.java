package io.rdma4j.hardware.device;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

/**
 * Keeps an arena from being closed while memory of it is registered: {@link Arena#close} throws then. A device writes to
 * registered memory at any time, also to memory that was freed and belongs to something else.
 *
 * <p>Java keeps an arena open during a call of C that has memory of it as an argument, and in no other way that programs can
 * use. So a thread makes such a call, of {@code bsearch(3)}, whose comparison of elements is a method of this class, which
 * returns when the memory is deregistered. There is one thread for each arena with registered memory. It is always parked.
 */
final class ArenaHold {
    private static final FunctionDescriptor COMPARISON = FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG);

    private static final long STACK_BYTES = 256 << 10;

    private static final Map<MemorySegment.Scope, ArenaHold> HOLDS = new HashMap<>();

    private static final MethodHandle SEARCH = search();

    private final MemorySegment.Scope scope;
    private final Thread thread;
    private final CountDownLatch isHeld = new CountDownLatch(1);
    private final CountDownLatch isReleased = new CountDownLatch(1);
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
    private static MethodHandle search() {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(
                linker.defaultLookup().findOrThrow("bsearch"),
                FunctionDescriptor.of(ADDRESS, ADDRESS, ADDRESS, JAVA_LONG, JAVA_LONG, ADDRESS));
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
                HOLDS.put(memory.scope(), hold);
            }
            hold.regions++;
            return hold;
        }
    }

    /** Ends the hold when the last region of the arena is deregistered. The arena can be closed when this returns. */
    void release() {
        synchronized (HOLDS) {
            regions--;
            if (regions == 0) {
                HOLDS.remove(scope);
                isReleased.countDown();
                joinUninterruptibly(thread);
            }
        }
    }

    private void start() {
        thread.start();
        awaitUninterruptibly(isHeld);
        if (!scope.isAlive()) {
            throw new IllegalStateException("the arena of the memory is closed");
        }
    }

    private void hold(MemorySegment memory) {
        try (Arena arena = Arena.ofConfined()) {
            MethodHandle target = MethodHandles.lookup()
                    .findVirtual(ArenaHold.class, "compare", MethodType.methodType(int.class, long.class, long.class))
                    .bindTo(this);
            MemorySegment element = arena.allocate(8);
            var _ = (MemorySegment) SEARCH.invokeExact(memory, element, 1L, 8L, stub(target, arena));
        } catch (Throwable closed) {
            // The arena was closed before the call began: the registration fails with the same error.
            isHeld.countDown();
        }
    }

    @SuppressWarnings("restricted")
    private static MemorySegment stub(MethodHandle target, Arena arena) {
        return Linker.nativeLinker().upcallStub(target, COMPARISON, arena);
    }

    /** Called by C while it has the memory as an argument. */
    private int compare(long key, long element) {
        isHeld.countDown();
        awaitUninterruptibly(isReleased);
        return 0;
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
