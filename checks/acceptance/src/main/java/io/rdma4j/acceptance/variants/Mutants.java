package io.rdma4j.acceptance.variants;

import io.rdma4j.simulator.Simulation;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads the substitutions in the resources {@code mutants.txt} and {@code small-numbers.txt}.
 *
 * <p>An entry begins with a line {@code == name}, followed by lines {@code key: value}. The text to replace follows a
 * line {@code ---}, and its replacement a line {@code +++}. A blank line ends an entry. Lines before the first entry
 * are comments.
 */
public final class Mutants {
    private static final String PACKAGE = Simulation.class.getPackageName() + ".";

    private Mutants() {}

    /** Returns all deliberate mistakes. */
    public static List<Mutant> all() {
        return entries("mutants.txt").stream()
                .map(entry -> new Mutant(
                        entry.name,
                        entry.value("why"),
                        entry.head.contains("build: small numbers"),
                        PACKAGE + entry.value("found by"),
                        entry.substitution()))
                .toList();
    }

    /** Returns the substitutions that make PSNs 6 bits and queue pair numbers 5 bits wide. */
    public static List<Substitution> smallNumbers() {
        return entries("small-numbers.txt").stream().map(Entry::substitution).toList();
    }

    /** One entry of a list. */
    private static final class Entry {
        private final String name;
        private final List<String> head = new ArrayList<>();
        private final List<String> text = new ArrayList<>();
        private final List<String> replacement = new ArrayList<>();

        Entry(String name) {
            this.name = name;
        }

        String value(String key) {
            String start = key + ": ";
            return head.stream()
                    .filter(line -> line.startsWith(start))
                    .map(line -> line.substring(start.length()))
                    .findFirst()
                    .orElseThrow(() -> new IllegalStateException(name + " has no line \"" + key + ":\""));
        }

        Substitution substitution() {
            return new Substitution(value("in"), String.join("\n", text), String.join("\n", replacement));
        }
    }

    private static List<Entry> entries(String resource) {
        List<Entry> entries = new ArrayList<>();
        List<String> part = new ArrayList<>();
        for (String line : read(resource).split("\n", -1)) {
            if (line.startsWith("== ")) {
                Entry entry = new Entry(line.substring(3));
                entries.add(entry);
                part = entry.head;
            } else if (line.equals("---") && !entries.isEmpty()) {
                part = entries.getLast().text;
            } else if (line.equals("+++") && !entries.isEmpty()) {
                part = entries.getLast().replacement;
            } else if (line.isEmpty()) {
                part = new ArrayList<>(); // a blank line ends an entry
            } else {
                part.add(line);
            }
        }
        return entries;
    }

    private static String read(String resource) {
        try (InputStream in = Mutants.class.getResourceAsStream(resource)) {
            if (in == null) {
                throw new IllegalStateException("no resource " + resource);
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
