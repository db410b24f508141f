package io.rdma4j.simulator;

import io.rdma4j.simulator.network.NetworkObserver;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.dissector.Dissector;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The event log of a run: passes each line to a reader, and keeps the last lines for failure reports. */
final class EventLog implements NetworkObserver {
    private static final int MAX_KEPT = 40;
    private static final double NANOS_PER_MILLI = 1e6;

    /** An event; a frame is dissected only when the event is printed. */
    private record Event(
            long nowNanos, String text, @Nullable Frame frame) {
        @Override
        public String toString() {
            String line = frame == null ? text : text + Dissector.line(frame);
            return String.format(Locale.ROOT, "%12.6f ms  %s", nowNanos / NANOS_PER_MILLI, line);
        }
    }

    private final @Nullable Consumer<String> reader;
    private final ArrayDeque<Event> last = new ArrayDeque<>(MAX_KEPT + 1);

    /** Creates an empty log. The reader, if not null, receives each line immediately. */
    EventLog(@Nullable Consumer<String> reader) {
        this.reader = reader;
    }

    @Override
    public void onFrame(long nowNanos, Fate fate, Frame frame) {
        add(new Event(nowNanos, fate == Fate.LOST ? "lost: " : "", frame));
    }

    /** Adds an event. */
    void note(long nowNanos, String text) {
        add(new Event(nowNanos, "-- " + text, null));
    }

    private void add(Event event) {
        if (reader != null) {
            reader.accept(event.toString());
        }
        last.add(event);
        if (last.size() > MAX_KEPT) {
            last.remove();
        }
    }

    /** Returns the last lines, the latest last. */
    List<String> lastEvents() {
        List<String> lines = new ArrayList<>();
        last.forEach(event -> lines.add(event.toString()));
        return lines;
    }
}
