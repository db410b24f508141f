package io.rdma4j.verbs.spi;

import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

/**
 * Returns the parts of {@link QueuePairInitAttributes} that may only be missing for the queue pair of an identifier.
 * The connection manager adds them before it calls the provider, so a missing part is an error of the program. Thread
 * safe.
 */
public final class RequiredAttributes {
    private RequiredAttributes() {}

    /**
     * Returns the type.
     *
     * @throws RdmaException {@code EINVAL} if it is missing
     */
    public static QueuePairType type(QueuePairInitAttributes attributes) {
        return required(attributes.type(), "type");
    }

    /**
     * Returns the completion queue of send work requests.
     *
     * @throws RdmaException {@code EINVAL} if it is missing
     */
    public static CompletionQueue sendCompletions(QueuePairInitAttributes attributes) {
        return required(attributes.sendCompletions(), "completion queue for sends");
    }

    /**
     * Returns the completion queue of receives.
     *
     * @throws RdmaException {@code EINVAL} if it is missing
     */
    public static CompletionQueue receiveCompletions(QueuePairInitAttributes attributes) {
        return required(attributes.receiveCompletions(), "completion queue for receives");
    }

    private static <T> T required(@Nullable T part, String name) {
        if (part == null) {
            throw new RdmaException(
                    "ibv_create_qp",
                    Errno.EINVAL,
                    "attributes without a " + name,
                    "Start with QueuePairInitAttributes.reliable or of(type, completions, capabilities): only"
                            + " CmId.createQueuePair adds missing parts");
        }
        return part;
    }
}
