package io.rdma4j.tools.command;

import io.rdma4j.link.decorator.FaultSpec;
import io.rdma4j.link.decorator.LinkOptions;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.ListIterator;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The options of all tools, in addition to those of the C tools: {@code --pcap},
 * {@code --fault}, {@code --trace}, {@code --no-shared-memory}, {@code --device}, {@code --json},
 * {@code --no-warm-up}, {@code --warm-up}, {@code --help}.
 *
 * <p>They may appear anywhere before a {@code --}. They are removed before the tool sees its arguments, so a tool's own
 * options are exactly those of C.
 *
 * @param arguments the remaining arguments
 * @param pcap the file for a capture of all packets, or null
 * @param fault the faults to inject into the traffic, or null
 * @param trace true to print a line per packet
 * @param sharedMemory false to use UDP also between processes of this host
 * @param device the name or an address of the device to use, or the name of its provider; null for any
 * @param json true to print a JSON document
 * @param warmUp the tools that warm up before they run
 * @param help true if {@code --help} was given
 */
public record CommonOptions(
        List<String> arguments,
        @Nullable Path pcap,
        @Nullable String fault,
        boolean trace,
        boolean sharedMemory,
        @Nullable String device,
        boolean json,
        WarmUpChoice warmUp,
        boolean help) {
    /** Names the device to use. {@link io.rdma4j.verbs.spi.DeviceChoice} reads this property. */
    private static final String DEVICE_PROPERTY = "rdma4j.device";

    private static final OptionTable<Parser> PRINTED = OptionTable.<Parser>aligned(16)
            .option(
                    "--pcap FILE",
                    "write every packet to FILE in pcapng, for Wireshark and tshark",
                    (parser, value) -> parser.pcap = checkedFile(value))
            .option(
                    "--fault SPEC",
                    "inject faults into the traffic, for example loss=1%,dup=1%,seed=7",
                    (parser, value) -> parser.fault = checkedFault(value))
            .option("--trace", "print a line per packet on stderr", (parser, _) -> parser.trace = true)
            .option(
                    "--no-shared-memory  ",
                    "send packets by UDP also to processes of this host",
                    (parser, _) -> parser.sharedMemory = false)
            .option(
                    "--device NAME",
                    "use only this device: its name (rdma4j_eth0), one of its addresses, or its provider (soft,"
                            + " hardware)",
                    (parser, value) -> parser.device = value)
            .option(
                    "--no-warm-up",
                    "measure immediately; by default a tool that measures first lets Java compile its code",
                    (parser, _) -> parser.warmUp = WarmUpChoice.NEVER)
            .option(
                    "--warm-up",
                    "warm up also in rping, which measures nothing",
                    (parser, _) -> parser.warmUp = WarmUpChoice.ALWAYS)
            .option(
                    "--json",
                    "one JSON document of parameters and results on stdout; all messages go to stderr",
                    (parser, _) -> parser.json = true);

    /** All of these options. Help texts do not describe the option that prints them. */
    private static final OptionTable<Parser> ALL =
            PRINTED.option("--help", "print the options with examples", (parser, _) -> parser.help = true);

    /** Invalid use of these options. The message names the valid use. */
    public static final class UsageException extends IllegalArgumentException {
        private static final long serialVersionUID = 1L;

        UsageException(String message) {
            super(message);
        }
    }

    /** Returns the description of these options for help texts. */
    public static String usage() {
        return "options of all tools, in addition to those of the C tool:\n" + PRINTED.usage();
    }

    /** Returns these options. */
    public static OptionTable<?> options() {
        return ALL;
    }

    /** Extracts these options from a command line. */
    public static CommonOptions parse(List<String> words) throws UsageException {
        return new Parser().parse(words);
    }

    private static final class Parser {
        private final List<String> rest = new ArrayList<>();
        private @Nullable Path pcap;
        private @Nullable String fault;
        private @Nullable String device;
        private boolean trace;
        private boolean sharedMemory = true;
        private boolean json;
        private boolean help;
        private WarmUpChoice warmUp = WarmUpChoice.IF_MEASURING;

        CommonOptions parse(List<String> words) {
            ListIterator<String> iterator = words.listIterator();
            while (iterator.hasNext()) {
                String word = iterator.next();
                if (word.equals("--")) {
                    rest.addAll(words.subList(iterator.previousIndex(), words.size()));
                    break;
                }
                take(word, iterator);
            }
            return new CommonOptions(List.copyOf(rest), pcap, fault, trace, sharedMemory, device, json, warmUp, help);
        }

        private void take(String word, Iterator<String> following) {
            int equals = word.indexOf('=');
            String name = word.startsWith("--") && equals > 0 ? word.substring(0, equals) : word;
            Option<Parser> option = ALL.find(name).orElse(null);
            if (option == null) {
                rest.add(word);
            } else if (option.argument().isEmpty()) {
                apply(option, "");
            } else if (equals > 0) {
                apply(option, word.substring(equals + 1));
            } else if (following.hasNext()) {
                apply(option, following.next());
            } else {
                throw new UsageException("option " + name + " requires a value");
            }
        }

        private void apply(Option<Parser> option, String value) {
            try {
                Objects.requireNonNull(option.action()).take(this, value);
            } catch (ToolFailure e) {
                throw new AssertionError("these options cause only UsageException", e);
            }
        }
    }

    /** Returns whether {@code --json} is on a command line, even if the command line is otherwise invalid. */
    public static boolean hasJsonOption(List<String> words) {
        return words.stream().takeWhile(word -> !word.equals("--")).anyMatch("--json"::equals);
    }

    /** Returns the first argument, which names the tool, or null if there is none. */
    public @Nullable String tool() {
        return arguments.isEmpty() ? null : arguments.getFirst();
    }

    private static String checkedFault(String value) throws UsageException {
        try {
            FaultSpec.parse(value);
            return value;
        } catch (IllegalArgumentException e) {
            throw new UsageException("option --fault: " + e.getMessage());
        }
    }

    private static Path checkedFile(String value) throws UsageException {
        try {
            Path file = Path.of(value).toAbsolutePath();
            Path folder = file.getParent();
            if (Files.isDirectory(file)) {
                throw new UsageException("option --pcap: " + file + " is a directory; name a file in it");
            }
            if (folder == null || !Files.isDirectory(folder)) {
                throw new UsageException("option --pcap: directory " + folder + " does not exist");
            }
            if (!Files.isWritable(Files.exists(file) ? file : folder)) {
                throw new UsageException("option --pcap: no permission to write " + file);
            }
            return file;
        } catch (InvalidPathException e) {
            throw new UsageException("option --pcap: " + e.getMessage());
        }
    }

    /**
     * Applies the options to the devices by setting system properties. Must be called before the first use of the
     * devices.
     */
    public void apply() {
        set(DEVICE_PROPERTY, device);
        set(LinkOptions.CAPTURE_PROPERTY, pcap);
        set(LinkOptions.FAULT_PROPERTY, fault);
        set(LinkOptions.TRACE_PROPERTY, trace ? "true" : null);
        set(LinkOptions.SHARED_MEMORY_PROPERTY, sharedMemory ? null : "off");
    }

    private static void set(String property, @Nullable Object value) {
        if (value != null) {
            System.setProperty(property, value.toString());
        }
    }
}
