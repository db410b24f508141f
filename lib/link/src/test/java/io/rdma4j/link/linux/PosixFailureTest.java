package io.rdma4j.link.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import org.junit.jupiter.api.Test;

class PosixFailureTest {
    @Test
    void anExhaustedHeapIsReportedAsSuch() {
        OutOfMemoryError exhausted = new OutOfMemoryError("Java heap space");

        assertThatThrownBy(() -> Posix.impossible(exhausted)).isSameAs(exhausted);
    }

    @Test
    void otherExceptionsAreAssertionErrors() {
        IOException exception = new IOException();

        assertThat(Posix.impossible(exception)).hasCause(exception);
    }
}
