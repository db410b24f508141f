package io.rdma4j.tools.doctor;

import io.rdma4j.sockets.options.AddressRules;
import io.rdma4j.tools.command.ToolReport;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reports whether programs started from this shell use RDMA sockets, and which traffic stays on TCP or UDP. */
final class SocketsReport {
    private static final List<String> VARIABLES = List.of("JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS");
    private static final String AGENT = "rdma4j-agent.jar";
    private static final Pattern RULES = Pattern.compile("-D" + Pattern.quote(AddressRules.PROPERTY) + "=([^\\s'\"]*)");

    /** The traffic that the agent cannot put on RDMA. */
    private static final List<String> NEVER = List.of(
            "datagrams (DatagramSocket, DatagramChannel)",
            "Unix-domain sockets",
            "sockets of native libraries, for example Netty's epoll transport",
            "new Socket(Proxy) with a SOCKS or HTTP proxy");

    private SocketsReport() {}

    /** Prints the report for an environment, and adds it to the document. */
    static void print(Map<String, String> environment, PrintStream out, ToolReport report) {
        List<String> active = VARIABLES.stream()
                .filter(name -> environment.getOrDefault(name, "").contains(AGENT))
                .toList();
        List<String> onTcp = new ArrayList<>(NEVER);
        String rules = "";
        for (String name : active) {
            Matcher matcher = RULES.matcher(environment.getOrDefault(name, ""));
            while (matcher.find()) {
                rules = matcher.group(1); // Java uses the last one
            }
        }
        for (String rule : rules.split(",", -1)) {
            if (rule.strip().endsWith("=tcp")) {
                onTcp.add("connections by the rule " + rule.strip());
            }
        }
        report.result("socketsOverRdma", active).result("staysOnTcpOrUdp", onTcp);
        out.println("sockets   "
                + (active.isEmpty()
                        ? "programs use TCP, unless rdma4j run starts them"
                        : String.join(", ", active) + " puts RDMA under programs"
                                + (rules.isEmpty() ? "" : ", rules " + rules)));
        onTcp.forEach(each -> out.println("  stays   " + each));
        out.println();
    }
}
