package io.rdma4j.harness;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import picocli.CommandLine.Option;

/** Selects cases, runs them one after another, and prints their table. picocli sets the options. */
public final class CaseRun {
    private static final int REMARK_LENGTH = 150;

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

    /** Creates a run of all cases. */
    public CaseRun() {}

    /** Returns whether the cases are only listed. */
    public boolean isList() {
        return list;
    }

    /** Returns the selected ones of some cases. */
    public List<Case> selected(List<Case> cases) {
        return cases.stream()
                .filter(each -> !quick || each.isQuick())
                .filter(each -> only.isEmpty()
                        || only.stream()
                                .anyMatch(pattern -> pattern.matcher(each.name() + " " + each.roles())
                                        .find()))
                .toList();
    }

    /** Prints the names of cases. */
    public static void print(List<Case> cases) {
        for (Case each : cases) {
            row(
                    each.name(),
                    each.roles(),
                    each.isQuick() ? "quick" : "full",
                    Long.toString(each.limit().toSeconds()),
                    "");
        }
    }

    private static void row(String name, String roles, String result, String seconds, String remark) {
        System.out.println(String.format(Locale.ROOT, "%-34s %-11s %-7s %6s  %s", name, roles, result, seconds, remark)
                .stripTrailing());
        System.out.flush();
    }

    /**
     * Runs cases.
     *
     * @param logs the folder for their output; its link {@code latest} leads to that of this run
     * @return 0 if all passed, otherwise 1
     */
    public int run(List<Case> cases, Path logs) throws IOException, InterruptedException {
        Path folder = newFolder(logs);
        long begin = System.nanoTime();
        List<String> failed = new ArrayList<>();
        row("row", "client->server", "result", "seconds", "");
        for (Case each : cases) {
            if (!passes(each, folder)) {
                failed.add(each.name() + " " + each.roles());
            }
        }
        System.out.printf(
                Locale.ROOT,
                "%d of %d rows passed in %.1f s%n",
                cases.size() - failed.size(),
                cases.size(),
                seconds(begin));
        if (failed.isEmpty()) {
            return 0;
        }
        failed.forEach(name -> System.out.println("failed: " + name));
        System.out.println("Output is in " + folder + ".");
        return 1;
    }

    private static Path newFolder(Path logs) throws IOException {
        String name = DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss", Locale.ROOT)
                        .format(LocalDateTime.now(ZoneId.systemDefault()))
                + "-" + ProcessHandle.current().pid();
        Path folder = Files.createDirectories(logs.resolve(name));
        Path latest = logs.resolve("latest");
        Files.deleteIfExists(latest);
        Files.createSymbolicLink(latest, Path.of(name));
        return folder;
    }

    private static double seconds(long beginNanos) {
        return (System.nanoTime() - beginNanos) / 1e9;
    }

    private boolean passes(Case each, Path folder) throws IOException, InterruptedException {
        String name = (each.name() + "-" + each.roles()).replaceAll("[^a-zA-Z0-9._-]", "_");
        Stage stage = new Stage(folder.resolve(name), each.limit());
        long begin = System.nanoTime();
        String failure = null;
        try {
            each.body().run(stage);
        } catch (CaseFailure unexpected) {
            failure = String.valueOf(unexpected.getMessage());
        } catch (IOException | RuntimeException fault) {
            failure = fault.toString();
        } finally {
            stage.endAll();
        }
        List<String> notes = new ArrayList<>(stage.remarks());
        if (failure != null) {
            notes.addFirst(failure);
        }
        String note = String.join(";", notes);
        row(
                each.name(),
                each.roles(),
                failure == null ? "ok" : "FAILED",
                String.format(Locale.ROOT, "%.1f", seconds(begin)),
                note.length() > REMARK_LENGTH ? note.substring(0, REMARK_LENGTH) : note);
        if (failure != null) {
            System.out.print(stage.explanation());
            return false;
        }
        if (!keep) {
            stage.delete();
        }
        return true;
    }
}
