package io.rdma4j.tools.run;

import io.rdma4j.tools.command.Tool;
import io.rdma4j.tools.command.ToolEnvironment;
import java.util.List;

/**
 * {@code rdma4j exec}: runs a C program that uses libibverbs or librdmacm over this project's devices.
 *
 * <p>The launcher becomes the program (apps/tools/launcher/exec.sh); Java starts in its process at its first call of libibverbs or
 * librdmacm. This class has the help text, for the manual page and the completions, too.
 */
public final class Exec implements Tool {
    private static final String HELP = """
        usage: rdma4j exec [OPTION...] [--] PROGRAM [ARGUMENT...]
        usage: rdma4j exec [OPTION...] --print
        Runs a C program that uses libibverbs or librdmacm (perftest, UCX, rping) over the software RoCEv2 device,
        without a change of the program: no RDMA hardware, no kernel module, no /dev/infiniband, no root. Puts a libibverbs
        of its own before that of the system by LD_LIBRARY_PATH and LD_PRELOAD, before what these contain already, and
        becomes the program: signals and exit status are the program's. Processes that it starts inherit the variables.
          --print         print the variables as lines for the shell, and run nothing
          --device NAME   use only this device: its name (rdma4j_eth0), one of its addresses, or its kind (soft, hardware)
          --pcap FILE     write every packet to FILE in pcapng, for Wireshark; %p in FILE is the number of the process
          --fault SPEC    inject faults into the traffic, for example loss=1%,dup=1%,seed=7
          --trace         print a line per packet on stderr
          --no-shared-memory  send packets by UDP also to processes of this host
          --no-guardian   start no process that disconnects the peers if the program is killed
          --warm-up       let Java compile the code that moves data in the three seconds after a device is opened; the
                          first connection waits for their end. For programs that measure at once
          --no-warm-up    measure at once also in the programs of perftest, which are warmed up by default

        The first call of libibverbs or librdmacm starts a Java virtual machine in the process; a program that makes none
        starts none. Linux only. In a checkout, the first use compiles the library, which needs a C compiler. Programs that
        are linked statically, or run with the rights of another user (setuid), are refused. librdmacm is that of the
        system: the package librdmacm1 of Debian and Ubuntu, or librdmacm of Fedora.

        A process that fork has made has no devices: its calls of libibverbs fail. Programs that call exec after fork, as
        shells do, are not concerned.

        environment:
          RDMA4J_JAVA_OPTS   further options for the virtual machine, such as -Xmx512m

        examples:
          rdma4j exec ibv_devices
          rdma4j exec -- ib_write_bw -d rdma4j_lo                  the server
          rdma4j exec -- ib_write_bw -d rdma4j_lo 127.0.0.1        its client, in another terminal
          rdma4j exec --pcap rping.pcapng -- rping -c -a 192.0.2.1 -C 3 -v
          eval "$(rdma4j exec --print)"
        """;

    private static final int USAGE = 2;

    /** Creates the tool. */
    public Exec() {}

    @Override
    public String name() {
        return "exec";
    }

    @Override
    public String summary() {
        return "runs a C program of libibverbs or librdmacm over the software device";
    }

    @Override
    public String help() {
        return HELP;
    }

    @Override
    public boolean hasCommonOptions() {
        return false;
    }

    /** Reports that the command line is not one that the launcher handles: its first word is not {@code exec}. */
    @Override
    public int run(List<String> arguments, ToolEnvironment environment) {
        environment
                .err()
                .println("rdma4j exec: 'exec' is the first word of the command line, and its options follow; see rdma4j"
                        + " exec --help");
        return USAGE;
    }
}
