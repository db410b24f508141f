package io.rdma4j.soft.events;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.fixture.Checkout;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import jdk.jfr.Event;
import jdk.jfr.EventType;
import jdk.jfr.ValueDescriptor;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every event is described, in its annotations and in the guide. */
class EventDescriptionsTest {
    private static final Path GUIDE = Checkout.ROOT.resolve("docs/guide/watching.md");

    /** The fields that Flight Recorder adds to an event. */
    private static final List<String> COMMON = List.of("startTime", "duration", "eventThread", "stackTrace");

    static Stream<Class<? extends Event>> events() {
        return FlightEvents.all().stream();
    }

    @ParameterizedTest
    @MethodSource("events")
    void theEventAndItsFieldsHaveLabels(Class<? extends Event> event) {
        EventType type = EventType.getEventType(event);
        assertThat(type.getName()).isEqualTo("rdma4j." + event.getSimpleName().replace("Event", ""));
        assertThat(type.getCategoryNames()).hasSize(2).first().isEqualTo("rdma4j");
        assertThat(type.getLabel()).isNotBlank();
        assertThat(type.getDescription()).isNotBlank();
        assertThat(type.getFields())
                .allSatisfy(field ->
                        assertThat(field.getLabel()).as(field.getName()).isNotBlank());
    }

    @ParameterizedTest
    @MethodSource("events")
    void theGuideHasTheEventWithItsFields(Class<? extends Event> event) throws IOException {
        EventType type = EventType.getEventType(event);
        Map<String, String> rows = Pattern.compile("(?m)^\\| `(rdma4j\\.\\w+)` \\|.*\\| (.*) \\|$")
                .matcher(Files.readString(GUIDE))
                .results()
                .collect(Collectors.toMap(row -> row.group(1), row -> row.group(2)));
        String fields = type.getFields().stream()
                .map(ValueDescriptor::getName)
                .filter(name -> !COMMON.contains(name))
                .map(name -> "`" + name + "`")
                .collect(Collectors.joining(", "));
        assertThat(rows).containsEntry(type.getName(), fields);
    }
}
