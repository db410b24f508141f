package io.rdma4j.soft;

import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A process that idles like {@link IdleProcess}, and reports at its exit whether a thread of its engine blocks in the
 * kernel.
 *
 * <p>Such a thread is runnable for Java, and delays the exit of the virtual machine.
 */
public final class EndingProcess {
    private static final int LOOKS = 40;
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    private EndingProcess() {}

    /** Runs the process; the arguments are those of {@link IdleProcess}. */
    public static void main(String[] arguments) throws Exception {
        // The order of shutdown hooks is undefined: this one checks until the engine's hook has finished.
        Runtime.getRuntime().addShutdownHook(new Thread(EndingProcess::report));
        IdleProcess.main(arguments);
    }

    /** Counts checks without a thread in a blocking system call; reports when half of them found none. */
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
