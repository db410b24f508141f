package io.rdma4j.bench.worker;

import io.rdma4j.bench.worker.WorkerReport.Kind;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/**
 * One process of a measurement: {@code Worker serve|drive TEST name=value…}.
 *
 * <p>It prints a {@link WorkerReport} for the coordinator on its standard output. The passive side reports its port, which
 * the coordinator writes to the active side's standard input. The active side reports figures.
 */
public final class Worker {
    private final PrintStream lines;

    private Worker(PrintStream lines) {
        this.lines = lines;
    }

    /** Runs one side, and ends the process with status 0 or 1. */
    public static void main(String[] arguments) {
        List<String> words = Arrays.asList(arguments);
        PrintStream lines = System.out;
        // Libraries of peers may print; their output must not mix with the lines.
        System.setOut(System.err);
        int status =
                new Worker(lines).run(words.get(0), words.get(1), Parameters.parse(words.subList(2, words.size())));
        lines.flush();
        // Some peers leave threads running, which would keep the process alive.
        Runtime.getRuntime().halt(status);
    }

    @SuppressWarnings("CatchAndPrintStackTrace") // goes to the coordinator, which shows it on request
    private int run(String role, String test, Parameters parameters) {
        try {
            PairTest pair = PairTests.named(test);
            if (role.equals("serve")) {
                serve(pair, parameters);
            } else {
                drive(pair, parameters);
            }
            return 0;
        } catch (MissingPeerException missing) {
            report(Kind.SKIP, String.valueOf(missing.getMessage()));
            return 1;
        } catch (Throwable failure) {
            report(Kind.ERROR, role + ": " + failure);
            failure.printStackTrace();
            return 1;
        }
    }

    private void serve(PairTest pair, Parameters parameters) throws Exception {
        try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            report(Kind.PORT, Integer.toString(listener.getLocalPort()));
            try (Control control = Control.accept(listener)) {
                pair.serve(control, parameters);
            }
        }
    }

    private void drive(PairTest pair, Parameters parameters) throws Exception {
        int port = readPort();
        Figures figures = new Figures();
        try (Control control = Control.connect(port)) {
            pair.drive(control, parameters, figures);
        }
        report(Kind.FIGURES, figures.toString());
    }

    private static int readPort() throws IOException {
        String line = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)).readLine();
        if (line == null) {
            throw new IOException("the coordinator has exited");
        }
        return Integer.parseInt(line.strip());
    }

    private void report(Kind kind, String text) {
        lines.println(new WorkerReport(kind, text));
        lines.flush();
    }
}
