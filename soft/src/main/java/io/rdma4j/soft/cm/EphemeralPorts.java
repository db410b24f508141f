package io.rdma4j.soft.cm;

import io.rdma4j.soft.host.StackClock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.StringTokenizer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The ports from which identifiers get one that asked for any: Linux's {@code net.ipv4.ip_local_port_range}, and where there
 * is no such setting the range that IANA names. Read again after a second: each connection asks. Not thread safe.
 */
final class EphemeralPorts {
    /** How long the setting is taken to be what it was. */
    static final long FRESH_NANOS = 1_000_000_000;

    private static final Path SETTING = Path.of("/proc/sys/net/ipv4/ip_local_port_range");

    /** From and to, both included. */
    record Range(int first, int last) {
        int size() {
            return last - first + 1;
        }
    }

    private static final Range DEFAULT = new Range(49152, 65535);

    private final Path setting;
    private final LongSupplier clock;
    private @Nullable Range known;
    private long readNanos;

    EphemeralPorts(Path setting, LongSupplier clock) {
        this.setting = setting;
        this.clock = clock;
    }

    static EphemeralPorts ofSystem(StackClock clock) {
        return new EphemeralPorts(SETTING, clock::nanoTime);
    }

    /** The range now. */
    Range range() {
        long now = clock.getAsLong();
        Range range = known;
        if (range == null || now - readNanos >= FRESH_NANOS) {
            range = read();
            known = range;
            readNanos = now;
        }
        return range;
    }

    private Range read() {
        try {
            StringTokenizer words = new StringTokenizer(Files.readString(setting));
            int first = Integer.parseInt(words.nextToken());
            int last = Integer.parseInt(words.nextToken());
            return first > 0 && first <= last ? new Range(first, last) : DEFAULT;
        } catch (IOException | RuntimeException noSuchSetting) {
            return DEFAULT;
        }
    }
}
