package io.rdma4j.tools.manual;

import io.rdma4j.tools.command.CommonOptions;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * The parts of a help text.
 *
 * @param usage the lines that show how the tool is called, without the word "usage"
 * @param options the tool's own options; if one is described twice, the first description is used
 * @param notes the other lines; an empty line separates paragraphs
 * @param examples the lines of the examples
 */
record HelpText(List<String> usage, List<HelpOption> options, List<String> notes, List<String> examples) {
    private static final Pattern USAGE = Pattern.compile("(?i)usage(?: \\d)?:\\s*");
    private static final String EXAMPLES = "examples:";
    private static final String OPTIONS = "Options:";

    /**
     * Splits a help text.
     *
     * @param name the name of the tool
     * @param help its help text, with or without the options that all tools have
     */
    static HelpText parse(String name, String help) {
        int common = help.indexOf(CommonOptions.HELP);
        return new Parser(name)
                .parse((common < 0 ? help : help.substring(0, common)).lines().toList());
    }

    /** Returns the options that all tools have. */
    static List<HelpOption> commonOptions() {
        List<HelpOption> options = new ArrayList<>(
                new Parser("").parse(CommonOptions.HELP.lines().toList()).options());
        options.add(new HelpOption(List.of("--help"), "", List.of("print the options with examples")));
        return List.copyOf(options);
    }

    private static final class Parser {
        private final String name;
        private final List<String> usage = new ArrayList<>();
        private final Map<String, HelpOption> options = new LinkedHashMap<>();
        private final List<String> notes = new ArrayList<>();
        private final List<String> examples = new ArrayList<>();
        private boolean inExamples;
        private String lastOption = "";

        Parser(String name) {
            this.name = name;
        }

        HelpText parse(List<String> lines) {
            lines.forEach(this::add);
            return new HelpText(
                    List.copyOf(usage), List.copyOf(options.values()), trimmed(notes), List.copyOf(examples));
        }

        private void add(String line) {
            boolean isIndented = !line.isEmpty() && Character.isWhitespace(line.charAt(0));
            HelpOption option = inExamples ? null : HelpOption.parse(line);
            if (line.isBlank()) {
                inExamples = false;
                lastOption = "";
                notes.add("");
            } else if (line.equals(EXAMPLES)) {
                inExamples = true;
            } else if (inExamples) {
                examples.add(line.strip());
            } else if (isUsage(line)) {
                lastOption = "";
                usage.add(USAGE.matcher(line.strip()).replaceFirst(""));
            } else if (option != null && isIndented) {
                lastOption = option.names().getFirst();
                options.putIfAbsent(lastOption, option);
            } else if (isIndented && !lastOption.isEmpty()) {
                options.computeIfPresent(lastOption, (key, known) -> known.with(line));
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
