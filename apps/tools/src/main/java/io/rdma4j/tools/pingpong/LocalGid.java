package io.rdma4j.tools.pingpong;

import io.rdma4j.tools.command.GidText;
import io.rdma4j.tools.command.ToolFailure;
import io.rdma4j.value.Gid;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.spi.DeviceChoice;
import java.util.List;

/**
 * The GID of this side.
 *
 * @param index the index in the port's GID table, or negative if there is no GID
 * @param gid the GID, or zero if there is none
 */
record LocalGid(int index, Gid gid) {
    /** The explanation of a missing GID. */
    static final String HINT = "RoCE needs a GID on both sides: use -g INDEX on each; ibv_devinfo -v lists the GIDs";

    /**
     * Returns the GID that {@code -g} selects. Without {@code -g} it is the GID of {@code --device} if that is an
     * address; otherwise there is none, as in C.
     *
     * @param index the index of {@code -g}, or negative
     * @param missingLine C's line if there is no GID at the index
     */
    static LocalGid of(PingpongCalls calls, DeviceContext context, int port, int index, String missingLine)
            throws ToolFailure {
        List<Gid> gids = calls.call("Couldn't get port info", () -> context.gids(port));
        if (index < 0) {
            int chosen = DeviceChoice.current()
                    .address()
                    .map(address -> context.gidIndex(port, Gid.of(address)))
                    .orElse(-1);
            return new LocalGid(chosen, chosen < 0 ? Gid.ZERO : gids.get(chosen));
        }
        if (index >= gids.size() || gids.get(index).equals(Gid.ZERO)) {
            throw calls.failure(missingLine, context.device().name() + " has " + table(gids));
        }
        return new LocalGid(index, gids.get(index));
    }

    private static String table(List<Gid> gids) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < gids.size(); i++) {
            if (!gids.get(i).equals(Gid.ZERO)) {
                text.append(text.isEmpty() ? "" : ", ").append(i).append(" = ").append(GidText.of(gids.get(i)));
            }
        }
        return text.isEmpty() ? "no GID" : "GIDs " + text;
    }
}
