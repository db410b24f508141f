package io.rdma4j.verbs.spi;

/**
 * Fills stacks, and uses the stack that the check guarantees. It needs no test framework, because
 * {@link StackReserveTest} also runs it in separate processes.
 */
final class StackReserveProcess {
    private static final int SMALL_STACK_BYTES = 256 * 1024;

    /** Frames of {@link #descend} that need about 16 KiB while it is interpreted. */
    private static final int FRAMES = 60;

    /** One returning frame in so many checks the stack, since frames are smaller than the stack that a check needs. */
    private static final int PERIOD = 4;

    private int returns;
    private int overflows;
    private int passes;

    /** Throws the error of a thread that passed the check but had too little stack. */
    public static void main(String[] arguments) throws InterruptedException {
        int rounds = Integer.parseInt(arguments[0]);
        for (int round = 0; round < rounds; round++) {
            StackReserveProcess state = new StackReserveProcess();
            Throwable[] failure = new Throwable[1];
            Thread thread = new Thread(null, state::fillAndTry, "small", SMALL_STACK_BYTES + round * 512L);
            thread.setUncaughtExceptionHandler((_, thrown) -> failure[0] = thrown);
            thread.start();
            thread.join();
            if (failure[0] != null) {
                throw new IllegalStateException("round " + round, failure[0]);
            }
            if (state.overflows == 0 || state.passes == 0) {
                throw new IllegalStateException(state.overflows + " overflows, " + state.passes + " passes");
            }
        }
    }

    /** Fills the stack. Then every fourth of the returning frames checks and uses the stack. */
    @SuppressWarnings("InfiniteRecursion") // on purpose
    private void fillAndTry() {
        boolean isFull = false;
        try {
            fillAndTry();
        } catch (StackOverflowError full) {
            isFull = true;
        }
        if (!isFull && passes > 0) {
            return; // far enough from the end
        }
        if (returns++ % PERIOD == 0) {
            tryOnce();
        }
    }

    private void tryOnce() {
        try {
            StackReserve.require();
        } catch (StackOverflowError refused) {
            overflows++;
            throw refused;
        }
        try {
            long _ = descend(FRAMES, 1, 2, 3, 4, 5, 6, 7, 8);
        } catch (StackOverflowError full) {
            throw new IllegalStateException("the check has passed", full);
        }
        passes++;
    }

    /** Has a frame of about 250 bytes while it is interpreted. */
    private static long descend(int frames, long a, long b, long c, long d, long e, long f, long g, long h) {
        return frames == 0 ? 0 : descend(frames - 1, b, c, d, e, f, g, h, a) + a + h;
    }
}
