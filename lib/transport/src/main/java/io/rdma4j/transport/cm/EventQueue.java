package io.rdma4j.transport.cm;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * The events of an agent that its owner has not polled yet, in order. The owner polls after each message, so they are few. The
 * requests that it has polled and the application has not taken are limited by the backlog of their listener
 * (decision 057).
 */
final class EventQueue {
    private final ArrayDeque<AgentEvent> pending = new ArrayDeque<>();

    /** The request or reply that the owner has polled last, until it polls again. */
    private @Nullable CmConnection undecided;

    void add(AgentEvent event) {
        pending.add(event);
    }

    /** Removes and returns the next event, or null. Skips events of objects that the owner has destroyed meanwhile. */
    @Nullable
    AgentEvent poll() {
        CmConnection previous = undecided;
        if (previous != null) {
            undecided = null;
            previous.awaitDecision();
        }
        AgentEvent event = pending.poll();
        while (event != null && !isWanted(event)) {
            event = pending.poll();
        }
        if (event instanceof AgentEvent.Requested || event instanceof AgentEvent.Replied) {
            undecided = ((AgentEvent.OfConnection) event).connection();
        }
        return event;
    }

    private static boolean isWanted(AgentEvent event) {
        return switch (event) {
            case AgentEvent.TimewaitExit _, AgentEvent.Opened _, AgentEvent.Closed _ -> true;
            case AgentEvent.OfConnection ofConnection ->
                !ofConnection.connection().isDestroyed();
            case AgentEvent.OfResolution ofResolution ->
                !ofResolution.resolution().isCancelled();
            case AgentEvent.ServiceRequested _ -> true;
        };
    }
}
