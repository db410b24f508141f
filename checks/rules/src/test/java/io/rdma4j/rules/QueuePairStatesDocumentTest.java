package io.rdma4j.rules;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.fixture.Checkout;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.QueuePairAttribute;
import io.rdma4j.verbs.spi.QueuePairTransitions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Checks that the documentation of the queue pair states matches the table in the code. */
class QueuePairStatesDocumentTest {
    private static final Path DOCUMENT = Checkout.ROOT.resolve("docs/queue-pair-states.md");

    private static String cell(Set<QueuePairAttribute> attributes) {
        return attributes.isEmpty()
                ? "-"
                : attributes.stream().map(QueuePairAttribute::name).collect(Collectors.joining(", "));
    }

    @ParameterizedTest
    @EnumSource
    void documentContainsTheTableOfEveryTransport(QueuePairType type) throws IOException {
        String expected = "## " + type + "\n\n| from | to | required | optional |\n| --- | --- | --- | --- |\n"
                + QueuePairTransitions.changes(type).stream()
                        .map(row -> "| " + row.from() + " | " + row.to() + " | " + cell(row.required()) + " | "
                                + cell(row.optional()) + " |\n")
                        .collect(Collectors.joining());
        assertThat(Files.readString(DOCUMENT)).contains(expected);
    }
}
