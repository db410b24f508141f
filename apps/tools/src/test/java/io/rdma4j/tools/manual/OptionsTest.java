package io.rdma4j.tools.manual;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.tools.Main;
import io.rdma4j.tools.command.CommonOptions;
import io.rdma4j.tools.command.Option;
import io.rdma4j.tools.command.OptionTable;
import io.rdma4j.tools.command.Tool;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Each documented option of a tool's tables is in its help text, manual page and completions. Help text and manual page
 * have no other options.
 */
class OptionsTest {
    /** A line of a help text or a manual page that starts with an option. */
    private static final Pattern OPTION_LINE = Pattern.compile("(?m)^(?:\\s+\\[?|\\.TP\\n\\.B )(--?\\w[\\w-]*)");

    static Stream<Tool> tools() {
        return Main.tools().stream();
    }

    private static List<String> firstNames(Stream<OptionTable<?>> tables) {
        return tables.flatMap(table -> table.documented().stream())
                .map(option -> option.names().getFirst())
                .toList();
    }

    private static List<String> optionsIn(String text) {
        return OPTION_LINE
                .matcher(text)
                .results()
                .map(result -> result.group(1))
                .toList();
    }

    @ParameterizedTest
    @MethodSource("tools")
    void helpTextHasTheOptionsOfTheTables(Tool tool) {
        String own = tool.help().replace(CommonOptions.usage(), "");
        assertThat(tool.options().stream().allMatch(table -> own.contains(table.usage())))
                .isTrue();
        assertThat(optionsIn(own).stream().distinct())
                .isEqualTo(
                        firstNames(tool.options().stream()).stream().distinct().toList());
    }

    @ParameterizedTest
    @MethodSource("tools")
    void manualPageHasTheOptionsOfTheTables(Tool tool) {
        Stream<OptionTable<?>> tables = tool.hasCommonOptions()
                ? Stream.concat(tool.options().stream(), Stream.of(CommonOptions.options()))
                : tool.options().stream();
        String sections = Pattern.compile("(?m)^\\.SH ")
                .splitAsStream(ManualPage.of(tool))
                .filter(section -> section.startsWith("OPTIONS"))
                .collect(Collectors.joining());
        assertThat(optionsIn(sections.replace("\\-", "-"))).isEqualTo(firstNames(tables));
    }

    @ParameterizedTest
    @MethodSource("tools")
    void completionsHaveTheOptionsOfTheTables(Tool tool) {
        List<ToolWords> words = List.of(ToolWords.of(tool));
        String bash = BashCompletion.script(words).replaceAll("(?s).*        " + tool.name() + "\\)", "");
        String zsh = ZshCompletion.script(words);
        String fish = FishCompletion.script(words);
        String condition = "__fish_seen_subcommand_from " + tool.name() + "'";
        for (OptionTable<?> table : tool.options()) {
            for (Option<?> option : table.documented()) {
                for (String name : option.names()) {
                    assertThat(bash).containsPattern("[ \"]" + name + "[ \"]");
                    assertThat(zsh).containsPattern("'" + name + "=?\\[");
                    String fishName = name.startsWith("--") ? "-l " + name.substring(2) : "-s " + name.substring(1);
                    assertThat(fish).containsPattern(Pattern.quote(condition) + ".* " + fishName + "[ \n]");
                }
            }
        }
    }
}
