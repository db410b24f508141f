package io.rdma4j.tools.command;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Splits a command line into options and operands like GNU {@code getopt}, with its messages. Source: getopt(3).
 *
 * <p>Options may be clustered ({@code -vV}). An option's argument may be in the same word or in the next ({@code -C10},
 * {@code -C 10}). Options and operands may be mixed, {@code --} ends the options, and a lone {@code -} is an operand.
 *
 * <p>A letter followed by one colon takes an argument; by two colons, an optional argument that must be in the same
 * word. A specification that begins with {@code +} stops at the first operand. One that begins with a colon (after any
 * {@code +}) reports a missing argument as {@code ':'} and prints nothing.
 *
 * <p>With long options ({@code getopt_long}) a word may also be {@code --name}, {@code --name=value} or
 * {@code --name value}. A name may be abbreviated as long as it is unambiguous. Not thread safe.
 */
public final class Getopt {
    /** The value that {@link #next} returns at the end of the options. */
    public static final int END = -1;

    /**
     * A long option.
     *
     * @param name the name without hyphens
     * @param hasArgument true if the option requires an argument
     * @param letter the value that {@link #next} returns for the option
     */
    public record LongOption(String name, boolean hasArgument, char letter) {}

    private final String program;
    private final List<LongOption> longOptions;
    private final String specification;
    private final boolean stopAtOperand;
    private final boolean colonMode;
    private final @Nullable PrintStream messages;
    private final List<String> arguments;
    private final List<String> operands = new ArrayList<>();
    private int index;

    /** The word being parsed. An offset into it advances, because shortening a long word would copy it repeatedly. */
    private String cluster = "";

    private int clusterAt;
    private boolean clusterIsWord;
    private int unknownOption;
    private @Nullable String argument;

    /**
     * Creates a parser.
     *
     * @param program the program name for messages
     * @param specification the option letters, as for getopt(3)
     * @param arguments the words of the command line, without the program's name
     * @param messages the stream for error messages, or null for no messages, as with {@code opterr = 0}
     */
    public Getopt(String program, String specification, List<String> arguments, @Nullable PrintStream messages) {
        this(program, specification, List.of(), arguments, messages);
    }

    /** Creates a parser that also accepts long options. C: {@code getopt_long}. */
    public Getopt(
            String program,
            String specification,
            List<LongOption> longOptions,
            List<String> arguments,
            @Nullable PrintStream messages) {
        this.program = program;
        this.longOptions = List.copyOf(longOptions);
        String letters = specification;
        stopAtOperand = letters.startsWith("+");
        if (stopAtOperand) {
            letters = letters.substring(1);
        }
        colonMode = letters.startsWith(":");
        this.specification = colonMode ? letters.substring(1) : letters;
        this.arguments = List.copyOf(arguments);
        this.messages = colonMode ? null : messages;
    }

    /**
     * Parses the next option.
     *
     * @return its letter; {@code '?'} for an unknown option or a missing argument; {@code ':'} for a missing argument
     *     if the specification begins with a colon; {@link #END} after the last option
     */
    public int next() {
        argument = null;
        if (clusterAt == cluster.length() && !findCluster()) {
            return END;
        }
        char letter = cluster.charAt(clusterAt++);
        if (letter == '-' && !longOptions.isEmpty() && clusterIsWord) {
            return takeLong();
        }
        clusterIsWord = false;
        int position = letter == ':' || letter == ';' ? -1 : specification.indexOf(letter);
        if (position < 0) {
            unknownOption = letter;
            printError("invalid option -- '" + letter + "'");
            return '?';
        }
        return specification.startsWith(":", position + 1) ? takeArgument(letter, position) : letter;
    }

    private int takeLong() {
        String rest = restOfCluster();
        int equals = rest.indexOf('=');
        String typed = equals < 0 ? rest : rest.substring(0, equals);
        @Nullable String value = equals < 0 ? null : rest.substring(equals + 1);
        unknownOption = 0;
        List<LongOption> matches = candidates(typed);
        if (matches.isEmpty()) {
            printError("unrecognized option '--" + typed + (value == null ? "" : "=" + value) + "'");
            return '?';
        }
        if (matches.size() > 1) {
            StringBuilder names = new StringBuilder();
            matches.forEach(option -> names.append(" '--").append(option.name()).append('\''));
            printError("option '--" + typed + (value == null ? "" : "=" + value) + "' is ambiguous; possibilities:"
                    + names);
            return '?';
        }
        LongOption option = matches.getFirst();
        unknownOption = option.letter();
        if (!option.hasArgument() && value != null) {
            printError("option '--" + option.name() + "' doesn't allow an argument");
            return '?';
        }
        if (option.hasArgument() && value == null) {
            if (index == arguments.size()) {
                printError("option '--" + option.name() + "' requires an argument");
                return colonMode ? ':' : '?';
            }
            value = arguments.get(index++);
        }
        argument = value;
        return option.letter();
    }

    /**
     * Returns the options that a possibly abbreviated name matches: the exact match, or all options that begin with it.
     *
     * <p>If all matches have the same letter and argument, they are names of one option, and only the first is
     * returned.
     */
    private List<LongOption> candidates(String typed) {
        List<LongOption> candidates = new ArrayList<>();
        for (LongOption option : longOptions) {
            if (option.name().equals(typed)) {
                return List.of(option);
            }
            if (option.name().startsWith(typed)) {
                candidates.add(option);
            }
        }
        boolean isOne = candidates.stream().allMatch(each -> isSame(each, candidates.getFirst()));
        return isOne && !candidates.isEmpty() ? candidates.subList(0, 1) : candidates;
    }

    private static boolean isSame(LongOption one, LongOption other) {
        return one.letter() == other.letter() && one.hasArgument() == other.hasArgument();
    }

    private int takeArgument(char letter, int position) {
        boolean optional = specification.startsWith(":", position + 2);
        if (clusterAt < cluster.length()) {
            argument = restOfCluster();
        } else if (!optional) {
            if (index == arguments.size()) {
                unknownOption = letter;
                printError("option requires an argument -- '" + letter + "'");
                return colonMode ? ':' : '?';
            }
            argument = arguments.get(index++);
        }
        return letter;
    }

    private String restOfCluster() {
        String rest = cluster.substring(clusterAt);
        clusterAt = cluster.length();
        return rest;
    }

    /** Advances to the next word with options, collecting operands on the way. */
    private boolean findCluster() {
        while (index < arguments.size()) {
            String word = arguments.get(index);
            if (word.equals("--")) {
                index++;
                break;
            }
            if (word.length() > 1 && word.charAt(0) == '-') {
                index++;
                cluster = word;
                clusterAt = 1;
                clusterIsWord = true;
                return true;
            }
            if (stopAtOperand) {
                break;
            }
            operands.add(word);
            index++;
        }
        operands.addAll(arguments.subList(index, arguments.size()));
        index = arguments.size();
        return false;
    }

    private void printError(String text) {
        if (messages != null) {
            messages.println(program + ": " + text);
        }
    }

    /**
     * Returns the argument of the option that {@link #next} returned last, or null if it has none. C: {@code optarg}.
     */
    public @Nullable String argument() {
        return argument;
    }

    /** Returns the argument of the last option, or an empty string if it has none. */
    public String argumentOrEmpty() {
        return argument == null ? "" : argument;
    }

    /** Returns the letter that caused the last {@code '?'} or {@code ':'}. C: {@code optopt}. */
    public char unknownOption() {
        return (char) unknownOption;
    }

    /** Returns the words that are not options, in order. The list is complete after {@link #END}. */
    public List<String> operands() {
        return List.copyOf(operands);
    }
}
