package io.rdma4j.tools.manual;

import io.rdma4j.tools.command.CommonOptions;
import io.rdma4j.tools.command.OptionTable;
import io.rdma4j.tools.command.Tool;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * The parts of a help text, except the lines of the options.
 *
 * @param usage the lines that show how the tool is called, without the word "usage"
 * @param notes the other lines; an empty line separates paragraphs
 * @param examples the lines of the examples
 */
record HelpText(List<String> usage, List<String> notes, List<String> examples) {
    private static final Pattern USAGE = Pattern.compile("(?i)usage(?: \\d)?:\\s*");
    private static final String EXAMPLES = "examples:";
    private static final String OPTIONS = "Options:";

    /** Splits the help text of a tool. */
    static HelpText of(Tool tool) {
        String text = tool.help().replace(CommonOptions.usage(), "");
        for (OptionTable<?> table : tool.options()) {
            text = text.replace(table.usage(), "");
        }
        return new Parser(tool.name()).parse(text.lines().toList());
    }

    private static final class Parser {
        private final String name;
        private final List<String> usage = new ArrayList<>();
        private final List<String> notes = new ArrayList<>();
        private final List<String> examples = new ArrayList<>();
        private boolean inExamples;

        Parser(String name) {
            this.name = name;
        }

        HelpText parse(List<String> lines) {
            lines.forEach(this::add);
            return new HelpText(List.copyOf(usage), trimmed(notes), List.copyOf(examples));
        }

        private void add(String line) {
            if (line.isBlank()) {
                inExamples = false;
                notes.add("");
            } else if (line.equals(EXAMPLES)) {
                inExamples = true;
            } else if (inExamples) {
                examples.add(line.strip());
            } else if (isUsage(line)) {
                usage.add(USAGE.matcher(line.strip()).replaceFirst(""));
            } else if (!line.equals(OPTIONS)) {
                notes.add(line.strip());
            }
        }

        /** Returns whether a line shows usage: it starts with that word, or with the tool's name before its options. */
        private boolean isUsage(String line) {
            String text = line.strip();
            boolean callsTool = text.equals(name) || text.startsWith(name + " -") || text.startsWith(name + " <");
            boolean callsToolWithNote = text.startsWith(name + "  ");
            return USAGE.matcher(text).lookingAt() && text.length() > "usage:".length()
                    || callsTool
                    || callsToolWithNote;
        }
    }

    private static List<String> trimmed(List<String> lines) {
        List<String> result = new ArrayList<>();
        for (String line : lines) {
            if (!line.isEmpty() || !result.isEmpty() && !result.getLast().isEmpty()) {
                result.add(line);
            }
        }
        if (!result.isEmpty() && result.getLast().isEmpty()) {
            result.removeLast();
        }
        return List.copyOf(result);
    }
}
