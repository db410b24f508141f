package io.rdma4j.sockets.io;

import io.rdma4j.verbs.spi.ParkingDriver;
import io.rdma4j.verbs.wait.WaitDriver;

/**
 * The system's clock, for waits that involve no stack: for threads of this process, and for UDP and TCP sockets of the
 * platform. All other times of a socket are times of its stack's clock ({@link SocketEndpoint#nanoTime}), which may be
 * virtual.
 */
public final class SystemTime {
    /** Parks threads while there is no device to drive. */
    public static final WaitDriver PARKING = new ParkingDriver(SystemTime::nanos);

    private SystemTime() {}

    /** Returns the time of {@link System#nanoTime}. */
    public static long nanos() {
        return System.nanoTime();
    }
}
