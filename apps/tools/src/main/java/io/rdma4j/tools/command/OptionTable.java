package io.rdma4j.tools.command;

import io.rdma4j.tools.command.Getopt.LongOption;
import io.rdma4j.tools.command.Option.Action;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The options of a tool. This one table gives the parser of the command line, the lines of the help text, the section
 * OPTIONS of the manual page, and the completions for shells. Immutable: each method that adds or changes an option
 * returns a new table.
 *
 * @param <S> the settings that the options change
 */
public final class OptionTable<S> {
    /** The first of the characters that represent options without a letter, in Unicode's private use area. */
    private static final char FIRST_NAMED = '\uE000';

    private final String indent;
    private final int column;
    private final String mode;
    private final List<Option<S>> options;

    private OptionTable(String indent, int column, String mode, List<Option<S>> options) {
        this.indent = indent;
        this.column = column;
        this.mode = mode;
        this.options = List.copyOf(options);
    }

    /**
     * Creates a table without options, for help texts in the style of librdmacm: lines that start with a tabulator.
     *
     * @param <S> the settings that the options change
     */
    public static <S> OptionTable<S> tabbed() {
        return new OptionTable<>("\t", 0, "", List.of());
    }

    /**
     * Creates a table without options, for help texts in two columns.
     *
     * @param column the width of the first column
     * @param <S> the settings that the options change
     */
    public static <S> OptionTable<S> aligned(int column) {
        return new OptionTable<>("  ", column, "", List.of());
    }

    // ---- rows

    /**
     * Adds an option whose text is also the paragraph of the manual page.
     *
     * @param syntax its names and its argument, as the help text shows them
     * @param text the rest of its line in the help text, and any further lines
     * @param action its effect
     */
    public OptionTable<S> option(String syntax, String text, Action<S> action) {
        return option(syntax, text, "", action);
    }

    /**
     * Adds an option.
     *
     * @param syntax its names and its argument, as the help text shows them
     * @param text the rest of its line in the help text, and any further lines; may be empty
     * @param manual its paragraph of the manual page, with bold words in backquotes
     * @param action its effect
     */
    public OptionTable<S> option(String syntax, String text, String manual, Action<S> action) {
        return with(Option.of(syntax, text, manual, true, action));
    }

    /** Adds an option that is accepted but not documented. */
    public OptionTable<S> hidden(String syntax, Action<S> action) {
        return with(Option.of(syntax, "", "", false, action));
    }

    /** Adds a line about options that {@link #parse} does not accept, because they are parsed elsewhere. */
    public OptionTable<S> note(String syntax, String text) {
        return with(Option.of(syntax, text, "", true, null));
    }

    private OptionTable<S> with(Option<S> option) {
        List<Option<S>> more = new ArrayList<>(options);
        more.add(option);
        return new OptionTable<>(indent, column, mode, more);
    }

    // ---- changes of the last row

    /** Documents the last option only if a condition is met. It is accepted in any case. */
    public OptionTable<S> documentedIf(boolean condition) {
        return withLast(option -> option.documented(condition));
    }

    /** Gives the last option an argument that the help text does not show. */
    public OptionTable<S> withArgument(String name) {
        return withLast(option -> option.withArgument(name));
    }

    /** Lets the last option ignore the rest of its word. C: two colons after the letter. */
    public OptionTable<S> ignoringRest() {
        return withLast(Option::ignoringRest);
    }

    private OptionTable<S> withLast(UnaryOperator<Option<S>> change) {
        List<Option<S>> changed = new ArrayList<>(options);
        changed.add(change.apply(changed.removeLast()));
        return new OptionTable<>(indent, column, mode, changed);
    }

    // ---- tables

    /** Returns the table with only the options that have one of the given letters. */
    public OptionTable<S> only(String letters) {
        return new OptionTable<>(
                indent,
                column,
                mode,
                options.stream()
                        .filter(option -> letters.indexOf(letter(option)) >= 0)
                        .toList());
    }

    /** Returns the table as that of a mode of the tool, which an option such as {@code --classic} selects. */
    public OptionTable<S> inMode(String name) {
        return new OptionTable<>(indent, column, name, options);
    }

    /** Returns the option that selects the mode of the tool to which the table applies; empty for its default mode. */
    public String mode() {
        return mode;
    }

    /** Returns the documented options. */
    public List<Option<S>> documented() {
        return options.stream().filter(Option::isDocumented).toList();
    }

    /** Returns the option with the given name, which includes its dashes. */
    Optional<Option<S>> find(String name) {
        return options.stream().filter(option -> option.names().contains(name)).findFirst();
    }

    /** Returns the lines of the options in the help text. */
    public String usage() {
        StringBuilder lines = new StringBuilder();
        documented().forEach(option -> lines.append(option.usage(indent, column)));
        return lines.toString();
    }

    // ---- parsing

    /** The reaction to an option that is unknown or lacks its argument. */
    @FunctionalInterface
    public interface Refusal {
        /**
         * Prints the usage.
         *
         * @param letter the letter of the option, or 0 for an unknown name
         * @return the failure that ends the tool
         */
        ToolFailure refuse(char letter);
    }

    /**
     * Parses a command line like {@code getopt_long}, and applies each option to the settings.
     *
     * @param program the name of the program in the messages of getopt
     * @param arguments the words after the program
     * @param settings the settings to change
     * @param messages the stream for the messages of getopt, or null for none
     * @param refusal the reaction to an invalid option, after the message of getopt
     * @return the words that are not options
     * @throws ToolFailure if an option or its argument is invalid; the reason has been printed
     */
    public List<String> parse(
            String program, List<String> arguments, S settings, @Nullable PrintStream messages, Refusal refusal)
            throws ToolFailure {
        Getopt getopt = new Getopt(program, letters(), longOptions(), arguments, messages);
        for (int code = getopt.next(); code != Getopt.END; code = getopt.next()) {
            Action<S> action = code == '?' ? null : action((char) code);
            if (action == null) {
                throw refusal.refuse(getopt.unknownOption());
            }
            action.take(settings, getopt.argumentOrEmpty());
        }
        return getopt.operands();
    }

    private @Nullable Action<S> action(char code) {
        for (int i = 0; i < options.size(); i++) {
            if (isParsed(i) && code(i) == code) {
                return options.get(i).action();
            }
        }
        return null;
    }

    private boolean isParsed(int row) {
        return options.get(row).action() != null;
    }

    /** Returns the character that represents an option: its letter, or one for the row. */
    private char code(int row) {
        char letter = letter(options.get(row));
        return letter == 0 ? (char) (FIRST_NAMED + row) : letter;
    }

    /** Returns the letter of an option, or 0 if it has none. */
    private static char letter(Option<?> option) {
        String name = option.names().getFirst();
        return name.startsWith("--") ? 0 : name.charAt(1);
    }

    /** Returns the letters in the form of getopt(3). */
    private String letters() {
        StringBuilder letters = new StringBuilder();
        for (int i = 0; i < options.size(); i++) {
            Option<S> option = options.get(i);
            if (isParsed(i) && letter(option) != 0) {
                letters.append(letter(option))
                        .append(option.ignoresRest() ? "::" : option.argument().isEmpty() ? "" : ":");
            }
        }
        return letters.toString();
    }

    private List<LongOption> longOptions() {
        List<LongOption> longOptions = new ArrayList<>();
        for (int i = 0; i < options.size(); i++) {
            Option<S> option = options.get(i);
            for (String name : isParsed(i) ? option.names() : List.<String>of()) {
                if (name.startsWith("--")) {
                    longOptions.add(
                            new LongOption(name.substring(2), !option.argument().isEmpty(), code(i)));
                }
            }
        }
        return longOptions;
    }
}
