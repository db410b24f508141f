package io.rdma4j.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rdma4j.fixture.Checkout;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.RecordComponent;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Checks the table of C names and Java counterparts: it is complete and names only what exists. */
class CToJavaTest {
    private static final Path PAGE = Checkout.ROOT.resolve("docs/c-to-java.md");

    private static final List<String> PACKAGES = List.of(
            "io.rdma4j.cm.",
            "io.rdma4j.value.",
            "io.rdma4j.verbs.",
            "io.rdma4j.sockets.",
            "io.rdma4j.sockets.options.");
    private static final Pattern CODE = Pattern.compile("`([^`]+)`");

    /** A row: the names of C, and the names of Java or the reason for their absence. */
    private record Row(List<String> c, List<String> java, String notes) {}

    private static List<Row> rows() throws IOException {
        List<Row> rows = new ArrayList<>();
        for (String line : Files.readAllLines(PAGE)) {
            String[] cells = line.split("\\|", -1);
            if (cells.length == 5 && cells[1].contains("`")) {
                rows.add(new Row(code(cells[1]), code(cells[2]), cells[3].strip()));
            }
        }
        return rows;
    }

    private static List<String> code(String cell) {
        return CODE.matcher(cell)
                .results()
                .map(MatchResult::group)
                .map(span -> span.substring(1, span.length() - 1))
                .toList();
    }

    private static Set<String> inventory() throws IOException {
        try (InputStream names = Objects.requireNonNull(CToJavaTest.class.getResourceAsStream("c-names.txt"))) {
            Set<String> all = new HashSet<>();
            new String(names.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> !line.isBlank() && !line.startsWith("#"))
                    .forEach(all::add);
            return all;
        }
    }

    @Test
    void everyNameOfTheCHeadersHasExactlyOneRow() throws IOException {
        List<String> named = rows().stream().flatMap(row -> row.c().stream()).toList();
        assertThat(named).doesNotHaveDuplicates().containsExactlyInAnyOrderElementsOf(inventory());
    }

    /**
     * The names that rows must have. An enumeration whose row has no counterpart covers its constants, and fields are listed for
     * all fields of a structure or for one that needs an explanation.
     */
    private static List<String> required(CHeaders headers, List<Row> rows) {
        Set<String> named =
                new HashSet<>(rows.stream().flatMap(row -> row.c().stream()).toList());
        Set<String> absent = rows.stream()
                .filter(row -> row.java().isEmpty())
                .flatMap(row -> row.c().stream())
                .collect(Collectors.toSet());
        List<String> names = new ArrayList<>(headers.functions());
        names.addAll(headers.constants());
        headers.enumerations().forEach((name, constants) -> {
            names.add(name);
            if (!absent.contains(name)) {
                names.addAll(constants);
            }
        });
        headers.structures().forEach((name, fields) -> {
            names.add(name);
            String prefix = name.substring(name.indexOf(' ') + 1) + ".";
            List<String> all = fields.stream().map(prefix::concat).toList();
            if (all.stream().filter(named::contains).count() > 1) {
                names.addAll(all);
            }
        });
        return names;
    }

    private static List<String> missing(List<String> required, List<Row> rows) {
        Set<String> named =
                new HashSet<>(rows.stream().flatMap(row -> row.c().stream()).toList());
        return required.stream().filter(name -> !named.contains(name)).toList();
    }

    private static CHeaders installed() throws IOException {
        assumeTrue(CHeaders.areIn(CHeaders.INCLUDES), "libibverbs-dev and librdmacm-dev are not installed");
        return CHeaders.read(CHeaders.INCLUDES);
    }

    @Test
    void everyNameOfTheInstalledHeaderFilesHasARow() throws IOException {
        CHeaders headers = installed();
        // Fewer would mean that the parser has lost its way.
        assertThat(headers.functions()).hasSizeGreaterThan(230);
        assertThat(headers.structures().keySet()).hasSizeGreaterThan(110);
        assertThat(headers.enumerations().keySet()).hasSizeGreaterThan(70);
        assertThat(missing(required(headers, rows()), rows()))
                .as("names of the header files below %s without a row in docs/c-to-java.md", CHeaders.INCLUDES)
                .isEmpty();
    }

    @Test
    void everyMissingRowIsFound() throws IOException {
        List<Row> rows = rows();
        List<String> required = required(installed(), rows);
        Set<String> unique = new HashSet<>(required);
        for (Row row : rows) {
            List<Row> others = rows.stream().filter(other -> !other.equals(row)).toList();
            assertThat(missing(required, others))
                    .containsExactlyInAnyOrderElementsOf(
                            row.c().stream().filter(unique::contains).toList());
        }
    }

    @Test
    void everyRowNamesSomethingThatExists() throws IOException {
        List<String> missing = rows().stream()
                .flatMap(row -> row.java().stream())
                .distinct()
                .filter(name -> !exists(name))
                .toList();
        assertThat(missing).as("Java names without a public type or member").isEmpty();
    }

    @Test
    void everyRowWithoutACounterpartHasAReason() throws IOException {
        assertThat(rows())
                .allSatisfy(
                        row -> assertThat(row.java().isEmpty() && row.notes().isEmpty())
                                .as("%s has no counterpart and no reason", row.c())
                                .isFalse());
    }

    /** Returns whether a public {@code Type}, {@code Type.Nested.CONSTANT} or {@code Type.method} exists. */
    private static boolean exists(String name) {
        return publicType(name) != null || isMember(name);
    }

    private static boolean isMember(String name) {
        int dot = name.lastIndexOf('.');
        Class<?> owner = dot < 0 ? null : publicType(name.substring(0, dot));
        return owner != null && members(owner).anyMatch(name.substring(dot + 1)::equals);
    }

    private static Stream<String> members(Class<?> owner) {
        Stream<String> methods = Arrays.stream(owner.getMethods()).map(Method::getName);
        Stream<String> fields = Arrays.stream(owner.getFields()).map(Field::getName);
        RecordComponent[] components = owner.getRecordComponents();
        Stream<String> parts =
                components == null ? Stream.empty() : Arrays.stream(components).map(RecordComponent::getName);
        return Stream.concat(methods, Stream.concat(fields, parts));
    }

    private static @Nullable Class<?> publicType(String name) {
        for (String prefix : PACKAGES) {
            Class<?> type = typeOrNull(prefix + name.replace('.', '$'));
            if (type != null) {
                return Modifier.isPublic(type.getModifiers()) ? type : null;
            }
        }
        return null;
    }

    private static @Nullable Class<?> typeOrNull(String name) {
        try {
            return Class.forName(name);
        } catch (ClassNotFoundException elsewhere) {
            return null;
        }
    }
}
