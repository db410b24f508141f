package io.rdma4j.tools.run;

import io.rdma4j.tools.command.Tool;
import io.rdma4j.tools.command.ToolEnvironment;
import java.util.List;

/**
 * {@code rdma4j run}: runs a command whose Java programs use RDMA instead of TCP.
 *
 * <p>The launcher becomes the command without starting Java (apps/tools/launcher/run.sh). This class has the help text, for
 * the manual page and the completions, too.
 */
public final class Run implements Tool {
    private static final String HELP = """
        usage: rdma4j run [OPTION...] [--] COMMAND [ARGUMENT...]
        usage: rdma4j run [OPTION...] --print
        Runs a command whose Java programs use RDMA instead of TCP, without a change of the program: java -cp, -jar or
        -m, or a script that starts java. Sets JDK_JAVA_OPTIONS for the command, behind what it contains already, and
        becomes the command: signals and exit status are the command's. Java virtual machines that the command starts
        inherit the variable.
          --rules RULES   where RDMA is used and where TCP: 10.1.0.0/16=rdma,127.0.0.1=tcp,*=either
                          (either: RDMA, or TCP if the peer does not listen with RDMA)
          --every-jvm     set JAVA_TOOL_OPTIONS, which every virtual machine reads: for programs with a launcher other
                          than java (jsvc, launchers of jpackage; jwebserver is recognized)
          --print         print the variable as a line for the shell, and run nothing
          --device NAME   use only this device: its name (rdma4j_eth0), one of its addresses, or its kind (soft, hardware)
          --pcap FILE     write every packet to FILE in pcapng, for Wireshark; %p in FILE is the number of the process
          --fault SPEC    inject faults into the traffic, for example loss=1%,dup=1%,seed=7
          --trace         print a line per packet on stderr
          --no-shared-memory  send packets by UDP also to processes of this host

        Java 25 or newer has to run the programs; an older one ends with a sentence. Options on the command line of java
        take precedence over these. On TCP or UDP stay datagrams, Unix-domain sockets, connections for which the rules
        say so, and the sockets of native libraries (Netty's epoll transport).

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

    /** Reports that the command line is not one that the launcher handles: its first word is not {@code run}. */
    @Override
    public int run(List<String> arguments, ToolEnvironment environment) {
        environment
                .err()
                .println("rdma4j run: 'run' is the first word of the command line, and its options follow; see rdma4j"
                        + " run --help");
        return USAGE;
    }
}
