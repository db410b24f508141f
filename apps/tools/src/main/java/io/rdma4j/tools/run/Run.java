package io.rdma4j.tools.run;

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
    private static final String HELP = """
        usage: rdma4j run [OPTION...] [--] COMMAND [ARGUMENT...]
        usage: rdma4j run [OPTION...] --print
        Runs a command whose Java programs use RDMA instead of TCP. The programs need no change. The command is java
        with -cp, -jar or -m, or a script that starts java. Extends JDK_JAVA_OPTIONS and replaces itself with the
        command (exec): signals and exit status are the command's. Java virtual machines that the command starts inherit
        the variable.
          --rules RULES   where to use RDMA, and where TCP: 10.1.0.0/16=rdma,127.0.0.1=tcp,*=either
                          (either: RDMA, or TCP if the peer does not listen with RDMA)
          --every-jvm     set JAVA_TOOL_OPTIONS, which every virtual machine reads: for programs that another launcher
                          than java starts (jsvc, launchers of jpackage; jwebserver is recognized)
          --print         print the variable as a shell command, and run nothing
          --device NAME   use only this device: its name (rdma4j_eth0), one of its addresses, or its kind (soft, hardware)
          --pcap FILE     write every packet to FILE in pcapng, for Wireshark; %p in FILE is the process ID
          --fault SPEC    inject faults into the traffic, for example loss=1%,dup=1%,seed=7
          --trace         print a line per packet on stderr
          --no-shared-memory  send packets by UDP also to processes of this host

        The programs need Java 25 or newer; an older Java exits with a message. Options on the command line of java take
        precedence over these. These do not use RDMA: datagrams, Unix-domain sockets, connections for which the rules
        select TCP, and the sockets of native libraries (Netty's epoll transport).

        examples:
          rdma4j run -- java -jar server.jar
          rdma4j run --rules '10.1.0.0/16=rdma,*=tcp' -- kafka-server-start.sh server.properties
          eval "$(rdma4j run --print)"
        """;

    private static final int USAGE = 2;

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
        return HELP;
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
        return USAGE;
    }
}
