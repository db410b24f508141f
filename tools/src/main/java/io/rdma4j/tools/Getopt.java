package io.rdma4j.tools;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Splits a command line into options and operands as GNU {@code getopt} does, with its messages. Source: getopt(3).
 *
 * <p>Options may be clustered ({@code -vV}), their arguments may follow in the same word or the next ({@code -C10},
 * {@code -C 10}), options and operands may be mixed, {@code --} ends the options and a lone {@code -} is an operand. A
 * letter followed by one colon takes an argument, by two colons an optional one that must be in the same word. A
 * specification that begins with {@code +} stops at the first operand; one that begins with a colon (after any
 * {@code +}) reports a missing argument as {@code ':'} and prints nothing.
 *
 * <p>With long options ({@code getopt_long}) a word may also be {@code --name}, {@code --name=value} or {@code --name
 * value}, and a name may be shortened as long as it is clear which one is meant. Not thread safe.
 */
public final class Getopt {
    /** What {@link #next} returns when there are no more options. */
    public static final int END = -1;

    /**
     * A long option.
     *
     * @param name without hyphens
     * @param hasArgument whether it must have an argument
     * @param letter what {@link #next} returns for it
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

    /** The word that is being read, and how far; it is not shortened, which would copy a long one again and again. */
    private String cluster = "";

    private int clusterAt;
    private boolean clusterIsWord;
    private int unknownOption;
    private @Nullable String argument;

    /**
     * Creates a parser.
     *
     * @param program name for messages
     * @param specification option letters, as for getopt(3)
     * @param arguments the words of the command line, without the program's name
     * @param messages where complaints go; null prints none, as with {@code opterr = 0}
     */
    public Getopt(String program, String specification, List<String> arguments, @Nullable PrintStream messages) {
        this(program, specification, List.of(), arguments, messages);
    }

    /** Creates a parser that also knows long options; see the other constructor. C: {@code getopt_long}. */
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
     * Takes the next option.
     *
     * @return its letter; {@code '?'} for one that is unknown or lacks its argument ({@code ':'} for the latter where the
     *     specification asks for it); {@link #END} after the last
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
        int place = letter == ':' || letter == ';' ? -1 : specification.indexOf(letter);
        if (place < 0) {
            unknownOption = letter;
            complain("invalid option -- '" + letter + "'");
            return '?';
        }
        return specification.startsWith(":", place + 1) ? takeArgument(letter, place) : letter;
    }

    private int takeLong() {
        String rest = restOfCluster();
        int equals = rest.indexOf('=');
        String typed = equals < 0 ? rest : rest.substring(0, equals);
        @Nullable String value = equals < 0 ? null : rest.substring(equals + 1);
        unknownOption = 0;
        List<LongOption> meant = candidates(typed);
        if (meant.isEmpty()) {
            complain("unrecognized option '--" + typed + (value == null ? "" : "=" + value) + "'");
            return '?';
        }
        if (meant.size() > 1) {
            StringBuilder names = new StringBuilder();
            meant.forEach(option -> names.append(" '--").append(option.name()).append('\''));
            complain("option '--" + typed + (value == null ? "" : "=" + value) + "' is ambiguous; possibilities:"
                    + names);
            return '?';
        }
        LongOption option = meant.getFirst();
        unknownOption = option.letter();
        if (!option.hasArgument() && value != null) {
            complain("option '--" + option.name() + "' doesn't allow an argument");
            return '?';
        }
        if (option.hasArgument() && value == null) {
            if (index == arguments.size()) {
                complain("option '--" + option.name() + "' requires an argument");
                return colonMode ? ':' : '?';
            }
            value = arguments.get(index++);
        }
        argument = value;
        return option.letter();
    }

    /**
     * The options that a name may mean: the one that has it, else all that begin with it; only the first of them if they
     * all have the same letter and argument, since they are then names of one option.
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

    private int takeArgument(char letter, int place) {
        boolean optional = specification.startsWith(":", place + 2);
        if (clusterAt < cluster.length()) {
            argument = restOfCluster();
        } else if (!optional) {
            if (index == arguments.size()) {
                unknownOption = letter;
                complain("option requires an argument -- '" + letter + "'");
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

    /** Goes to the next word with options, setting operands aside. */
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

    private void complain(String text) {
        if (messages != null) {
            messages.println(program + ": " + text);
        }
    }

    /** Argument of the option that {@link #next} returned last, or null if it has none. C: {@code optarg}. */
    public @Nullable String argument() {
        return argument;
    }

    /** Argument of an option that must have one. */
    public String requiredArgument() {
        if (argument == null) {
            throw new IllegalStateException("the option takes no argument");
        }
        return argument;
    }

    /** The argument of the last option, or an empty text if it takes none. */
    public String argumentOrEmpty() {
        return argument == null ? "" : argument;
    }

    /** The letter that the last {@code '?'} or {@code ':'} was about. C: {@code optopt}. */
    public char unknownOption() {
        return (char) unknownOption;
    }

    /** The words that are no options, in order; complete after {@link #END}. */
    public List<String> operands() {
        return List.copyOf(operands);
    }
}
