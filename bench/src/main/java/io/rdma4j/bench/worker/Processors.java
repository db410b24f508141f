package io.rdma4j.bench.worker;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/** Use of processors by this process. */
public final class Processors {
    private Processors() {}

    /** Processor time that this process has used, user and system, in nanoseconds. */
    public static long processCpuNanos() {
        return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime();
    }
}
