package io.rdma4j.hardware.device;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdma4j.hardware.library.Call;
import io.rdma4j.verbs.DeviceAttributes;
import io.rdma4j.verbs.abi.Flags;
import io.rdma4j.verbs.abi.VerbsStructures.ClockValues;
import io.rdma4j.verbs.abi.VerbsStructures.ExtendedContext;
import java.lang.foreign.MemorySegment;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** The clock by which a device stamps completions. Thread safe. */
final class DeviceClock {
    private static final long NANOS_PER_MILLISECOND = 1_000_000;
    private static final long NANOS_PER_SECOND = 1_000_000_000;

    /** The interval between readings of both clocks: they drift apart, and the time of day may be set. */
    private static final long MEASURE_INTERVAL_NANOS = NANOS_PER_SECOND;

    private final HardwareContext context;
    private final long kilohertz;
    private final long mask;
    private final long periodNanos;
    private volatile @Nullable Reading last;

    /** A simultaneous reading of both clocks. */
    private record Reading(long deviceNanos, long epochNanos, long systemNanos) {}

    private DeviceClock(HardwareContext context, DeviceAttributes attributes) {
        this.context = context;
        kilohertz = attributes.clockKilohertz();
        mask = attributes.completionTimestampMask();
        long milliseconds = Long.divideUnsigned(mask, kilohertz);
        periodNanos = milliseconds > Long.MAX_VALUE / NANOS_PER_MILLISECOND - 1 ? 0 : nanos(mask) + nanos(1);
    }

    /** Returns a device's clock, or null if the device does not stamp completions or its clock cannot be read. */
    static @Nullable DeviceClock of(HardwareContext context) {
        DeviceAttributes attributes = context.attributes();
        boolean isUsable = attributes.completionTimestampMask() != 0
                && attributes.clockKilohertz() > 0
                && context.hasExtendedFunction(ExtendedContext.QUERY_CLOCK)
                && context.hasExtendedFunction(ExtendedContext.CREATE_COMPLETION_QUEUE);
        return isUsable ? new DeviceClock(context, attributes) : null;
    }

    /** Converts ticks to nanoseconds. */
    long nanos(long ticks) {
        long valid = ticks & mask;
        return Long.divideUnsigned(valid, kilohertz) * NANOS_PER_MILLISECOND
                + Long.remainderUnsigned(valid, kilohertz) * NANOS_PER_MILLISECOND / kilohertz;
    }

    /** Converts a time of this clock to nanoseconds since 1970. Reads the clock at most once a second. */
    long epochNanos(long deviceNanos) {
        Reading reading = last;
        if (reading == null || System.nanoTime() - reading.systemNanos > MEASURE_INTERVAL_NANOS) {
            reading = read();
            last = reading;
        }
        long since = deviceNanos - reading.deviceNanos;
        if (since > periodNanos / 2) {
            since -= periodNanos;
        } else if (since < -periodNanos / 2) {
            since += periodNanos;
        }
        return reading.epochNanos + since;
    }

    private Reading read() {
        long pointer = context.handle().enter("ibv_query_rt_values_ex", context);
        try (Call call = new Call()) {
            MemorySegment values = call.allocate(ClockValues.BYTES);
            values.set(JAVA_INT, ClockValues.MASK, Flags.RAW_CLOCK);
            MemorySegment query = context.function(ExtendedContext.QUERY_CLOCK);
            long before = epochNanos();
            int error = (int) call.result(query, pointer, values.address());
            long after = epochNanos();
            call.checkResult("ibv_query_rt_values_ex", context.toString(), error);
            long deviceNanos = nanos(values.get(JAVA_LONG, ClockValues.TICKS));
            return new Reading(deviceNanos, before + (after - before) / 2, System.nanoTime());
        } finally {
            context.handle().exit();
        }
    }

    private static long epochNanos() {
        Instant now = Instant.now();
        return now.getEpochSecond() * NANOS_PER_SECOND + now.getNano();
    }
}
