package io.rdma4j.tools.messages;

import io.rdma4j.cm.PortSpace;
import io.rdma4j.tools.ToolReport;
import org.jspecify.annotations.Nullable;

/**
 * What a run of mckey is to do.
 *
 * @param group {@code -m} or {@code -M}: the group as typed, or null
 * @param unmapped {@code -M}: the group is a GID
 * @param sender {@code -s}
 * @param source {@code -b}: the local address as typed, or null
 * @param portSpace {@code -p}
 * @param connections {@code -c}: members
 * @param messageCount {@code -C}
 * @param messageBytes {@code -S}
 * @param sendOnly {@code -o}: joins to send only
 * @param loopback false with {@code -l}: members do not hear themselves
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
    /** Tells the parameters to programs. */
    void tell(ToolReport report) {
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
