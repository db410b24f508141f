package io.rdma4j.cm.spi;

import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;

/** The rule for setting the acknowledgement timeout, for Java's API and for the connection manager of C programs. */
public final class AcknowledgementTimeouts {
    private AcknowledgementTimeouts() {}

    /**
     * Checks that a queue pair waits for acknowledgements.
     *
     * @param type the type of the identifier's queue pair
     * @throws RdmaException {@code EINVAL} if it does not, like in Linux
     */
    public static void require(QueuePairType type) {
        if (type != QueuePairType.RELIABLE_CONNECTION && type != QueuePairType.XRC_SEND) {
            throw new RdmaException(
                    "rdma_set_option",
                    Errno.EINVAL,
                    "a queue pair of the type " + type + " waits for no acknowledgements",
                    "Set their timeout for reliable connections only");
        }
    }
}
