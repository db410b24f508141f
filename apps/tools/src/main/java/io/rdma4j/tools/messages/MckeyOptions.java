package io.rdma4j.tools.messages;

import io.rdma4j.tools.command.ToolReport;
import io.rdma4j.value.PortSpace;
import org.jspecify.annotations.Nullable;

/**
 * The options of a run of mckey.
 *
 * @param group {@code -m} or {@code -M}: the group as typed, or null
 * @param unmapped {@code -M}: true if the group is a GID
 * @param sender {@code -s}: true for a sender
 * @param source {@code -b}: the local address as typed, or null
 * @param portSpace {@code -p}: the port space
 * @param connections {@code -c}: the number of members
 * @param messageCount {@code -C}: the number of messages
 * @param messageBytes {@code -S}: the size of a message
 * @param sendOnly {@code -o}: true to join as a send-only member
 * @param loopback false with {@code -l}: members do not receive their own messages
 */
record MckeyOptions(
        @Nullable String group,
        boolean unmapped,
        boolean sender,
        @Nullable String source,
        PortSpace portSpace,
        int connections,
        int messageCount,
        int messageBytes,
        boolean sendOnly,
        boolean loopback) {
    /** Adds the parameters to a report. */
    void addTo(ToolReport report) {
        report.parameter("role", sender ? "sender" : "receiver")
                .parameter("group", group)
                .parameter("unmapped", unmapped)
                .parameter("source", source)
                .parameter("portSpace", portSpace.name())
                .parameter("connections", connections)
                .parameter("messageCount", messageCount)
                .parameter("messageBytes", messageBytes)
                .parameter("sendOnly", sendOnly)
                .parameter("loopback", loopback);
    }
}
