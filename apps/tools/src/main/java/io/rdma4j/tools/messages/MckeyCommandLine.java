package io.rdma4j.tools.messages;

import io.rdma4j.tools.command.CStrings;
import io.rdma4j.tools.command.OptionTable;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolFailure;
import io.rdma4j.value.PortSpace;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Parses the command line of mckey like the C tool, with its messages. */
final class MckeyCommandLine {
    static final OptionTable<MckeyCommandLine> OPTIONS = OptionTable.<MckeyCommandLine>tabbed()
            .option("-m multicast_address", "", "The group.", (line, value) -> line.group = value)
            .option(
                    "[-M unmapped_multicast_address]",
                    "\n\t replaces -m and requires -b",
                    "The group by its GID; needs a local address.",
                    (line, value) -> {
                        line.unmapped = true;
                        line.group = value;
                    })
            .option("[-s(ender)]", "", "Run as the sender.", (line, _) -> line.sender = true)
            .option("[-b bind_address]", "", "Local address.", (line, value) -> line.source = value)
            .option(
                    "[-c connections]",
                    "",
                    "Number of members (1).",
                    (line, value) -> line.connections = CStrings.atoi(value))
            .option(
                    "[-C message_count]",
                    "",
                    "Number of messages (10).",
                    (line, value) -> line.messageCount = CStrings.atoi(value))
            .option(
                    "[-S message_size]",
                    "",
                    "Size of a message in bytes (100), at most the path MTU.",
                    (line, value) -> line.messageBytes = CStrings.atoi(value))
            .option(
                    "[-p port_space -",
                    "0x111 for UDP (default), 0x2 for IPOIB",
                    "Port space: 0x111 or 0x2.",
                    (line, value) -> line.portSpace = MessageCommandLine.portSpace(CStrings.strtol(value)))
            .option("[-o", "join as a send-only full-member", "Join to send only.", (line, _) -> line.sendOnly = true)
            .option(
                    "[-l",
                    "join without multicast loopback",
                    "Do not receive the member's own messages.",
                    (line, _) -> line.loopback = false);

    static final String USAGE = "usage: mckey\n" + OPTIONS.usage();

    private final ToolEnvironment environment;
    private @Nullable String group;
    private boolean unmapped;
    private boolean sender;
    private @Nullable String source;
    private int connections = 1;
    private int messageCount = 10;
    private int messageBytes = 100;
    private @Nullable PortSpace portSpace = PortSpace.UDP;
    private boolean sendOnly;
    private boolean loopback = true;

    MckeyCommandLine(ToolEnvironment environment) {
        this.environment = environment;
    }

    /**
     * Parses a command line.
     *
     * @throws ToolFailure if it is invalid; the reason has been printed
     */
    MckeyOptions read(List<String> arguments) throws ToolFailure {
        var _ = OPTIONS.parse("mckey", arguments, this, environment.err(), _ -> usage());
        PortSpace space = portSpace;
        if (group == null
                || space == null
                || !space.isDatagram()
                || connections < 1
                || messageCount < 0
                || messageBytes < 0) {
            environment
                    .err()
                    .println("mckey: -m must name a group; -p must be 0x111 or 0x2, -c 1 or more, -C and -S 0 or more");
            throw usage();
        }
        if (unmapped && source == null) {
            environment.out().println("unmapped multicast address requires binding to source address");
            throw new ToolFailure(1);
        }
        return new MckeyOptions(
                group, unmapped, sender, source, space, connections, messageCount, messageBytes, sendOnly, loopback);
    }

    private ToolFailure usage() {
        environment.out().print(USAGE);
        return new ToolFailure(1);
    }
}
