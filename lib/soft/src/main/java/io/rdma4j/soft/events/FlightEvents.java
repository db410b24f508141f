package io.rdma4j.soft.events;

import io.rdma4j.cm.host.AddressText;
import io.rdma4j.value.Gid;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Locale;
import jdk.jfr.Event;
import jdk.jfr.FlightRecorder;
import org.jspecify.annotations.Nullable;

/**
 * The access to Java Flight Recorder.
 *
 * <p>Callers create an event only if {@link #isOn} returns true. Until then no class of an event is loaded, so that the
 * device also works with a Java runtime without the module {@code jdk.jfr}.
 */
public final class FlightEvents {
    private static final boolean IS_PRESENT =
            ModuleLayer.boot().findModule("jdk.jfr").isPresent();

    private FlightEvents() {}

    /** Returns whether Flight Recorder may be recording. Costs a read of a field; any thread. */
    public static boolean isOn() {
        return IS_PRESENT && FlightRecorder.isInitialized();
    }

    /** Returns whether this Java runtime contains Flight Recorder. */
    public static boolean isPresent() {
        return IS_PRESENT;
    }

    /** Returns all events, so that their settings can be listed before the first one occurs. */
    public static List<Class<? extends Event>> all() {
        return List.of(
                ConnectionSetupEvent.class,
                ConnectionEndEvent.class,
                RetransmissionEvent.class,
                ReceiverNotReadyEvent.class,
                QueuePairErrorEvent.class,
                MemoryRegistrationEvent.class,
                PortOwnershipEvent.class,
                DeviceCountersEvent.class,
                QueuePairCountersEvent.class);
    }

    /** Returns the number of a queue pair as text, in the format of log messages; empty for 0. */
    public static String queuePair(int number) {
        return number == 0 ? "" : String.format(Locale.ROOT, "0x%06x", number);
    }

    /** Returns an address in GID form as text; empty if it is not known yet. */
    public static String address(long high, long low) {
        return high == 0 && low == 0 ? "" : AddressText.of(new Gid(high, low).toInetAddress());
    }

    /** Returns an address as text; empty for null. */
    public static String address(@Nullable InetAddress address) {
        return address == null ? "" : AddressText.of(address);
    }

    /** Returns an address with a port as text; empty for null. */
    public static String address(@Nullable InetSocketAddress address) {
        return address == null ? "" : AddressText.of(address);
    }
}
