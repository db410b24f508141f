package io.rdma4j.soft;

import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A process that idles as {@link IdleProcess} does, and while it ends says whether a thread of its engine sleeps in the
 * kernel: such a thread is runnable for Java, and holds up the end of the virtual machine.
 */
public final class EndingProcess {
    private static final int LOOKS = 40;
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    private EndingProcess() {}

    /** Runs; the arguments are those of {@link IdleProcess}. */
    public static void main(String[] arguments) throws Exception {
        // The order of shutdown hooks is open: this one looks until the engine's has done its work.
        Runtime.getRuntime().addShutdownHook(new Thread(EndingProcess::report));
        IdleProcess.main(arguments);
    }

    /** Counts looks without a thread in a system call that waits; half of them must be, and then the last word is out. */
    private static void report() {
        int asleepInJava = 0;
        for (int i = 0; i < LOOKS; i++) {
            LockSupport.parkNanos(PAUSE_NANOS);
            asleepInJava += isAnyInKernel() ? 0 : 1;
        }
        System.out.println(asleepInJava >= LOOKS / 2 ? "nobody in the kernel" : "somebody in the kernel");
        System.out.flush();
    }

    private static boolean isAnyInKernel() {
        for (Map.Entry<Thread, StackTraceElement[]> each :
                Thread.getAllStackTraces().entrySet()) {
            if (each.getKey().getState() == Thread.State.RUNNABLE && isInLinks(each.getValue())) {
                return true;
            }
        }
        return false;
    }

    private static boolean isInLinks(StackTraceElement[] stack) {
        for (StackTraceElement frame : stack) {
            if (frame.getMethodName().equals("await") && frame.getClassName().startsWith("io.rdma4j.link.")) {
                return true;
            }
        }
        return false;
    }
}
