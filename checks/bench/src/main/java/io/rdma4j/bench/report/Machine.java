package io.rdma4j.bench.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;

/** Facts about the machine, for the head of a table. */
public final class Machine {
    private Machine() {}

    /** Returns facts about this machine and this Java, by name. */
    public static Map<String, Object> facts() {
        Map<String, Object> facts = new LinkedHashMap<>();
        facts.put("time", Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
        facts.put("system", System.getProperty("os.name") + " " + System.getProperty("os.version"));
        facts.put("processor", processor());
        facts.put("processors", Runtime.getRuntime().availableProcessors());
        facts.put("java", System.getProperty("java.vm.vendor") + " " + Runtime.version());
        facts.put("tcpCongestionControl", firstLine("/proc/sys/net/ipv4/tcp_congestion_control"));
        facts.put("loadAverage", firstLine("/proc/loadavg"));
        return facts;
    }

    private static String processor() {
        try {
            return Files.readAllLines(Path.of("/proc/cpuinfo")).stream()
                    .filter(line -> line.startsWith("model name"))
                    .findFirst()
                    .map(line -> line.substring(line.indexOf(':') + 1).strip())
                    .orElse(System.getProperty("os.arch"));
        } catch (IOException e) {
            return System.getProperty("os.arch");
        }
    }

    private static String firstLine(String file) {
        try {
            return Files.readAllLines(Path.of(file)).getFirst();
        } catch (IOException e) {
            return "unknown";
        }
    }
}
