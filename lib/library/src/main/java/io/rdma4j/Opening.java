package io.rdma4j;

import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionManager;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.value.PortSpace;
import java.util.function.BiFunction;

/** Opens an identifier that reports to its own channel, for the object that closes both later. */
final class Opening {
    private Opening() {}

    /**
     * Opens a channel and an identifier, and closes them if the object cannot be made.
     *
     * @param make makes the object that the channel and the identifier belong to
     */
    static <T> T open(ConnectionManager manager, PortSpace space, BiFunction<EventChannel, CmId, T> make) {
        EventChannel channel = manager.openEventChannel();
        try {
            CmId id = channel.createId(space);
            try {
                return make.apply(channel, id);
            } catch (RuntimeException | Error failed) {
                Cleanup.after(failed, id::close);
                throw failed;
            }
        } catch (RuntimeException | Error failed) {
            Cleanup.after(failed, channel::close);
            throw failed;
        }
    }
}
