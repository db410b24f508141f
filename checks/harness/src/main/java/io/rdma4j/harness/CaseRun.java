package io.rdma4j.harness;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Selects cases, runs them one after another, and prints their table. picocli sets the options. */
public final class CaseRun {
    private static final int REMARK_LENGTH = 200;
    private static final int MOST_KNOWN_FAULTS = 5;

    @Option(
            names = "--only",
            paramLabel = "PATTERN",
            description = "run only cases whose name or roles contain a match of this regular expression (repeatable)")
    private final List<Pattern> only = new ArrayList<>();

    @Option(names = "--quick", description = "run fewer cases")
    private boolean quick;

    @Option(names = "--list", description = "print the cases and exit")
    private boolean list;

    @Option(names = "--keep", description = "also keep the output of cases that passed")
    private boolean keep;

    private boolean includesLong;
    private int mostFailures;
    private boolean showsExpected;

    /** Creates a run of all cases that are not long. */
    public CaseRun() {}

    /** Includes the long cases. */
    public void includeLong() {
        includesLong = true;
    }

    /** Ends the run after this number of failures; 0 means never. */
    public void stopAfter(int failures) {
        mostFailures = failures;
    }

    /** Restricts the run to cases whose titles contain a match. */
    public void restrictTo(Pattern pattern) {
        only.add(pattern);
    }

    /** Returns whether the cases are only listed. */
    public boolean isList() {
        return list;
    }

    /** Returns the selected ones of some cases. */
    public List<Case> selected(List<Case> cases) {
        return cases.stream().filter(this::isSelected).toList();
    }

    private boolean isSelected(Case each) {
        return (each.extent() == Case.Extent.LONG ? includesLong : !quick || each.isQuick())
                && (only.isEmpty()
                        || only.stream()
                                .anyMatch(
                                        pattern -> pattern.matcher(each.title()).find()));
    }

    private static List<Case> filtered(List<Case> cases, Predicate<Case.Body> predicate) {
        return cases.stream().filter(each -> predicate.test(each.body())).toList();
    }

    private static List<Case> possible(List<Case> cases) {
        return filtered(cases, body -> !(body instanceof Case.Impossible));
    }

    private static List<Case> impossible(List<Case> cases) {
        return filtered(cases, body -> body instanceof Case.Impossible);
    }

    // ---- the table

    /** Prints the names of cases. */
    public void print(List<Case> cases) {
        showExpected(cases);
        for (Case each : possible(cases)) {
            row(
                    each,
                    each.extent().toString().toLowerCase(Locale.ROOT),
                    Long.toString(each.limit().toSeconds()),
                    "");
        }
        printImpossible(cases);
    }

    private void printImpossible(List<Case> cases) {
        for (Case each : impossible(cases)) {
            if (each.body() instanceof Case.Impossible(String reason)) {
                row(each, "-", "", reason);
            }
        }
    }

    private void showExpected(List<Case> cases) {
        showsExpected = cases.stream().anyMatch(each -> !each.expected().isEmpty());
    }

    private void row(Case each, String result, String seconds, String remark) {
        row(each.name(), each.roles(), each.expected(), result, seconds, remark);
    }

    private void row(String name, String roles, String expected, String result, String seconds, String remark) {
        String middle = showsExpected ? String.format(Locale.ROOT, "%-22s ", expected) : "";
        System.out.println(
                String.format(Locale.ROOT, "%-34s %-11s %s%-7s %6s  %s", name, roles, middle, result, seconds, remark)
                        .stripTrailing());
        System.out.flush();
    }

    // ---- the run

    /**
     * Runs cases with nothing around them.
     *
     * @param logs the folder for their output; its link {@code latest} leads to that of this run
     * @return 0 if all passed, otherwise 1
     */
    public int run(List<Case> cases, Path logs) throws IOException, InterruptedException {
        return run(cases, newFolder(logs, ""), new Surroundings() {});
    }

    /**
     * Runs cases.
     *
     * @param folder the folder of {@link #newFolder} for their output
     * @return 0 if all passed, otherwise 1
     */
    public int run(List<Case> selected, Path folder, Surroundings surroundings)
            throws IOException, InterruptedException {
        showExpected(selected);
        List<Case> cases = possible(selected);
        int impossible = selected.size() - cases.size();
        long begin = System.nanoTime();
        List<String> failed = new ArrayList<>();
        int count = 0;
        row("row", "client->server", "expected", "result", "seconds", "");
        for (Case each : cases) {
            count++;
            if (!passes(each, folder, surroundings)) {
                failed.add(each.title());
            }
            if (mostFailures > 0 && failed.size() >= mostFailures) {
                System.out.println("Stopped after " + mostFailures + " failed rows.");
                break;
            }
        }
        printImpossible(selected);
        int passed = count - failed.size();
        failed.addAll(surroundings.faults());
        System.out.printf(
                Locale.ROOT,
                "%d of %d rows passed in %.1f s%s%n",
                passed,
                count,
                seconds(begin),
                impossible == 0 ? "" : ", " + impossible + " cannot run");
        if (failed.isEmpty()) {
            return 0;
        }
        failed.forEach(name -> System.out.println("failed: " + name));
        System.out.println("Output is in " + folder + ".");
        return 1;
    }

    /** Creates the folder of a run, to which the link {@code latest} with this suffix leads. */
    public static Path newFolder(Path logs, String suffix) throws IOException {
        String name = DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss", Locale.ROOT)
                        .format(LocalDateTime.now(ZoneId.systemDefault()))
                + "-" + ProcessHandle.current().pid() + suffix;
        Path folder = Files.createDirectories(logs.resolve(name));
        Path latest = logs.resolve("latest" + suffix);
        Path link = logs.resolve(name + ".latest");
        Files.createSymbolicLink(link, Path.of(name));
        Files.move(link, latest, StandardCopyOption.ATOMIC_MOVE); // another run may do the same now
        return folder;
    }

    private static double seconds(long beginNanos) {
        return (System.nanoTime() - beginNanos) / 1e9;
    }

    /** Runs a case, and repeats it as long as a known fault or the surroundings have made it fail. */
    private boolean passes(Case each, Path folder, Surroundings surroundings) throws IOException, InterruptedException {
        String name = each.title().replace(' ', '-').replaceAll("[^a-zA-Z0-9._-]", "_");
        for (int knownFaults = 0; ; ) {
            while (Files.exists(folder.resolve(name))) {
                name += "-again";
            }
            Stage stage = new Stage(folder.resolve(name), each.limit());
            long begin = System.nanoTime();
            CaseFailure failure = failure(each, stage, surroundings);
            String repetition = failure == null ? null : surroundings.replaced(each);
            String result = repetition == null ? "ok" : "stopped";
            if (repetition == null && failure instanceof KnownFault && knownFaults < MOST_KNOWN_FAULTS) {
                knownFaults++;
                repetition = "runs again";
                result = "again";
            } else if (failure != null && repetition == null) {
                result = "FAILED";
            }
            row(each, result, String.format(Locale.ROOT, "%.1f", seconds(begin)), note(stage, failure, repetition));
            if (repetition != null) {
                continue;
            }
            if (failure != null) {
                System.out.print(stage.explanation());
                surroundings.report(each, stage).forEach(line -> System.out.println("    " + line));
                return false;
            }
            if (!keep) {
                stage.delete();
            }
            return true;
        }
    }

    private static @Nullable CaseFailure failure(Case each, Stage stage, Surroundings surroundings)
            throws IOException, InterruptedException {
        try {
            each.body().run(stage);
            return null;
        } catch (CaseFailure unexpected) {
            return unexpected;
        } catch (IOException | RuntimeException fault) {
            return new CaseFailure(fault.toString());
        } finally {
            surroundings.end(each, stage);
            stage.endAll();
        }
    }

    private static String note(Stage stage, @Nullable CaseFailure failure, @Nullable String repetition) {
        List<String> notes = new ArrayList<>(stage.remarks());
        if (failure != null) {
            notes.addFirst(String.valueOf(failure.getMessage()));
        }
        if (repetition != null) {
            notes.add(repetition);
        }
        String note = String.join("; ", notes);
        return note.length() > REMARK_LENGTH ? note.substring(0, REMARK_LENGTH) : note;
    }
}
