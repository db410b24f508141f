package io.rdma4j.tools;

import io.rdma4j.soft.process.ProcessStack;
import io.rdma4j.soft.report.StackReport;
import io.rdma4j.tools.cmtime.Cmtime;
import io.rdma4j.tools.command.CommonOptions;
import io.rdma4j.tools.command.Tool;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolReport;
import io.rdma4j.tools.command.WarmUpChoice;
import io.rdma4j.tools.demo.Demo;
import io.rdma4j.tools.devices.IbvAsyncwatch;
import io.rdma4j.tools.devices.IbvDevices;
import io.rdma4j.tools.devices.IbvDevinfo;
import io.rdma4j.tools.doctor.Doctor;
import io.rdma4j.tools.guardian.GuardianTool;
import io.rdma4j.tools.manual.CompletionTool;
import io.rdma4j.tools.manual.Man;
import io.rdma4j.tools.messages.Mckey;
import io.rdma4j.tools.messages.RdmaClient;
import io.rdma4j.tools.messages.RdmaServer;
import io.rdma4j.tools.messages.RdmaXclient;
import io.rdma4j.tools.messages.RdmaXserver;
import io.rdma4j.tools.messages.Ucmatose;
import io.rdma4j.tools.messages.Udaddy;
import io.rdma4j.tools.perftest.Measure;
import io.rdma4j.tools.perftest.MeasuredOperation;
import io.rdma4j.tools.perftest.Perftest;
import io.rdma4j.tools.pingpong.RcPingpong;
import io.rdma4j.tools.pingpong.SrqPingpong;
import io.rdma4j.tools.pingpong.UcPingpong;
import io.rdma4j.tools.pingpong.UdPingpong;
import io.rdma4j.tools.pingpong.XsrqPingpong;
import io.rdma4j.tools.rping.Rping;
import io.rdma4j.tools.run.Exec;
import io.rdma4j.tools.run.Run;
import io.rdma4j.tools.sim.Sim;
import io.rdma4j.tools.sockets.Rcopy;
import io.rdma4j.tools.sockets.Riostream;
import io.rdma4j.tools.sockets.Rstream;
import io.rdma4j.tools.sockets.Udpong;
import io.rdma4j.tools.top.Top;
import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The umbrella command: {@code rdma4j TOOL [OPTION...]}.
 *
 * <p>The launcher prints the help and the version of the command itself, without starting Java.
 */
public final class Main {
    /** Exit status for a command line that is invalid before a tool has seen it. */
    private static final int USAGE = 2;

    /** Exit status for an unexpected exception. */
    private static final int UNEXPECTED = 70;

    private static final int LOW_BYTE = 0xff;

    private static final List<Tool> TOOLS = List.of(
            new Run(),
            new Exec(),
            new Demo(),
            new Rping(),
            new Ucmatose(),
            new Udaddy(),
            new Mckey(),
            new RdmaClient(),
            new RdmaServer(),
            new RdmaXclient(),
            new RdmaXserver(),
            new Rstream(),
            new Riostream(),
            new Udpong(),
            new Rcopy(),
            new Cmtime(),
            new RcPingpong(),
            new UcPingpong(),
            new UdPingpong(),
            new SrqPingpong(),
            new XsrqPingpong(),
            new Perftest(MeasuredOperation.SEND, Measure.LATENCY),
            new Perftest(MeasuredOperation.WRITE, Measure.LATENCY),
            new Perftest(MeasuredOperation.READ, Measure.LATENCY),
            new Perftest(MeasuredOperation.ATOMIC, Measure.LATENCY),
            new Perftest(MeasuredOperation.SEND, Measure.BANDWIDTH),
            new Perftest(MeasuredOperation.WRITE, Measure.BANDWIDTH),
            new Perftest(MeasuredOperation.READ, Measure.BANDWIDTH),
            new Perftest(MeasuredOperation.ATOMIC, Measure.BANDWIDTH),
            new IbvDevices(),
            new IbvDevinfo(),
            new IbvAsyncwatch(),
            new Doctor(),
            new Top(),
            new GuardianTool(),
            new Sim(),
            new Man(Main::tools),
            new CompletionTool(Main::tools));

    private Main() {}

    /** Returns all tools, in the order of the help text. */
    public static List<Tool> tools() {
        return TOOLS;
    }

    /** Runs a tool and ends the process with its exit status. */
    public static void main(String[] words) {
        ProcessOutput out = new ProcessOutput(FileDescriptor.out, 1);
        PrintStream standardOutput = stream(out);
        PrintStream standardError = stream(new ProcessOutput(FileDescriptor.err, 2));
        ToolEnvironment environment = new ToolEnvironment(standardOutput, standardError);
        environment.warmUp(WarmUpChoice.IF_MEASURING);
        System.setOut(standardOutput);
        System.setErr(standardError); // for the packet trace and for Java's own output
        AtomicBoolean isEnding = new AtomicBoolean();
        Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> {
            if (!isEnding.get() || List.of(words).contains("-d")) {
                reportUnexpected(failure, "thread " + thread.getName(), List.of(words), standardError);
            }
        });
        String tool = namedTool(List.of(words));
        if (tool != null && System.getProperty(StackReport.PROGRAM_PROPERTY) == null) {
            System.setProperty(StackReport.PROGRAM_PROPERTY, "rdma4j " + tool);
        }
        boolean isStarting = runAtExit(() -> {
            isEnding.set(true);
            environment.interrupt();
        });
        if (!isStarting) {
            return;
        }
        int status = run(List.of(words), environment);
        environment.out().flush();
        IOException writeFailure = out.failure();
        if (writeFailure != null) {
            environment.err().println("rdma4j: standard output: " + writeFailure.getMessage());
        }
        environment.err().flush();
        System.exit(out.status(exitStatus(status)));
    }

    /** Registers a task for the exit of the process. Returns false if a signal has already started the exit. */
    private static boolean runAtExit(Runnable task) {
        try {
            Runtime.getRuntime().addShutdownHook(new Thread(task, "rdma4j-interrupt"));
            return true;
        } catch (IllegalStateException ending) {
            return false;
        }
    }

    /**
     * Returns the exit status of the process: the low byte, because the system keeps no more, but 0 only for success.
     */
    static int exitStatus(int status) {
        int lowByte = status & LOW_BYTE;
        return lowByte == 0 && status != 0 ? LOW_BYTE : lowByte;
    }

    /**
     * Prints an unexpected failure of a tool or one of its threads, with its stack trace if {@code -d} is given.
     *
     * <p>An {@link OutOfMemoryError} is not a defect: any allocation of any thread may fail.
     */
    static void reportUnexpected(Throwable failure, String where, List<String> words, PrintStream err) {
        OutOfMemoryError lackOfMemory = lackOfMemory(failure);
        err.println("rdma4j: " + where
                + (lackOfMemory != null
                        ? " has no memory left: " + lackOfMemory.getMessage() + "; give Java more, as in "
                                + "JAVA_TOOL_OPTIONS=-Xmx4g"
                        : " failed unexpectedly: " + failure));
        if (words.contains("-d")) {
            failure.printStackTrace(err);
        } else if (lackOfMemory == null) {
            err.println("rdma4j: this is a defect; the option -d prints the stack trace");
        }
    }

    /**
     * Returns the {@link OutOfMemoryError} that caused a failure, or null. Java wraps the error if memory is exhausted
     * while it links a lambda expression.
     */
    private static @Nullable OutOfMemoryError lackOfMemory(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof OutOfMemoryError lack) {
                return lack;
            }
        }
        return null;
    }

    private static PrintStream stream(ProcessOutput output) {
        return new PrintStream(new BufferedOutputStream(output, 8192), true, StandardCharsets.UTF_8);
    }

    /** Runs the tool that the first word names with the remaining words. */
    static int run(List<String> words, ToolEnvironment environment) {
        try {
            CommonOptions options = CommonOptions.parse(words);
            return options.json()
                    ? runForPrograms(options.tool(), words, environment, inner -> run(options, inner))
                    : run(options, environment);
        } catch (CommonOptions.UsageException e) {
            return CommonOptions.hasJsonOption(words)
                    ? runForPrograms(namedTool(words), words, environment, inner -> refuse(e.getMessage(), inner))
                    : refuse(e.getMessage(), environment);
        }
    }

    private static int refuse(@Nullable String reason, ToolEnvironment environment) {
        environment.err().println("rdma4j: " + reason);
        return USAGE;
    }

    private static int run(CommonOptions options, ToolEnvironment environment) {
        String name = options.tool();
        if (name == null) {
            return refuse("which tool? " + toolList(), environment);
        }
        Optional<Tool> tool = TOOLS.stream().filter(t -> t.name().equals(name)).findFirst();
        if (tool.isEmpty()) {
            return refuse(
                    "there is no tool '" + name + "'; did you mean '" + nearest(name) + "'? " + toolList(),
                    environment);
        }
        if (options.help()) {
            environment.out().print(tool.get().help());
            return 0;
        }
        options.apply();
        if (environment.warmUp() != WarmUpChoice.NEVER) {
            environment.warmUp(options.warmUp());
        }
        return run(
                tool.get(), options.arguments().subList(1, options.arguments().size()), environment);
    }

    /** Returns the name of a tool that the command line contains, or null. Its options may be invalid. */
    private static @Nullable String namedTool(List<String> words) {
        return TOOLS.stream()
                .map(Tool::name)
                .filter(words::contains)
                .findFirst()
                .orElse(null);
    }

    /** Runs a tool with {@code --json}: its output goes to standard error, and the document to standard output. */
    private static int runForPrograms(
            @Nullable String tool, List<String> words, ToolEnvironment outer, ToIntFunction<ToolEnvironment> run) {
        OutputTail outTail = new OutputTail(outer.err());
        OutputTail errTail = new OutputTail(outer.err());
        ToolEnvironment inner = new ToolEnvironment(outTail.stream(), errTail.stream());
        inner.warmUp(outer.warmUp());
        inner.forPrograms();
        // Some tools report failures on standard output, as in C.
        Supplier<String> reason = () -> errTail.text().isEmpty() ? outTail.text() : errTail.text();
        Document document = new Document(tool, words, inner.report(), reason, outer);
        Runnable atInterrupt = () -> {
            document.interrupted();
            inner.interrupt();
            document.print(null);
        };
        outer.onInterrupt(atInterrupt);
        int status = exitStatus(run.applyAsInt(inner));
        outer.removeOnInterrupt(atInterrupt);
        document.print(status);
        return status;
    }

    /**
     * The JSON document of a run, printed once: when the tool ends or when a signal ends the process.
     *
     * <p>Both may happen at the same time. The later thread then waits, so that the process does not exit before the
     * document is printed.
     */
    private static final class Document {
        private final @Nullable String tool;
        private final List<String> arguments;
        private final ToolReport report;
        private final Supplier<String> reason;
        private final ToolEnvironment environment;
        private volatile boolean isInterrupted;
        private boolean isPrinted;

        Document(
                @Nullable String tool,
                List<String> words,
                ToolReport report,
                Supplier<String> reason,
                ToolEnvironment environment) {
            this.tool = tool;
            arguments = tool == null ? words : words.subList(words.indexOf(tool) + 1, words.size());
            this.report = report;
            this.reason = reason;
            this.environment = environment;
        }

        /** Omits the status of the tool: the process exits with the status of the signal. */
        void interrupted() {
            isInterrupted = true;
        }

        synchronized void print(@Nullable Integer toolStatus) {
            if (!isPrinted) {
                isPrinted = true;
                Integer status = isInterrupted ? null : toolStatus;
                String failure = status == null || status == 0 ? null : reason.get();
                environment
                        .documentOut()
                        .println(report.json(
                                tool, arguments, ProcessStack.stack().counters(), status, failure));
                environment.documentOut().flush();
            }
        }
    }

    private static int run(Tool tool, List<String> arguments, ToolEnvironment environment) {
        try {
            int status = tool.run(arguments, environment);
            return closesCapture(environment) || status != 0 ? status : 1;
        } catch (RuntimeException | Error e) {
            reportUnexpected(e, tool.name(), arguments, environment.err());
            return UNEXPECTED;
        }
    }

    /**
     * Closes the packet capture, if any, and returns whether it is complete. The exit of the process would not report a
     * failure.
     */
    private static boolean closesCapture(ToolEnvironment environment) {
        try {
            ProcessStack.stack().closeCapture();
            return true;
        } catch (IOException e) {
            environment.err().println("rdma4j: " + e.getMessage());
            return false;
        }
    }

    private static String toolList() {
        return "Tools: " + String.join(", ", TOOLS.stream().map(Tool::name).toList()) + ". See rdma4j --help.";
    }

    private static String nearest(String name) {
        return TOOLS.stream()
                .map(Tool::name)
                .min(Comparator.comparingInt(candidate -> distance(name, candidate)))
                .orElseThrow();
    }

    /** Returns the Levenshtein distance between two words. */
    private static int distance(String from, String to) {
        int[] row = new int[to.length() + 1];
        for (int j = 0; j <= to.length(); j++) {
            row[j] = j;
        }
        for (int i = 1; i <= from.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= to.length(); j++) {
                int changed = diagonal + (from.charAt(i - 1) == to.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(changed, Math.min(row[j], row[j - 1]) + 1);
            }
        }
        return row[to.length()];
    }
}
