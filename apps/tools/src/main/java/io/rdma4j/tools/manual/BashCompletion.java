package io.rdma4j.tools.manual;

import io.rdma4j.tools.command.Option;
import io.rdma4j.tools.manual.ToolWords.Values;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The completion of command lines for bash. */
final class BashCompletion {
    private static final String BEGIN = """
        # Completion of rdma4j for bash: . <(rdma4j completion bash)
        # For tools that are called by their own names: complete -F _rdma4j rping rstream

        _rdma4j_values() {
            case $1 in
                files)
                    local IFS=$'\\n' # file names may contain blanks: one name a line
                    COMPREPLY=($(compgen -f -- "$2"))
                    compopt -o filenames 2>/dev/null
                    ;;
                hosts) COMPREPLY=($(compgen -A hostname -- "$2")) ;;
                devices) COMPREPLY=($(compgen -W "soft $(ls /sys/class/net 2>/dev/null | sed 's/^/rdma4j_/')" -- "$2")) ;;
                choices) COMPREPLY=($(compgen -W "$3" -- "$2")) ;;
            esac
        }

        _rdma4j() {
            local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} tool=${COMP_WORDS[0]##*/} i
            COMPREPLY=()
            if [ "$tool" = rdma4j ]; then
                # The tool is the first word that is neither an option of every tool nor its value.
                tool=
                for ((i = 1; i < COMP_CWORD; i++)); do
                    case ${COMP_WORDS[i]} in
                        --pcap | --fault | --device) [ "${COMP_WORDS[i + 1]-}" = "=" ] && ((i++)); ((i++)) ;;
                        -*) ;;
                        *) tool=${COMP_WORDS[i]}; break ;;
                    esac
                done
            fi
            # With "--pcap=" the "=" is a separate word.
            [ "$before" = "=" ] && [ "$COMP_CWORD" -ge 2 ] && before=${COMP_WORDS[COMP_CWORD - 2]}
            [ "$word" = "=" ] && word= && before=${COMP_WORDS[COMP_CWORD - 1]}
        """;

    private BashCompletion() {}

    /** Returns the script. */
    static String script(List<ToolWords> tools) {
        StringBuilder script = new StringBuilder(BEGIN);
        String names = String.join(" ", tools.stream().map(ToolWords::name).toList());
        script.append("    case $tool:$before in\n");
        valuesOf("*", ToolWords.COMMON, script);
        tools.forEach(tool -> valuesOf(tool.name(), tool.options(), script));
        script.append("    esac\n    case $tool in\n");
        script.append("        '') _rdma4j_values choices \"$word\" \"")
                .append(names)
                .append(' ')
                .append(optionNames(ToolWords.COMMON))
                .append(" --version\" ;;\n");
        for (ToolWords tool : tools) {
            script.append("        ").append(tool.name()).append(")\n");
            if (tool.arguments() != Values.NONE) {
                String call = call(tool.arguments(), names);
                script.append("            [[ $word == -* ]] || { ")
                        .append(call)
                        .append("; return; }\n");
            }
            script.append("            _rdma4j_values choices \"$word\" \"")
                    .append(optionNames(tool.options()))
                    .append("\"\n            ;;\n");
        }
        return script.append("    esac\n}\ncomplete -F _rdma4j rdma4j\n").toString();
    }

    /**
     * Appends a case for each kind of option values of a tool. The names of the common options have their own cases,
     * under "*", which come first.
     */
    private static void valuesOf(String tool, List<Option<?>> options, StringBuilder script) {
        Map<String, List<String>> patterns = new TreeMap<>();
        for (Option<?> option : options) {
            if (!option.argument().isEmpty() && (tool.equals("*") || !ToolWords.isCommon(option))) {
                String call = call(ToolWords.values(option), String.join(" ", ToolWords.choices(option)));
                List<String> cases = patterns.computeIfAbsent(call, key -> new ArrayList<>());
                option.names().forEach(name -> cases.add(tool + ":" + name));
            }
        }
        patterns.forEach((call, cases) -> script.append("        ")
                .append(String.join(" | ", cases))
                .append(") ")
                .append(call)
                .append(call.isEmpty() ? "return ;;\n" : "; return ;;\n"));
    }

    private static String call(Values values, String choices) {
        return switch (values) {
            case NONE -> "";
            case FILES -> "_rdma4j_values files \"$word\"";
            case HOSTS -> "_rdma4j_values hosts \"$word\"";
            case DEVICES -> "_rdma4j_values devices \"$word\"";
            case CHOICES, TOOLS -> "_rdma4j_values choices \"$word\" \"" + choices + "\"";
            case SHELLS -> "_rdma4j_values choices \"$word\" \"" + String.join(" ", ToolWords.SHELLS) + "\"";
        };
    }

    private static String optionNames(List<Option<?>> options) {
        return String.join(
                " ", options.stream().flatMap(option -> option.names().stream()).toList());
    }
}
