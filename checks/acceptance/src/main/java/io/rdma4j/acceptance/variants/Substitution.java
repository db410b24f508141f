package io.rdma4j.acceptance.variants;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * A text in a source file and its replacement.
 *
 * @param file path of the source relative to the project's folder, with slashes
 * @param text the text to replace, which must occur exactly once
 * @param replacement the new text
 */
public record Substitution(String file, String text, String replacement) {
    /** Returns how often the text occurs in the source; for a valid substitution it is 1. */
    public int occurrences(Path home) throws IOException {
        return occurrences(Files.readString(home.resolve(file)));
    }

    private int occurrences(String source) {
        int count = 0;
        for (int at = source.indexOf(text); at >= 0; at = source.indexOf(text, at + 1)) {
            count++;
        }
        return count;
    }

    /**
     * Returns the source with the text replaced.
     *
     * @throws IllegalStateException if the text does not occur exactly once
     */
    String apply(String source) {
        int count = occurrences(source);
        if (count != 1) {
            throw new IllegalStateException("the text to replace occurs " + count + " times in " + file + ": " + text);
        }
        return source.replace(text, replacement);
    }

    /** Returns the distinct source files of some substitutions. */
    static List<String> files(List<Substitution> substitutions) {
        return substitutions.stream().map(Substitution::file).distinct().toList();
    }
}
