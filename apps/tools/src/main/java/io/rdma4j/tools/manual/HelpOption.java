package io.rdma4j.tools.manual;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * An option of a tool, parsed from a line of its help text.
 *
 * <p>The line may be in the style of librdmacm ({@code [-s server_address]}), of perftest
 * ({@code -s, --size=<size>  bytes of a message}) or of this project.
 *
 * @param names the names with their dashes, for example {@code -s} and {@code --size}; not empty
 * @param argument the name of the argument; empty if the option has none
 * @param description the lines of the description; may be empty
 */
record HelpOption(List<String> names, String argument, List<String> description) {
    private static final Pattern NAME = Pattern.compile("--?[A-Za-z0-9][A-Za-z0-9_-]*");

    /** An argument after an equals sign, such as {@code =<gid index>}. */
    private static final Pattern ATTACHED = Pattern.compile("=(?:<([^>]+)>|(\\S+))");

    /** An argument in a separate word, after which the line ends or a description starts. */
    private static final Pattern SEPARATE =
            Pattern.compile(" {1,2}([A-Za-z_]+(?: type| or \\w+)?)(?=\\]|\\t| {2}| \\t| \\(| - |$)");

    /** The rest of a word that begins with the letter of the option, as in {@code -m(igrate)}. */
    private static final Pattern REST_OF_WORD = Pattern.compile("\\((\\w+)\\)\\]?");

    private static final Pattern CHOICE_LINE = Pattern.compile("(?:\\w\\|)?(\\w+) - .*");
    private static final Pattern CHOICES = Pattern.compile("(\\w+(?:, \\w+)*),? or (\\w+)(?: \\(.*)?");

    /** Returns the option that a line of a help text describes, or null if the line describes no option. */
    static @Nullable HelpOption parse(String line) {
        String text = line.strip();
        text = text.startsWith("[") ? text.substring(1) : text;
        if (!text.startsWith("-")) {
            return null;
        }
        ArrayList<String> names = new ArrayList<>();
        Matcher name = NAME.matcher(text);
        int at = 0;
        while (name.region(at, text.length()).lookingAt()) {
            names.add(name.group());
            at = name.end();
            if (text.startsWith(", -", at)) {
                at += 2;
            }
        }
        if (names.isEmpty()) {
            return null;
        }
        String argument = "";
        String rest = text.substring(at);
        Matcher rested = REST_OF_WORD.matcher(rest);
        Matcher attached = ATTACHED.matcher(rest);
        Matcher separate = SEPARATE.matcher(rest);
        if (rested.lookingAt()) {
            rest = names.getFirst().substring(1) + rested.group(1);
        } else if (attached.lookingAt()) {
            argument = attached.group(1) == null ? attached.group(2) : attached.group(1);
            rest = rest.substring(attached.end());
        } else if (separate.lookingAt()) {
            argument = separate.group(1);
            rest = rest.substring(separate.end());
        }
        return new HelpOption(List.copyOf(names), argument, description(rest));
    }

    private static List<String> description(String rest) {
        String text = rest.strip();
        text = text.startsWith("]") ? text.substring(1).strip() : text;
        text = text.startsWith("- ") ? text.substring(2) : text;
        boolean isUnbalanced = text.endsWith("]") && !text.contains("[");
        text = isUnbalanced ? text.substring(0, text.length() - 1) : text;
        return text.isEmpty() ? List.of() : List.of(text);
    }

    /** Returns this option with one more line of description. */
    HelpOption with(String line) {
        ArrayList<String> more = new ArrayList<>(description);
        more.add(line.strip());
        return new HelpOption(names, argument, List.copyOf(more));
    }

    /** Returns the description in one line. */
    String summary() {
        return String.join(", ", description);
    }

    /** Returns the values of the argument if the description lists all of them, otherwise an empty list. */
    List<String> choices() {
        List<String> named = description.stream()
                .map(CHOICE_LINE::matcher)
                .filter(Matcher::matches)
                .map(matcher -> matcher.group(1))
                .toList();
        if (!named.isEmpty()) {
            return named;
        }
        return description.stream()
                .map(CHOICES::matcher)
                .filter(Matcher::matches)
                .findFirst()
                .map(matcher -> Stream.concat(
                                Arrays.stream(matcher.group(1).split(", ", -1)), Stream.of(matcher.group(2)))
                        .toList())
                .orElse(List.of());
    }
}
