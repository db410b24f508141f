package io.rdma4j.tools.command;

import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * An option of a tool: a row of an {@link OptionTable}.
 *
 * @param syntax the start of the option's line in the help text, with its names and its argument: {@code [-s
 *     server_address]} or {@code -s, --size=<size>}; it may be padded with blanks
 * @param text the rest of that line, and any further lines
 * @param names the names with their dashes, the letter first
 * @param argument the name of the argument; empty if the option has none
 * @param ignoresRest true if a rest of the word after the letter is ignored
 * @param manual the paragraph of the manual page, with bold words in backquotes; empty to use the text instead
 * @param isDocumented false if help text, manual page and completion leave the option out
 * @param action the effect of the option, or null if it is only documented here, and parsed elsewhere
 * @param <S> the settings of the tool
 */
public record Option<S>(
        String syntax,
        String text,
        List<String> names,
        String argument,
        boolean ignoresRest,
        String manual,
        boolean isDocumented,
        @Nullable Action<S> action) {
    private static final Pattern NAME = Pattern.compile("(?<!\\w)--?\\w[\\w-]*");

    /** The signs around an argument: {@code =<size>}, {@code  size]}, {@code  size -}. */
    private static final Pattern SIGNS = Pattern.compile("^[=< ]+|[]> \t-]+$");

    /** The rest of a word that starts with the letter of the option, as in {@code -m(igrate)}. */
    private static final Pattern REST_OF_WORD = Pattern.compile(".*-(\\w)\\((\\w+)\\).*");

    /** The effect of an option on the settings of a tool. */
    @FunctionalInterface
    public interface Action<S> {
        /**
         * Changes the settings.
         *
         * @param settings the settings
         * @param value the option's argument, or an empty string if it has none
         * @throws ToolFailure if the argument is invalid; the reason has been printed
         */
        void take(S settings, String value) throws ToolFailure;
    }

    /** Creates an option. Its names and its argument are those in the syntax. */
    static <S> Option<S> of(
            String syntax, String text, String manual, boolean isDocumented, @Nullable Action<S> action) {
        List<MatchResult> names = NAME.matcher(syntax).results().toList();
        String rest = syntax.substring(names.getLast().end());
        return new Option<>(
                syntax,
                text,
                names.stream().map(MatchResult::group).toList(),
                rest.startsWith("(") ? "" : SIGNS.matcher(rest).replaceAll(""),
                false,
                manual,
                isDocumented,
                action);
    }

    /** Returns this option with an argument that the help text does not show. */
    Option<S> withArgument(String name) {
        return new Option<>(syntax, text, names, name, ignoresRest, manual, isDocumented, action);
    }

    /** Returns this option as one that ignores the rest of its word. */
    Option<S> ignoringRest() {
        return new Option<>(syntax, text, names, argument, true, manual, isDocumented, action);
    }

    /** Returns this option, documented or not. */
    Option<S> documented(boolean isNowDocumented) {
        return new Option<>(syntax, text, names, argument, ignoresRest, manual, isNowDocumented, action);
    }

    /** Returns the lines of the help text. */
    String usage(String indent, int column) {
        boolean isBracketOpen = syntax.startsWith("[") && !syntax.contains("]");
        boolean isPadded = Character.isWhitespace(syntax.charAt(syntax.length() - 1));
        String gap = text.isEmpty() || text.startsWith("\n") || isPadded
                ? ""
                : " ".repeat(Math.max(0, column - syntax.length()) + 1);
        return indent + syntax + gap + text + (isBracketOpen ? "]" : "") + "\n";
    }

    /** Returns the lines of the text without the blanks around them. */
    public List<String> description() {
        return text.isEmpty() && REST_OF_WORD.matcher(syntax).matches()
                ? List.of(REST_OF_WORD.matcher(syntax).replaceAll("$1$2"))
                : text.lines()
                        .map(String::strip)
                        .filter(line -> !line.isEmpty())
                        .toList();
    }

    /** Returns the text in one line. */
    public String summary() {
        return String.join(", ", description());
    }
}
