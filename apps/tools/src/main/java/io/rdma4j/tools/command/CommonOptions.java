package io.rdma4j.tools.command;

import io.rdma4j.link.decorator.FaultSpec;
import io.rdma4j.link.decorator.LinkOptions;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
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

    /** The description of these options for help texts. */
    public static final String HELP = """
        options of all tools, in addition to those of the C tool:
          --pcap FILE      write every packet to FILE in pcapng, for Wireshark and tshark
          --fault SPEC     inject faults into the traffic, for example loss=1%,dup=1%,seed=7
          --trace          print a line per packet on stderr
          --no-shared-memory  send packets by UDP also to processes of this host
          --device NAME    use only this device: its name (rdma4j_eth0), one of its addresses, or its provider (soft, hardware)
          --no-warm-up     measure immediately; by default a tool that measures first lets Java compile its code
          --warm-up        warm up also in rping, which measures nothing
          --json           one JSON document of parameters and results on stdout; all messages go to stderr
        """;

    /** Invalid use of these options. The message names the valid use. */
    public static final class UsageException extends Exception {
        private static final long serialVersionUID = 1L;

        UsageException(String message) {
            super(message);
        }
    }

    /** Extracts these options from a command line. */
    public static CommonOptions parse(List<String> words) throws UsageException {
        List<String> rest = new ArrayList<>();
        Path pcap = null;
        String fault = null;
        String device = null;
        boolean trace = false;
        boolean sharedMemory = true;
        boolean json = false;
        boolean help = false;
        WarmUpChoice warmUp = WarmUpChoice.IF_MEASURING;
        for (int i = 0; i < words.size(); i++) {
            String word = words.get(i);
            int equals = word.indexOf('=');
            String name = word.startsWith("--") && equals > 0 ? word.substring(0, equals) : word;
            switch (name) {
                case "--" -> {
                    rest.addAll(words.subList(i, words.size()));
                    i = words.size();
                }
                case "--trace" -> trace = true;
                case "--no-shared-memory" -> sharedMemory = false;
                case "--json" -> json = true;
                case "--no-warm-up" -> warmUp = WarmUpChoice.NEVER;
                case "--warm-up" -> warmUp = WarmUpChoice.ALWAYS;
                case "--help" -> help = true;
                case "--pcap", "--fault", "--device" -> {
                    String value;
                    if (equals > 0) {
                        value = word.substring(equals + 1);
                    } else if (++i < words.size()) {
                        value = words.get(i);
                    } else {
                        throw new UsageException("option " + name + " requires a value");
                    }
                    switch (name) {
                        case "--pcap" -> pcap = checkedFile(value);
                        case "--fault" -> fault = checkedFault(value);
                        default -> device = value;
                    }
                }
                default -> rest.add(word);
            }
        }
        return new CommonOptions(List.copyOf(rest), pcap, fault, trace, sharedMemory, device, json, warmUp, help);
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
