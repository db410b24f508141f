package io.rdma4j.conformance.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/**
 * Checks of calls that a device refuses.
 *
 * <p>Every device gives the error number, and names the operation and the object. The sentence about the cause is that of the
 * software device, because a kernel gives no more than the number.
 */
public final class Refusals {
    private Refusals() {}

    /** Checks that a call is refused with an error number, by the software device also with these words. */
    public static void assertRefused(Errno errno, String words, ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOfSatisfying(RdmaException.class, refused -> {
            assertThat(refused.errno()).isEqualTo(errno);
            assertThat(refused).hasMessageContaining(refused.operation());
            if (TestDevices.driver() == Driver.SOFTWARE) {
                assertThat(refused).hasMessageContaining(words);
            }
        });
    }
}
