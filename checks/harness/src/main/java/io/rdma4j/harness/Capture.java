package io.rdma4j.harness;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A capture of RoCE and ICMP packets by tcpdump into a file. It begins before the constructor returns. */
@SuppressWarnings("try") // closing may throw InterruptedException
public final class Capture implements AutoCloseable {
    private static final String FILTER = "udp port 4791 or icmp or (icmp6 and ip6[40] < 128)";

    private final Process process;
    private final Path log;

    private Capture(Process process, Path log) {
        this.process = process;
        this.log = log;
    }

    /** Starts a capture on an interface of a host, or on all for {@code any}. */
    public static Capture start(Host host, String network, Path file) throws IOException, InterruptedException {
        List<String> words = new ArrayList<>(host.prefix());
        words.addAll(List.of("tcpdump", "-Z", "root", "-i", network, "-U", "-w", file.toString(), FILTER));
        Path log = file.resolveSibling(file.getFileName() + ".log");
        Process process = new ProcessBuilder(words)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(log.toFile())
                .start();
        if (!Stage.holdsWithin(
                Duration.ofSeconds(20), () -> Files.readString(log).contains("listening on"))) {
            process.destroyForcibly();
            throw new IOException("tcpdump does not start: " + Files.readString(log));
        }
        return new Capture(process, log);
    }

    /** Returns the lines of a capture by tshark, without those that do not match a display filter; all for an empty one. */
    public static List<String> lines(Path file, String filter) throws IOException, InterruptedException {
        List<String> words = new ArrayList<>(List.of("tshark", "-r", file.toString(), "-t", "r"));
        if (!filter.isEmpty()) {
            words.addAll(List.of("-Y", filter));
        }
        Process tshark = new ProcessBuilder(words)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        List<String> lines;
        try (var reader = tshark.inputReader()) {
            lines = reader.lines().toList();
        }
        tshark.waitFor();
        return lines;
    }

    /** Ends the capture. */
    @Override
    public void close() throws IOException, InterruptedException {
        process.destroy();
        if (!process.waitFor(10, TimeUnit.SECONDS)) {
            process.destroyForcibly();
        }
        Files.deleteIfExists(log);
    }
}
