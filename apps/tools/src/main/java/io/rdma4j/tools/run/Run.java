package io.rdma4j.tools.run;

import io.rdma4j.tools.command.OptionTable;
import io.rdma4j.tools.command.Tool;
import io.rdma4j.tools.command.ToolEnvironment;
import java.util.List;

/**
 * {@code rdma4j run}: runs a command whose Java programs use RDMA instead of TCP.
 *
 * <p>The launcher replaces itself with the command and starts no Java (apps/tools/launcher/run.sh). This class contains the
 * help text, also for the manual page and the completions.
 */
public final class Run implements Tool {
    private static final String USAGE = """
        usage: rdma4j run [OPTION...] [--] COMMAND [ARGUMENT...]
        usage: rdma4j run [OPTION...] --print
        Runs a command whose Java programs use RDMA instead of TCP. The programs need no change. The command is java
        with -cp, -jar or -m, or a script that starts java. Extends JDK_JAVA_OPTIONS and replaces itself with the
        command (exec): signals and exit status are the command's. Java virtual machines that the command starts inherit
        the variable.
        """;

    private static final String NOTES = """

        The programs need Java 25 or newer; an older Java exits with a message. Options on the command line of java take
        precedence over these. These do not use RDMA: datagrams, Unix-domain sockets, connections for which the rules
        select TCP, and the sockets of native libraries (Netty's epoll transport).

        examples:
          rdma4j run -- java -jar server.jar
          rdma4j run --rules '10.1.0.0/16=rdma,*=tcp' -- kafka-server-start.sh server.properties
          eval "$(rdma4j run --print)"
        """;

    private static final int INVALID = 2;

    /** Creates the tool. */
    public Run() {}

    @Override
    public String name() {
        return "run";
    }

    @Override
    public String summary() {
        return "runs a command whose Java programs use RDMA instead of TCP";
    }

    @Override
    public String help() {
        return USAGE + table().usage() + NOTES;
    }

    @Override
    public List<OptionTable<?>> options() {
        return List.of(table());
    }

    private static OptionTable<Void> table() {
        return LauncherOptions.withDevices(OptionTable.<Void>aligned(15)
                .note(
                        "--rules RULES",
                        "where to use RDMA, and where TCP: 10.1.0.0/16=rdma,127.0.0.1=tcp,*=either\n"
                                + "                  (either: RDMA, or TCP if the peer does not listen with RDMA)")
                .note(
                        "--every-jvm",
                        "set JAVA_TOOL_OPTIONS, which every virtual machine reads: for programs that another"
                                + " launcher\n"
                                + "                  than java starts (jsvc, launchers of jpackage; jwebserver is"
                                + " recognized)")
                .note("--print", "print the variable as a shell command, and run nothing"));
    }

    @Override
    public boolean hasCommonOptions() {
        return false;
    }

    /** Reports a command line that the launcher does not handle, because its first word is not {@code run}. */
    @Override
    public int run(List<String> arguments, ToolEnvironment environment) {
        environment
                .err()
                .println("rdma4j run: 'run' must be the first word of the command line, before its options; see rdma4j"
                        + " run --help");
        return INVALID;
    }
}
