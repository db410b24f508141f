package io.rdma4j.tools.perftest;

import java.util.Locale;

/** The help texts of a tool. */
final class PerftestHelp {
    private static final String EXAMPLES = """

        Start both sides with the same options, and the client also with the server's address. With -R the connection
        manager connects the queue pairs, and uses the device that has the address.

        examples:
          TOOL -R                          the server, on every IPv4 address
          TOOL -R 192.0.2.1                the client
          TOOL -R -a -F --json 192.0.2.1   all sizes, with a JSON document at the end

        """;

    private final Settings defaults;
    private final StringBuilder text = new StringBuilder();

    private PerftestHelp(Settings defaults) {
        this.defaults = defaults;
    }

    /** Returns the usage with all options of the tool. */
    static String usage(String tool, Settings settings) {
        return new PerftestHelp(new Settings(settings.operation, settings.measure)).write(tool);
    }

    /** Returns the examples. */
    static String examples(String tool) {
        return EXAMPLES.replace("TOOL", tool);
    }

    private void option(String names, String meaning) {
        text.append(String.format(Locale.ROOT, "  %-34s %s\n", names, meaning));
    }

    private String write(String tool) {
        text.append(String.format(Locale.ROOT, """
            Usage:
              %1$s            start a server and wait for connection
              %1$s <host>     connect to server at <host>

            Options:
            """, tool));
        writeTraffic();
        writeConnection();
        writeMeasure();
        writeOutput();
        return text.toString();
    }

    private void writeTraffic() {
        boolean isBandwidth = defaults.isBandwidth();
        if (defaults.operation == MeasuredOperation.ATOMIC) {
            option("-A, --atomic_type=<type>", "FETCH_AND_ADD (default) or CMP_AND_SWAP");
        } else {
            option("-a, --all", "run sizes from 2 till 2^23");
            option(
                    "-s, --size=<size>",
                    "bytes of a message, also with suffix K or M (default " + defaults.sizeBytes + ")");
        }
        option("-n, --iters=<iters>", "operations (default " + defaults.iterations + ", at least 5)");
        option("-D, --duration=<seconds>", "run for this time instead of -n");
        option("-f, --margin=<seconds>", "unmeasured time at both ends of -D (default a quarter)");
        if (isBandwidth) {
            option("-b, --bidirectional", "both sides send at the same time");
            option("-q, --qp=<number>", "queue pairs (default 1)");
            option("-t, --tx-depth=<depth>", "outstanding operations of each (default 128)");
            option("-l, --post_list=<number>", "operations to post at a time (default 1)");
            option("-Q, --cq-mod=<number>", "operations per completion (default 100; above 8 KiB 1)");
            option("    --recv_post_list=<number>", "receives to post at a time (default 1)");
            option("    --cqe_poll=<number>", "completions per poll (default 16)");
        }
        if (defaults.operation == MeasuredOperation.SEND) {
            option("-r, --rx-depth=<depth>", "receives posted (default 512)");
            option("    --use-srq", "use one receive queue for all queue pairs");
            option("    --send_with_imm", "send immediate data with each message");
        }
        if (defaults.operation == MeasuredOperation.WRITE) {
            option("    --write_with_imm", "write with immediate data, which the peer receives");
            option("-r, --rx-depth=<depth>", "receives posted with --write_with_imm (default 512)");
        }
        if (defaults.operation.isFetch()) {
            option("-o, --outs=<number>", "outstanding READs or atomics (default the device's maximum)");
        } else {
            option("-I, --inline_size=<size>", "send messages up to this size inline (default 0)");
        }
        option(
                "-e, --events",
                defaults.operation == MeasuredOperation.WRITE
                        ? "with --write_with_imm: sleep on completions (default poll)"
                        : "sleep on completions (default poll)");
        option("-X, --vector=<completion vector>", "vector of the completion queues (default 0)");
        if (!isBandwidth) {
            option("    --latency_gap=<microseconds>", "wait before each operation");
        }
    }

    private void writeConnection() {
        option(
                "-c, --connection=<type>",
                switch (defaults.operation) {
                    case SEND -> "RC, UC, UD or XRC (default RC)";
                    case WRITE -> "RC, UC or XRC (default RC)";
                    case READ, ATOMIC -> "RC or XRC (default RC)";
                });
        option("-R, --rdma_cm", "connect the queue pairs with the connection manager");
        option("-z, --comm_rdma_cm", "only exchange parameters over rdma_cm (default over TCP)");
        option("-p, --port=<port>", "listen on/connect to port <port> (default 18515)");
        option("    --source_ip=<address>", "local address");
        option("    --ipv6", "serve IPv6 addresses, prefer IPv6 GIDs");
        option("-d, --ib-dev=<device>", "device (default: the device with the address)");
        option("-i, --ib-port=<port>", "port of the device (default 1)");
        option("-x, --gid-index=<index>", "GID of the port (default: the GID of the address)");
        option("-m, --mtu=<bytes>", "path MTU, 256 to 4096 (default: the MTU of the port)");
        option("-T, --tos=<value>", "type of service, with -R");
        option("    --tclass=<value>", "type of service, without -R");
        option("    --flow_label=<label,...>", "flow labels, assigned to the queue pairs in turn, without -R");
        option("-u, --qp-timeout=<exponent>", "acknowledgement time-out 4.096 us * 2^n (default 14)");
        option("    --retry_count=<number>", "retransmissions before a connection fails (default 7)");
        option("    --mr_per_qp", "a memory region for each queue pair");
        option("    --dont_xchg_versions", "do not exchange versions and MTU");
        option("-S, -F, --use_old_post_send, --disable_pcie_relaxed", "accepted, without effect");
    }

    private void writeMeasure() {
        if (defaults.isBandwidth()) {
            option("-N, --noPeak", "do not measure the peak (default measure it, up to 20000 operations)");
            option("    --perform_warm_up", "post some operations before the measured ones");
            option("    --run_infinitely", "run until killed; print results every <duration> seconds");
            option("-w, --limit_bw=<value>", "fail if the bandwidth is lower");
            option("-y, --limit_msgrate=<value>", "fail if the message rate is lower");
        }
        option("    --wait_destroy=<seconds>", "wait before the end");
    }

    private void writeOutput() {
        if (defaults.isBandwidth()) {
            option("    --report_gbits", "print gigabits instead of MiB per second");
            option("    --report-both", "with -b also report each direction");
            option("    --output=<kind>", "only one number: bandwidth or message_rate");
        } else {
            option("-H, --report-histogram", "print all results, sorted");
            option("-U, --report-unsorted", "print all results, in the order of the operations");
            option("    --output=<kind>", "only one number: latency");
        }
        option("-V, --version", "print the version of the protocol");
        option("-h, --help", "this text");
    }
}
