package io.rdma4j.soft.device;

import io.rdma4j.transport.RcQueuePair;
import io.rdma4j.value.CompletionStatus;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Explains how a work request of a reliable connection has failed. */
final class QueuePairExplanations {
    private static final double NANOS_PER_MILLI = 1e6;

    private QueuePairExplanations() {}

    /**
     * Returns the meaning of a status.
     *
     * @param parameters of the connection; null while it cannot send
     */
    static String of(CompletionStatus status, RcQueuePair.@Nullable SendParameters parameters) {
        if (parameters == null) {
            return status.text();
        }
        return switch (status) {
            case RETRY_EXCEEDED_ERROR -> status.text() + noResponse(parameters);
            case RNR_RETRY_EXCEEDED_ERROR ->
                String.format(
                        Locale.ROOT,
                        "%s: the peer had no receive posted; tried %d times (RNR retry count %d)",
                        status.text(),
                        parameters.rnrRetry() + 1,
                        parameters.rnrRetry());
            default -> status.text();
        };
    }

    private static String noResponse(RcQueuePair.SendParameters p) {
        String text = String.format(
                Locale.ROOT,
                ": the peer did not answer; tried %d times (retry count %d)",
                p.retryCount() + 1,
                p.retryCount());
        return p.retryTimeoutNanos() == Long.MAX_VALUE
                ? text
                : String.format(
                        Locale.ROOT,
                        "%s, and waited up to %.1f ms each time (timeout %d)",
                        text,
                        p.retryTimeoutNanos() / NANOS_PER_MILLI,
                        p.timeoutExponent());
    }
}
