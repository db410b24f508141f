package io.rdma4j.testkit.variant;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * One text of one source that is replaced by another.
 *
 * @param file path of the source from the project's folder, with slashes
 * @param text what is there, exactly once
 * @param replacement what is to be there
 */
public record Substitution(String file, String text, String replacement) {
    /** How often the text is in the source; a list of substitutions has not rotted while it is 1 for each. */
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
     * The source with the text replaced.
     *
     * @throws IllegalStateException if the text is not there exactly once
     */
    String apply(String source) {
        int count = occurrences(source);
        if (count != 1) {
            throw new IllegalStateException("the text to replace is " + count + " times in " + file + ": " + text);
        }
        return source.replace(text, replacement);
    }

    /** The name of the room that the source belongs to. */
    String room() {
        return file.substring(0, file.indexOf('/'));
    }

    /** The sources that some substitutions are about, each once. */
    static List<String> files(List<Substitution> substitutions) {
        return substitutions.stream().map(Substitution::file).distinct().toList();
    }
}
