package io.rdma4j.tools.run;

import io.rdma4j.tools.command.OptionTable;
import io.rdma4j.tools.command.Tool;
import io.rdma4j.tools.command.ToolEnvironment;
import java.util.List;

/**
 * {@code rdma4j exec}: runs a C program that uses libibverbs or librdmacm over this project's devices.
 *
 * <p>The launcher replaces itself with the program (apps/tools/launcher/exec.sh). Java starts in the process at the first
 * call to libibverbs or librdmacm. This class contains the help text, also for the manual page and the completions.
 */
public final class Exec implements Tool {
    private static final String USAGE = """
        usage: rdma4j exec [OPTION...] [--] PROGRAM [ARGUMENT...]
        usage: rdma4j exec [OPTION...] --print
        Runs a C program that uses libibverbs or librdmacm (perftest, UCX, rping) over the software RoCEv2 device. The
        program needs no change, no RDMA hardware, no kernel module, no /dev/infiniband and no root. Prepends rdma4j's
        libibverbs to LD_LIBRARY_PATH and LD_PRELOAD, so that the program loads it instead of the system's. Then
        replaces itself with the program (exec): signals and exit status are the program's. Processes that the program
        starts inherit the variables.
        """;

    private static final String NOTES = """

        The first call to libibverbs or librdmacm starts a Java virtual machine in the process; a program that makes no
        such call starts none. Linux only. In a checkout, the first use compiles the library, which needs a C compiler.
        Programs that are linked statically, or run with the rights of another user (setuid), are refused. The program
        uses the system's librdmacm: the package librdmacm1 of Debian and Ubuntu, or librdmacm of Fedora.

        A process created by fork has no devices: its calls to libibverbs fail. This does not affect programs that call
        exec after fork, such as shells.

        environment:
          RDMA4J_JAVA_OPTS   further options for the virtual machine, such as -Xmx512m

        examples:
          rdma4j exec ibv_devices
          rdma4j exec -- ib_write_bw -d rdma4j_lo                  the server
          rdma4j exec -- ib_write_bw -d rdma4j_lo 127.0.0.1        its client, in another terminal
          rdma4j exec --pcap rping.pcapng -- rping -c -a 192.0.2.1 -C 3 -v
          eval "$(rdma4j exec --print)"
        """;

    private static final int INVALID = 2;

    /** Creates the tool. */
    public Exec() {}

    @Override
    public String name() {
        return "exec";
    }

    @Override
    public String summary() {
        return "runs a C program that uses libibverbs or librdmacm over the software device";
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
                        .note("--print", "print the variables as shell commands, and run nothing"))
                .note("--no-guardian", "start no process that disconnects the peers if the program is killed")
                .note(
                        "--warm-up",
                        "let Java compile the data path during the three seconds after a device is opened; the first\n"
                                + "                  connection waits until they are over. For programs that measure"
                                + " immediately")
                .note("--no-warm-up", "do not warm up the programs of perftest, which are warmed up by default");
    }

    @Override
    public boolean hasCommonOptions() {
        return false;
    }

    /** Reports a command line that the launcher does not handle, because its first word is not {@code exec}. */
    @Override
    public int run(List<String> arguments, ToolEnvironment environment) {
        environment
                .err()
                .println("rdma4j exec: 'exec' must be the first word of the command line, before its options; see"
                        + " rdma4j exec --help");
        return INVALID;
    }
}
