package io.rdma4j.soft.cm;

import io.rdma4j.cm.host.SystemFile;
import io.rdma4j.soft.host.StackClock;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.StringTokenizer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The range of ports for identifiers that request any port. Not thread safe.
 *
 * <p>It is Linux's {@code net.ipv4.ip_local_port_range}, or the range that IANA recommends if there is no such setting. The
 * setting is cached for a second, since each connection needs it.
 */
final class EphemeralPorts {
    /** The time for which the setting is cached. */
    static final long CACHE_NANOS = 1_000_000_000;

    private static final Path SETTING = Path.of("/proc/sys/net/ipv4/ip_local_port_range");

    /** The first and the last port, both included. */
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

    /** Returns the current range. */
    Range range() {
        long now = clock.getAsLong();
        Range range = known;
        if (range == null || now - readNanos >= CACHE_NANOS) {
            range = read();
            known = range;
            readNanos = now;
        }
        return range;
    }

    private Range read() {
        try {
            StringTokenizer tokens = new StringTokenizer(SystemFile.read(setting));
            int first = Integer.parseInt(tokens.nextToken());
            int last = Integer.parseInt(tokens.nextToken());
            return first > 0 && first <= last ? new Range(first, last) : DEFAULT;
        } catch (NoSuchFileException | RuntimeException noSuchSetting) {
            return DEFAULT;
        } catch (IOException unknown) {
            Range before = known; // a read error does not mean that the setting changed
            return before == null ? DEFAULT : before;
        }
    }
}
