package io.rdma4j.tools.manual;

import io.rdma4j.tools.command.CommonOptions;
import io.rdma4j.tools.command.Option;
import io.rdma4j.tools.command.OptionTable;
import io.rdma4j.tools.command.Tool;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;

/**
 * The manual page of a tool, for man(1).
 *
 * <p>The options come from the tool's tables. The name, synopsis and examples come from the help text, and so does the
 * description unless the resource {@code NAME.man} has it. The resource also has the sections that a help text lacks,
 * and text that precedes the options.
 */
final class ManualPage {
    private static final String DESCRIPTION = "DESCRIPTION";
    private static final String OPTIONS = "OPTIONS";

    private final StringBuilder page = new StringBuilder();

    private ManualPage() {}

    /** Returns the page of a tool. */
    static String of(Tool tool) {
        ManualPage result = new ManualPage();
        HelpText help = HelpText.of(tool);
        Map<String, String> written = sections(tool.name());
        result.begin("rdma4j-" + tool.name(), tool.summary());
        result.synopsis(tool, help);
        if (written.containsKey(DESCRIPTION)) {
            result.section(DESCRIPTION, written.remove(DESCRIPTION));
        } else if (!help.notes().isEmpty()) {
            result.section(DESCRIPTION, paragraphs(help.notes()));
        }
        for (OptionTable<?> table : tool.options()) {
            String title = table.mode().isEmpty() ? OPTIONS : OPTIONS + " WITH " + Troff.escaped(table.mode());
            String introduction = Objects.requireNonNullElse(written.remove(title), "");
            result.section(title, introduction + items(table));
        }
        if (tool.hasCommonOptions()) {
            result.section("OPTIONS OF EVERY TOOL", items(CommonOptions.options()));
        }
        written.forEach(result::section);
        if (!help.examples().isEmpty()) {
            result.section("EXAMPLES", verbatim(help.examples()));
        }
        result.seeAlso();
        return result.page.toString();
    }

    /** Returns the page of the command itself, with a list of the tools. */
    static String ofCommand(List<Tool> tools) {
        ManualPage result = new ManualPage();
        result.begin("rdma4j", "RDMA for Java: tools over a software RoCEv2 device");
        Map<String, String> written = sections("rdma4j");
        written.forEach((title, text) -> {
            result.section(title, text);
            if (title.equals(DESCRIPTION)) {
                StringBuilder list = new StringBuilder();
                for (Tool tool : tools) {
                    list.append(".TP\n.B ").append(Troff.escaped(tool.name())).append('\n');
                    list.append(Troff.escaped(tool.summary())).append(".\n");
                }
                result.section("TOOLS", list.toString());
                result.section(
                        OPTIONS,
                        "Every tool has these options, before or after its own.\n" + items(CommonOptions.options()));
            }
        });
        return result.page.toString();
    }

    private void begin(String name, String summary) {
        page.append(".TH ").append(name.toUpperCase(Locale.ROOT).replace("-", "\\-"));
        page.append(" 1 \"\" \"rdma4j\" \"rdma4j tools\"\n");
        section("NAME", Troff.escaped(name) + " \\- " + Troff.escaped(summary) + "\n");
    }

    private void synopsis(Tool tool, HelpText help) {
        String name = tool.name();
        boolean isBare = help.usage().isEmpty()
                || help.usage().stream().allMatch(line -> line.equals(name) || line.equals("rdma4j " + name));
        String line = isBare && !tool.options().isEmpty() ? name + " [options]" : name;
        section("SYNOPSIS", verbatim(isBare ? List.of(line) : help.usage()));
    }

    private void section(String title, String text) {
        page.append(".SH ").append(title).append('\n').append(text);
    }

    private void seeAlso() {
        section("SEE ALSO", ".BR rdma4j (1)\n");
    }

    private static String items(OptionTable<?> table) {
        StringBuilder result = new StringBuilder();
        for (Option<?> option : table.documented()) {
            result.append(".TP\n.B ").append(Troff.escaped(String.join(", ", option.names())));
            if (!option.argument().isEmpty()) {
                result.append(" \\fI").append(Troff.escaped(option.argument())).append("\\fR");
            }
            String text = option.manual().isEmpty()
                    ? option.description().stream().map(Troff::escaped).collect(Collectors.joining("\n.br\n"))
                    : Troff.paragraph(option.manual());
            result.append(text.isEmpty() ? "\n" : "\n" + text + "\n");
        }
        return result.toString();
    }

    private static String paragraphs(List<String> lines) {
        StringBuilder result = new StringBuilder();
        lines.forEach(line ->
                result.append(line.isEmpty() ? ".PP" : Troff.escaped(line)).append('\n'));
        return result.toString();
    }

    private static String verbatim(List<String> lines) {
        StringBuilder result = new StringBuilder(".nf\n");
        lines.forEach(line -> result.append(Troff.escaped(line)).append('\n'));
        return result.append(".fi\n").toString();
    }

    /** Returns the sections of a tool's resource by their titles, or an empty map if there is no resource. */
    private static Map<String, String> sections(String name) {
        Map<String, String> result = new LinkedHashMap<>();
        try (InputStream stream = ManualPage.class.getResourceAsStream(name + ".man")) {
            if (stream != null) {
                String text = new String(stream.readAllBytes(), StandardCharsets.UTF_8);
                for (String section :
                        text.substring(text.indexOf(".SH ") + ".SH ".length()).split("(?m)^\\.SH ", -1)) {
                    int end = section.indexOf('\n');
                    result.put(section.substring(0, end), section.substring(end + 1));
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read the manual of " + name, e);
        }
        return result;
    }
}
