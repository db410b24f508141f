package io.rdma4j.testkit.junit;

import io.rdma4j.testkit.TestNetwork;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.extension.ExtensionContext;

/** The text that a failed test prints, and the capture that it leaves. */
final class FailureReport {
    private static final int DEFAULT_LINES = 20;
    private static final String ABORTED = "org.opentest4j.TestAbortedException";

    private FailureReport() {}

    /** Returns whether a test ended with a failure, rather than because an assumption did not hold. */
    static boolean isFailure(Throwable end) {
        for (Class<?> type = end.getClass(); type != null; type = type.getSuperclass()) {
            if (type.getName().equals(ABORTED)) {
                return false;
            }
        }
        return true;
    }

    /** Writes the capture, and prints the report to the error output in one piece, since tests may run in parallel. */
    static void print(ExtensionContext context, Fabric fabric) {
        System.err.println(text(context, fabric));
    }

    private static String text(ExtensionContext context, Fabric fabric) {
        TestNetwork network = fabric.network();
        String name = name(context);
        StringBuilder text = new StringBuilder("rdma4j: the test ").append(name).append(" failed\n");
        text.append("  seed: ").append(network.seed());
        text.append(", repeat with -D" + RdmaFabricExtension.SEED_PROPERTY + "=")
                .append(network.seed())
                .append('\n');
        text.append("  network: ").append(fabric.hosts());
        text.append(fabric.conditions().isEmpty() ? ", no faults" : ", " + fabric.conditions());
        if (network.isInVirtualTime()) {
            text.append(", after ").append(network.time().elapsed()).append(" of virtual time");
        }
        text.append('\n');
        if (network.packetsSent() == 0) {
            return text.append("  no packet was sent").toString();
        }
        int lines = lines(context);
        text.append("  the last of ").append(network.packetsSent()).append(" packets:\n");
        network.lastPackets(lines)
                .forEach(line -> text.append("  ").append(line).append('\n'));
        return text.append("  ")
                .append(capture(context, network, name + "-" + network.seed()))
                .toString();
    }

    private static int lines(ExtensionContext context) {
        String named = context.getConfigurationParameter(RdmaFabricExtension.LINES_PROPERTY)
                .orElse("");
        return named.matches("\\d{1,6}") ? Integer.parseInt(named) : DEFAULT_LINES;
    }

    /** Writes the capture, and returns a message about it. */
    private static String capture(ExtensionContext context, TestNetwork network, String name) {
        Path folder = context.getConfigurationParameter(RdmaFabricExtension.FOLDER_PROPERTY)
                .map(Path::of)
                .orElseGet(FailureReport::buildFolder)
                .toAbsolutePath();
        Path file = folder.resolve(name.replaceAll("[^\\w.#-]", "_") + ".pcapng");
        try {
            Files.createDirectories(folder);
            network.writeCapture(file);
        } catch (IOException e) {
            return "the capture could not be written: " + e.getMessage();
        }
        long left = network.packetsInMemory();
        return "capture for Wireshark" + (left < network.packetsSent() ? ", the last " + left + " packets" : "") + ": "
                + file;
    }

    private static Path buildFolder() {
        boolean isMaven = Files.exists(Path.of("pom.xml")) || Files.isDirectory(Path.of("target"));
        return Path.of(isMaven ? "target" : "build", "rdma4j");
    }

    /**
     * Returns the class and the method, and for a repeated or parameterized test the number of the run, such as {@code
     * A.b#2}.
     */
    private static String name(ExtensionContext context) {
        String type = context.getRequiredTestClass().getName();
        String method =
                context.getTestMethod().map(each -> "." + each.getName()).orElse("");
        String id = context.getUniqueId();
        int run = id.lastIndexOf(":#");
        String number = run > 0 && id.endsWith("]") ? "#" + id.substring(run + 2, id.length() - 1) : "";
        return type.substring(type.lastIndexOf('.') + 1).replace('$', '.') + method + number;
    }
}
