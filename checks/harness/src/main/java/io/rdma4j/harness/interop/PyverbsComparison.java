package io.rdma4j.harness.interop;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.joining;
import static java.util.stream.Collectors.toList;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Stream;

/** Compares the results of pyverbs's tests over {@code rdma4j exec} with those on rdma_rxe. */
final class PyverbsComparison {
    /** Reasons of pyverbs, each with its meaning. */
    private static final Map<String, String> MEANINGS = Map.of(
            "Create XRCD is not",
            "rdma_rxe has no XRC",
            "Rereg MR is not",
            "rdma_rxe cannot change a memory region",
            "ODP is not",
            "this rdma_rxe has no on-demand paging; the software device pins no memory, so that all memory is paged on demand");

    private static final List<String> OUTCOMES = List.of("passed", "skipped", "failed", "missing");

    /** The outcome of a test, and the reason that pyverbs gives unless the test passed. */
    private record Result(String outcome, String reason) {
        static final Result MISSING = new Result("missing", "the test did not run");

        boolean is(String other) {
            return outcome.equals(other);
        }
    }

    /** A test with its results on both devices. */
    private record Test(String name, Result exec, Result rxe) {
        String className() {
            return name.contains(".") ? name.substring(0, name.lastIndexOf('.')) : name;
        }

        boolean isFault() {
            return !exec.is("passed") && (rxe.is("passed") || !exec.is("skipped") && !rxe.is("skipped"));
        }

        /** Returns the reason of a difference, which is that of the device where the test did not pass. */
        String reason() {
            String reason = Stream.of(exec, rxe)
                    .filter(each -> !each.is("passed") && !each.reason.isEmpty())
                    .findFirst()
                    .map(Result::reason)
                    .orElse("");
            return MEANINGS.keySet().stream()
                    .filter(reason::contains)
                    .findFirst()
                    .map(MEANINGS::get)
                    .orElse(reason);
        }
    }

    private final List<Test> tests = new ArrayList<>();

    /** Reads the files {@code exec-GROUP} and {@code rxe-GROUP} of a folder, as far as they exist. */
    PyverbsComparison(Path folder, List<String> groups) throws IOException {
        Map<String, Result> exec = results(folder, "exec-", groups);
        Map<String, Result> rxe = results(folder, "rxe-", groups);
        TreeSet<String> names = new TreeSet<>(exec.keySet());
        names.addAll(rxe.keySet());
        for (String name : names) {
            tests.add(new Test(name, exec.getOrDefault(name, Result.MISSING), rxe.getOrDefault(name, Result.MISSING)));
        }
    }

    private static Map<String, Result> results(Path folder, String prefix, List<String> groups) throws IOException {
        Map<String, Result> results = new TreeMap<>();
        for (String group : groups) {
            Path file = folder.resolve(prefix + group);
            for (String line : Files.exists(file) ? Files.readAllLines(file) : List.<String>of()) {
                String[] columns = (line + "\t\t").split("\t", -1);
                if (columns[0].startsWith("test_")) {
                    results.put(columns[0], new Result(columns[1], columns[2]));
                }
            }
        }
        return results;
    }

    /** Prints the tables and the faults, and returns whether there are tests and no faults. */
    boolean print() {
        print(classes(), "%-42s  %-34s  %s", 0, 1, 2);
        List<List<String>> differences = differences();
        if (differences.size() > 1) {
            System.out.println();
            print(differences, "%-36s  %-8s  %-11s  %s  %s", 0, 2, 3, 4, 1);
        }
        List<Test> faults = tests.stream().filter(Test::isFault).toList();
        faults.forEach(each -> System.out.println(
                "fault: " + each.name + " " + each.exec.outcome + " over exec: " + each.exec.reason));
        return faults.isEmpty() && !tests.isEmpty();
    }

    private static void print(List<List<String>> rows, String format, int... columns) {
        for (List<String> row : rows) {
            Object[] cells = Arrays.stream(columns).mapToObj(row::get).toArray();
            System.out.println(String.format(format, cells).stripTrailing());
        }
    }

    /** Writes the tables as a page. */
    void write(Path page, String kernel, String version) throws IOException {
        String text = """
                # Tests of pyverbs

                rdma-core tests device drivers with its Python binding pyverbs. This page compares the results of these tests over
                [`rdma4j exec`](guide/c-programs.md), as an ordinary user, with the results on `rdma_rxe`, the software device of Linux %s. The tests are
                from Debian's python3-pyverbs %s, without the vendor-specific ones. `checks/interop/pyverbs --page docs/pyverbs.md` runs them
                and writes this page.

                A test is skipped on a device that lacks a required feature. The tests of the connection manager (`test_rdmacm`) fork two processes. Over exec,
                the child processes can use devices only if their parent has not used any. Therefore these tests and `test_fork` run in a separate group, on both
                devices, in which no device is opened before.

                ## Results

                %s
                ## Tests that differ

                %s
                ## Tests that both skip

                %s""".formatted(kernel, version, markdown(classes()), markdown(differences()), markdown(skipped()));
        Files.writeString(page, text);
    }

    private List<List<String>> classes() {
        List<List<String>> rows = new ArrayList<>(List.of(List.of("test class", "over exec", "on rdma_rxe")));
        tests.stream()
                .collect(groupingBy(Test::className, TreeMap::new, toList()))
                .forEach((title, members) ->
                        rows.add(List.of(title, counts(members, Test::exec), counts(members, Test::rxe))));
        rows.add(List.of("all", counts(tests, Test::exec), counts(tests, Test::rxe)));
        return rows;
    }

    private static String counts(List<Test> tests, Function<Test, Result> side) {
        return OUTCOMES.stream()
                .map(outcome -> tests.stream()
                                .filter(each -> side.apply(each).is(outcome))
                                .count() + " " + outcome)
                .filter(text -> !text.startsWith("0 "))
                .collect(joining(", "));
    }

    /** Returns the tests with different outcomes; a row has those of a class that differ in the same way. */
    private List<List<String>> differences() {
        List<List<String>> rows =
                new ArrayList<>(List.of(List.of("test class", "tests", "over exec", "on rdma_rxe", "reason")));
        tests.stream()
                .filter(each -> !each.exec.outcome.equals(each.rxe.outcome))
                .collect(groupingBy(
                        each -> List.of(each.className(), each.exec.outcome, each.rxe.outcome, each.reason()),
                        LinkedHashMap::new,
                        toList()))
                .forEach((key, members) -> rows.add(List.of(
                        key.get(0),
                        members.stream()
                                .map(each -> each.name.substring(each.name.lastIndexOf('.') + 1))
                                .collect(joining(", ")),
                        key.get(1),
                        key.get(2),
                        key.get(3))));
        return rows;
    }

    /** Returns how many tests are skipped on both devices, by the reasons. */
    private List<List<String>> skipped() {
        List<List<String>> rows = new ArrayList<>();
        tests.stream()
                .filter(each -> each.exec.is("skipped") && each.rxe.is("skipped"))
                .collect(groupingBy(each -> List.of(each.exec.reason, each.rxe.reason), LinkedHashMap::new, toList()))
                .forEach((reasons, members) -> rows.add(List.of(
                        Integer.toString(members.size()),
                        reasons.get(0),
                        reasons.get(1).equals(reasons.get(0)) ? "the same" : reasons.get(1))));
        rows.sort((one, other) -> Integer.compare(Integer.parseInt(other.get(0)), Integer.parseInt(one.get(0))));
        rows.addFirst(List.of("tests", "reason over exec", "reason on rdma_rxe"));
        return rows;
    }

    private static String markdown(List<List<String>> rows) {
        List<List<String>> lines = new ArrayList<>(rows);
        lines.add(1, Collections.nCopies(rows.getFirst().size(), "---"));
        return lines.stream()
                .map(line -> line.stream().map(cell -> cell.replace("|", "\\|")).collect(joining(" | ", "| ", " |\n")))
                .collect(joining());
    }
}
