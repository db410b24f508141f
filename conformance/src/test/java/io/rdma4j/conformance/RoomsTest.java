package io.rdma4j.conformance;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Checks the dependency rules of the rooms in ARCHITECTURE.md against the class files. */
class RoomsTest {
    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("io.rdma4j");

    /** The rooms that each room may use. */
    private static final Map<String, Set<String>> ROOMS = Map.of(
            "wire", Set.of(),
            "transport", Set.of("wire"),
            "link", Set.of("wire"),
            "verbs", Set.of(),
            "cm", Set.of("verbs"),
            "soft", Set.of("verbs", "cm", "transport", "link", "wire"),
            "sockets", Set.of("verbs", "cm", "wire"),
            "tools", Set.of("verbs", "cm", "soft", "sockets", "testkit", "link", "wire"),
            "testkit", Set.of("verbs", "cm", "soft", "sockets", "transport", "link", "wire"));

    /** Rooms that may use all others, and that no room may use; their classes are not checked here. */
    private static final Set<String> ROOMS_THAT_USE_ALL = Set.of("conformance", "bench", "faults", "fuzz", "stress");

    static Stream<String> rooms() {
        return ROOMS.keySet().stream().sorted();
    }

    private static String packages(String room) {
        return "io.rdma4j." + room + "..";
    }

    @Test
    void everyClassBelongsToARoom() {
        Set<String> known = ROOMS.keySet();
        assertThat(CLASSES)
                .isNotEmpty()
                .allMatch(
                        type -> known.stream()
                                .anyMatch(room -> (type.getPackageName() + ".").startsWith("io.rdma4j." + room + ".")),
                        "lives in a room of the table");
    }

    @Test
    void everyModuleIsARoom() throws IOException {
        String parent = Files.readString(Path.of("").toAbsolutePath().resolveSibling("pom.xml"));
        Stream<String> modules = Pattern.compile("<module>(.*?)</module>")
                .matcher(parent)
                .results()
                .map(found -> found.group(1));
        assertThat(modules)
                .containsExactlyInAnyOrderElementsOf(
                        Stream.concat(rooms(), ROOMS_THAT_USE_ALL.stream()).toList());
    }

    @ParameterizedTest
    @MethodSource("rooms")
    void roomUsesOnlyPermittedRooms(String room) {
        Set<String> allowed = ROOMS.getOrDefault(room, Set.of());
        String[] forbidden = Stream.concat(rooms(), ROOMS_THAT_USE_ALL.stream())
                .filter(other -> !other.equals(room) && !allowed.contains(other))
                .map(RoomsTest::packages)
                .toArray(String[]::new);
        noClasses()
                .that()
                .resideInAPackage(packages(room))
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(forbidden)
                .check(CLASSES);
    }

    @ParameterizedTest
    @ValueSource(strings = {"wire", "transport"})
    void protocolUsesNoClockThreadSocketLoggerOrUnseededRandomness(String room) {
        String[] types = {"java.net..", "java.nio.channels..", "java.nio.file..", "java.util.logging..", "java.time.."};
        noClasses()
                .that()
                .resideInAPackage(packages(room))
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(types)
                .check(CLASSES);
        for (Class<?> type : new Class<?>[] {
            Thread.class, System.Logger.class, Random.class, ThreadLocalRandom.class, Instant.class, Clock.class
        }) {
            noClasses()
                    .that()
                    .resideInAPackage(packages(room))
                    .should()
                    .dependOnClassesThat()
                    .areAssignableTo(type)
                    .check(CLASSES);
        }
        noClockIn(room);
    }

    @Test
    void socketProtocolUsesNoThreadSocketClockOrQueuePair() {
        noClasses()
                .that()
                .resideInAnyPackage("io.rdma4j.sockets.stream..", "io.rdma4j.sockets.datagram..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(
                        "java.net..",
                        "java.nio.channels..",
                        "java.util.concurrent..",
                        "java.time..",
                        "io.rdma4j.verbs..",
                        "io.rdma4j.cm..",
                        "io.rdma4j.sockets.io..")
                .check(CLASSES);
        noClockIn("sockets.stream");
        noClockIn("sockets.datagram");
    }

    @ParameterizedTest
    @ValueSource(strings = {"link", "verbs"})
    void linkAndVerbsUseNoClock(String room) {
        noClockIn(room);
    }

    private static void noClockIn(String room) {
        noClasses()
                .that()
                .resideInAPackage(packages(room))
                .should()
                .callMethod(System.class, "nanoTime")
                .orShould()
                .callMethod(System.class, "currentTimeMillis")
                .check(CLASSES);
    }

    @Test
    void libraryRoomsHaveNoThirdPartyDependencies() {
        noClasses()
                .that(resideInAPackage("io.rdma4j..").and(not(resideInAPackage(packages("tools")))))
                .should()
                .dependOnClassesThat(not(
                        resideInAnyPackage("io.rdma4j..", "java..", "javax.tools..", "jdk.net..", "org.jspecify..")))
                .check(CLASSES);
    }
}
