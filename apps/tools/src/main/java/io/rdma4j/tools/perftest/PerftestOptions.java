package io.rdma4j.tools.perftest;

import static io.rdma4j.tools.perftest.PerftestCommandLine.MAX_RECEIVE_DEPTH;
import static io.rdma4j.tools.perftest.PerftestCommandLine.MAX_SEND_DEPTH;

import io.rdma4j.tools.command.OptionTable;
import io.rdma4j.tools.command.ToolFailure;
import java.util.List;

/**
 * The options of a tool. Each tool accepts all options of perftest 4.5 and documents those that it can use. The others
 * are refused, or have no effect.
 */
final class PerftestOptions {
    private static final int MIN_ITERATIONS = 5;
    private static final int MAX_ITERATIONS = 100_000_000;
    private static final int MAX_QUEUE_PAIRS = 16_384;
    private static final int MAX_MODERATION = 1024;
    private static final int MAX_INLINE_BYTES = 912;
    private static final int MAX_GID_INDEX = 64;
    private static final int MAX_COMPLETION_VECTOR = 2048;
    private static final int MAX_COMPLETION_BATCH = 65_535;

    private static final String EXAMPLES = """

        Start both sides with the same options, and the client also with the server's address. With -R the connection
        manager connects the queue pairs, and uses the device that has the address.

        examples:
          TOOL -R                          the server, on every IPv4 address
          TOOL -R 192.0.2.1                the client
          TOOL -R -a -F --json 192.0.2.1   all sizes, with a JSON document at the end

        """;

    /** The options of perftest that no tool supports. */
    private static final List<String> UNSUPPORTED = List.of(
            "-g, --mcg",
            "-v",
            "-B ADDRESS",
            "-C, --report-cycles",
            "-E ADDRESS",
            "-J ADDRESS",
            "-j PORT",
            "-K PORT",
            "-k PORT",
            "-M, --MGID=GID",
            "-O, --dualport",
            "-P",
            "-W, --report-counters=COUNTERS",
            "-Z",
            "--reversed",
            "--inline_recv=SIZE",
            "--cpu_util",
            "--out_json",
            "--out_json_file=FILE",
            "--report-per-port",
            "--rate_limit=RATE",
            "--rate_limit_type=TYPE",
            "--rate_units=UNITS",
            "--burst_size=SIZE",
            "--use_hugepages",
            "--odp",
            "--dlid=LID",
            "--mmap=FILE",
            "--mmap-offset=OFFSET",
            "--use_cuda=DEVICE");

    private final Settings defaults;
    private final MeasuredOperation operation;
    private final boolean isBandwidth;
    private OptionTable<PerftestCommandLine> table = OptionTable.aligned(34);

    private PerftestOptions(Settings defaults) {
        this.defaults = defaults;
        operation = defaults.operation;
        isBandwidth = defaults.isBandwidth();
    }

    /** Returns the options of a tool, in the order of its help text. */
    static OptionTable<PerftestCommandLine> of(MeasuredOperation operation, Measure measure) {
        PerftestOptions options = new PerftestOptions(new Settings(operation, measure));
        options.addAmount();
        options.addPosting();
        options.addCompletions();
        options.addConnection();
        options.addPath();
        options.addMeasure();
        options.addOutput();
        options.addUndocumented();
        return options.table;
    }

    /** Returns the usage with all options of the tool. */
    static String usage(String tool, Settings settings) {
        return """
            Usage:
              TOOL            start a server and wait for connection
              TOOL <host>     connect to server at <host>

            Options:
            """.replace("TOOL", tool)
                + of(settings.operation, settings.measure).usage();
    }

    /** Returns the examples. */
    static String examples(String tool) {
        return EXAMPLES.replace("TOOL", tool);
    }

    private void addAmount() {
        boolean isAtomic = operation == MeasuredOperation.ATOMIC;
        table = table.option(
                        "-A, --atomic_type=<type>",
                        "FETCH_AND_ADD (default) or CMP_AND_SWAP",
                        PerftestCommandLine::takeAtomicType)
                .documentedIf(isAtomic)
                .option("-a, --all", "run sizes from 2 till 2^23", (line, _) -> line.settings.allSizes = true)
                .documentedIf(!isAtomic)
                .option(
                        "-s, --size=<size>",
                        "bytes of a message, also with suffix K or M (default " + defaults.sizeBytes + ")",
                        PerftestCommandLine::takeSize)
                .documentedIf(!isAtomic)
                .option(
                        "-n, --iters=<iters>",
                        "operations (default " + defaults.iterations + ", at least 5)",
                        (line, value) -> line.settings.iterations =
                                line.number(value, "Iteration num", MIN_ITERATIONS, MAX_ITERATIONS))
                .option(
                        "-D, --duration=<seconds>",
                        "run for this time instead of -n",
                        PerftestCommandLine::takeDuration)
                .option(
                        "-f, --margin=<seconds>",
                        "unmeasured time at both ends of -D (default a quarter)",
                        (line, value) -> line.settings.marginSeconds = line.nonNegative(value, "Margin"))
                .option("-b, --bidirectional", "both sides send at the same time", (line, _) -> {
                    line.refuseIf(!line.settings.isBandwidth(), " Bidirectional is only available in BW test");
                    line.settings.bidirectional = true;
                })
                .documentedIf(isBandwidth)
                .option("-q, --qp=<number>", "queue pairs (default 1)", (line, value) -> {
                    line.refuseIf(!line.settings.isBandwidth(), " Multiple QPs only available on bw tests");
                    line.settings.queuePairs = line.number(value, "num of Qps", 1, MAX_QUEUE_PAIRS);
                })
                .documentedIf(isBandwidth);
    }

    private void addPosting() {
        table = table.option(
                        "-t, --tx-depth=<depth>",
                        "outstanding operations of each (default 128)",
                        (line, value) -> line.settings.sendDepth = line.number(value, "Tx depth", 1, MAX_SEND_DEPTH))
                .documentedIf(isBandwidth)
                .option(
                        "-l, --post_list=<number>",
                        "operations to post at a time (default 1)",
                        (line, value) ->
                                line.settings.postList = line.number(value, "Send Post List size", 1, MAX_SEND_DEPTH))
                .documentedIf(isBandwidth)
                .option(
                        "-Q, --cq-mod=<number>",
                        "operations per completion (default 100; above 8 KiB 1)",
                        (line, value) -> {
                            line.settings.moderation = line.number(value, "CQ moderation", 1, MAX_MODERATION);
                            line.settings.isModerationSet = true;
                        })
                .documentedIf(isBandwidth)
                .option(
                        "    --recv_post_list=<number>",
                        "receives to post at a time (default 1)",
                        (line, value) -> line.settings.receivePostList =
                                line.number(value, "Receive Post List size", 1, MAX_RECEIVE_DEPTH))
                .documentedIf(isBandwidth)
                .option(
                        "    --cqe_poll=<number>",
                        "completions per poll (default 16)",
                        (line, value) ->
                                line.settings.completionBatch = line.number(value, "CQE Poll", 1, MAX_COMPLETION_BATCH))
                .documentedIf(isBandwidth)
                .option(
                        "    --write_with_imm",
                        "write with immediate data, which the peer receives",
                        (line, _) -> line.takeImmediate(MeasuredOperation.WRITE, "Write"))
                .documentedIf(operation == MeasuredOperation.WRITE)
                .option(
                        "-r, --rx-depth=<depth>",
                        operation == MeasuredOperation.WRITE
                                ? "receives posted with --write_with_imm (default 512)"
                                : "receives posted (default 512)",
                        (line, value) -> {
                            line.settings.receiveDepth = line.number(value, " Rx depth", 1, MAX_RECEIVE_DEPTH);
                            line.settings.isReceiveDepthSet = true;
                        })
                .documentedIf(!operation.isFetch());
    }

    private void addCompletions() {
        table = table.option(
                        "    --use-srq",
                        "use one receive queue for all queue pairs",
                        (line, _) -> line.settings.sharedReceives = true)
                .documentedIf(operation == MeasuredOperation.SEND)
                .option(
                        "    --send_with_imm",
                        "send immediate data with each message",
                        (line, _) -> line.takeImmediate(MeasuredOperation.SEND, "Send"))
                .documentedIf(operation == MeasuredOperation.SEND)
                .option(
                        "-o, --outs=<number>",
                        "outstanding READs or atomics (default the device's maximum)",
                        (line, value) -> {
                            line.settings.outstanding = line.number(value, "Outstanding Reads");
                            line.refuseIf(
                                    !line.settings.operation.isFetch(),
                                    " Setting Outstanding reads only available on READ verb");
                        })
                .documentedIf(operation.isFetch())
                .option(
                        "-I, --inline_size=<size>",
                        "send messages up to this size inline (default 0)",
                        (line, value) -> {
                            line.settings.inlineBytes = line.number(value, "Max inline", 0, MAX_INLINE_BYTES);
                            line.refuseIf(
                                    line.settings.operation.isFetch(),
                                    " Inline feature not available on READ/Atomic verbs");
                        })
                .documentedIf(!operation.isFetch())
                .option(
                        "-e, --events",
                        operation == MeasuredOperation.WRITE
                                ? "with --write_with_imm: sleep on completions (default poll)"
                                : "sleep on completions (default poll)",
                        (line, _) -> line.settings.events = true)
                .option(
                        "-X, --vector=<completion vector>",
                        "vector of the completion queues (default 0)",
                        (line, value) ->
                                line.settings.completionVector = line.number(value, "EQN", 0, MAX_COMPLETION_VECTOR))
                .option(
                        "    --latency_gap=<microseconds>",
                        "wait before each operation",
                        (line, value) -> line.settings.gapMicroseconds = line.nonNegative(value, "Latency gap time"))
                .documentedIf(!isBandwidth);
    }

    private void addConnection() {
        String types = switch (operation) {
            case SEND -> "RC, UC, UD or XRC (default RC)";
            case WRITE -> "RC, UC or XRC (default RC)";
            case READ, ATOMIC -> "RC or XRC (default RC)";
        };
        table = table.option("-c, --connection=<type>", types, PerftestCommandLine::takeConnection)
                .option(
                        "-R, --rdma_cm",
                        "connect the queue pairs with the connection manager",
                        (line, _) -> line.settings.rdmaCm = true)
                .option(
                        "-z, --comm_rdma_cm",
                        "only exchange parameters over rdma_cm (default over TCP)",
                        (line, _) -> line.settings.rdmaCmControl = true)
                .option(
                        "-p, --port=<port>",
                        "listen on/connect to port <port> (default 18515)",
                        PerftestCommandLine::takePort)
                .option("    --source_ip=<address>", "local address", (line, value) -> line.settings.source = value)
                .option("    --ipv6", "serve IPv6 addresses, prefer IPv6 GIDs", (line, _) -> line.settings.ipv6 = true)
                .option(
                        "-d, --ib-dev=<device>",
                        "device (default: the device with the address)",
                        (line, value) -> line.settings.device = value)
                .option("-i, --ib-port=<port>", "port of the device (default 1)", (line, value) -> {
                    line.settings.devicePort = line.number(value, "IB Port");
                    line.refuseIf(line.settings.devicePort < 1, "IB Port can't be less than 1");
                })
                .option(
                        "-x, --gid-index=<index>",
                        "GID of the port (default: the GID of the address)",
                        (line, value) -> line.settings.gidIndex = line.number(value, "Gid index", 0, MAX_GID_INDEX))
                .option(
                        "-m, --mtu=<bytes>",
                        "path MTU, 256 to 4096 (default: the MTU of the port)",
                        (line, value) -> line.settings.mtuBytes = line.number(value, "MTU"));
    }

    private void addPath() {
        table = table.option(
                        "-T, --tos=<value>",
                        "type of service, with -R",
                        (line, value) -> line.settings.typeOfService = line.number(value, "TOS", 0, 255))
                .option(
                        "    --tclass=<value>",
                        "type of service, without -R",
                        (line, value) -> line.settings.trafficClass = line.number(value, "traffic class") & 0xff)
                .option(
                        "    --flow_label=<label,...>",
                        "flow labels, assigned to the queue pairs in turn, without -R",
                        PerftestCommandLine::takeFlowLabels)
                .option(
                        "-u, --qp-timeout=<exponent>",
                        "acknowledgement time-out 4.096 us * 2^n (default 14)",
                        (line, value) -> line.settings.timeoutExponent = line.number(value, "QP Timeout") & 0x1f)
                .option(
                        "    --retry_count=<number>",
                        "retransmissions before a connection fails (default 7)",
                        (line, value) -> line.settings.retryCount = Math.min(7, line.nonNegative(value, "Retry Count")))
                .option(
                        "    --mr_per_qp",
                        "a memory region for each queue pair",
                        (line, _) -> line.settings.regionPerQueuePair = true)
                .option(
                        "    --dont_xchg_versions",
                        "do not exchange versions and MTU",
                        (line, _) -> line.settings.skipVersions = true)
                .note("-S, -F, --use_old_post_send, --disable_pcie_relaxed", "accepted, without effect");
    }

    private void addMeasure() {
        table = table.option(
                        "-N, --noPeak",
                        "do not measure the peak (default measure it, up to 20000 operations)",
                        (line, _) -> {
                            line.refuseIf(!line.settings.isBandwidth(), " NoPeak only valid for BW tests");
                            line.settings.noPeak = true;
                        })
                .documentedIf(isBandwidth)
                .option(
                        "    --perform_warm_up",
                        "post some operations before the measured ones",
                        (line, _) -> line.settings.warmUp = true)
                .documentedIf(isBandwidth)
                .option(
                        "    --run_infinitely",
                        "run until killed; print results every <duration> seconds",
                        (line, _) -> line.settings.infinite = true)
                .documentedIf(isBandwidth)
                .option(
                        "-w, --limit_bw=<value>",
                        "fail if the bandwidth is lower",
                        (line, value) -> line.settings.minBandwidth = line.limit(value, " Invalid Minimum BW Limit"))
                .documentedIf(isBandwidth)
                .option(
                        "-y, --limit_msgrate=<value>",
                        "fail if the message rate is lower",
                        (line, value) ->
                                line.settings.minMessageRate = line.limit(value, " Invalid Minimum msgRate Limit"))
                .documentedIf(isBandwidth)
                .option(
                        "    --wait_destroy=<seconds>",
                        "wait before the end",
                        (line, value) -> line.settings.waitSeconds = line.number(value, "wait_destroy"));
    }

    private void addOutput() {
        table = table.option(
                        "    --report_gbits",
                        "print gigabits instead of MiB per second",
                        (line, _) -> line.settings.gigabits = true)
                .documentedIf(isBandwidth)
                .option(
                        "    --report-both",
                        "with -b also report each direction",
                        (line, _) -> line.settings.reportBoth = true)
                .documentedIf(isBandwidth)
                .option("-H, --report-histogram", "print all results, sorted", PerftestCommandLine::takeHistogram)
                .documentedIf(!isBandwidth)
                .option("-U, --report-unsorted", "print all results, in the order of the operations", (line, _) -> {
                    line.refuseIf(line.settings.isBandwidth(), " is Available only on Latency tests");
                    line.settings.unsorted = true;
                })
                .documentedIf(!isBandwidth)
                .option(
                        "    --output=<kind>",
                        "only one number: " + (isBandwidth ? "bandwidth or message_rate" : "latency"),
                        PerftestCommandLine::takeOutput)
                .option("-V, --version", "print the version of the protocol", (line, _) -> {
                    line.environment.out().println("Version: " + Handshake.VERSION);
                    throw new ToolFailure(1); // as in C
                })
                .option("-h, --help", "this text", (line, _) -> {
                    line.environment.out().print(usage(line.tool, line.settings));
                    throw new ToolFailure(1); // as in C
                });
    }

    private void addUndocumented() {
        table = table.hidden("-S, --sl=LEVEL", (line, value) -> {
                    int level = line.number(value, "Service Level");
                    line.refuseIf(level < 0 || level > 15, " Only 15 Service levels");
                    line.settings.serviceLevel = level;
                })
                .hidden("-H, --report-histogrm", PerftestCommandLine::takeHistogram) // perftest's other spelling
                .hidden("-F, --CPU-freq", (_, _) -> {
                    // Concerns the processor's cycle counter, which is not used here.
                })
                .hidden("--use_old_post_send", (_, _) -> {
                    // There is only one way to post.
                })
                .hidden("--disable_pcie_relaxed", (_, _) -> {
                    // There is no PCI bus.
                })
                .hidden("-L, --hop_limit=HOPS", (line, _) -> {
                    line.environment.out().println(" Hop limit only valid for RawEth QP ");
                    throw new ToolFailure(1);
                })
                .hidden("--pkey_index=INDEX", (line, value) -> line.number(value, "Pkey index", 0, 0))
                .hidden("--force-link=TYPE", (line, value) -> {
                    if (!value.regionMatches(true, 0, "Ethernet", 0, 8)) {
                        throw line.unsupported("--force-link=" + value);
                    }
                });
        for (String syntax : UNSUPPORTED) {
            String name = syntax.split("[, =]", 2)[0];
            table = table.hidden(syntax, (line, _) -> {
                throw line.unsupported(name);
            });
        }
    }
}
