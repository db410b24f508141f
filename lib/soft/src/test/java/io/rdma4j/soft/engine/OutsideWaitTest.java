package io.rdma4j.soft.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.soft.SoftStack;
import io.rdma4j.soft.device.StackAccess;
import io.rdma4j.verbs.wait.WaitDriver;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * While a thread may wait for a descriptor outside of Java, the device drives itself, even if another thread polls it.
 */
@Timeout(60)
class OutsideWaitTest {
    private static final long POLL_INTERVAL_NANOS = 100_000;
    private static final int SAMPLES = 100;

    private final Set<Thread> before = engineThreads();

    private static Set<Thread> engineThreads() {
        Set<Thread> found = new HashSet<>();
        for (Thread each : Thread.getAllStackTraces().keySet()) {
            if (each.getName().equals("rdma4j-engine")) {
                found.add(each);
            }
        }
        return found;
    }

    private Thread startedThread() {
        Set<Thread> started = engineThreads();
        started.removeAll(before);
        assertThat(started).hasSize(1);
        return started.iterator().next();
    }

    private static boolean drives(Thread background) {
        return Arrays.stream(background.getStackTrace())
                .anyMatch(frame -> frame.getMethodName().equals("lead"));
    }

    /** Polls the device until the background thread drives it, or yields to the polling thread. */
    private static void pollUntil(boolean driven, WaitDriver device, Thread background) {
        while (drives(background) != driven) {
            device.poll();
            LockSupport.parkNanos(POLL_INTERVAL_NANOS);
        }
    }

    @Test
    void aDeviceDrivesItselfDuringAnOutsideWait() {
        try (SoftStack stack = SoftStack.create()) {
            WaitDriver device = StackAccess.devices(stack).engine();
            Thread background = startedThread();
            pollUntil(false, device, background);
            device.beginOutsideWait();
            device.beginOutsideWait();
            pollUntil(true, device, background);
            device.endOutsideWait(); // the other one continues
            for (int i = 0; i < SAMPLES; i++) {
                device.poll();
                assertThat(drives(background)).as("after %d polls", i).isTrue();
                LockSupport.parkNanos(POLL_INTERVAL_NANOS);
            }
            device.endOutsideWait();
            pollUntil(false, device, background);
        }
    }

    @Test
    void idleDeviceIsDrivenImmediately() {
        try (SoftStack stack = SoftStack.create()) {
            WaitDriver device = StackAccess.devices(stack).engine();
            Thread background = startedThread();
            device.beginOutsideWait();
            while (!drives(background)) {
                Thread.onSpinWait();
            }
            device.endOutsideWait();
        }
    }
}
