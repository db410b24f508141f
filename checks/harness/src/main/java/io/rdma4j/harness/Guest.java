package io.rdma4j.harness;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A Linux machine in QEMU, without KVM, with the RDMA device {@code rxe0} on its interface {@code eth0}. It sees the files of
 * this machine through a writable overlay, so that it has all its programs. It ends with the host on which it runs. Used by the
 * thread of the run.
 */
public final class Guest {
    /** The memory of a guest without Java. */
    public static final int MEBIBYTES = 512;

    /** The memory of a guest with a Java virtual machine. */
    public static final int MEBIBYTES_FOR_JAVA = 1536;

    private static final int BOOT_SECONDS = 120;
    private static final int CALL_SECONDS = 120;
    private static final int UNREACHABLE = 125;

    /**
     * The network card of a guest.
     *
     * @param tap the interface on the host
     * @param macEnd the last two digits of the MAC address
     * @param ip4 the IPv4 address, whose network has 24 bits
     * @param ip6 the IPv6 address, whose network has 64 bits
     * @param mtu the MTU
     */
    public record Card(String tap, String macEnd, String ip4, String ip6, int mtu) {}

    /**
     * The result of a script.
     *
     * @param status its status, or 125 if the guest cannot be reached
     * @param output its standard output and standard error
     */
    public record Result(int status, String output) {
        /** Returns whether the status is 0. */
        public boolean succeeded() {
            return status == 0;
        }
    }

    private final String name;
    private final Host host;
    private final GuestKernel kernel;
    private final Card card;
    private final int mebibytes;
    private final Path scripts;
    private final Path folder;
    private @Nullable Process machine;
    private int boots;

    /**
     * Creates a guest, which is not running yet.
     *
     * @param host the host that has the tap
     * @param mebibytes the memory, unless {@code RDMA4J_INTEROP_MEMORY} overrides it
     * @param scripts the folder of guest-init, guest-agent and guest-call
     * @param folder the folder for its console
     */
    public Guest(String name, Host host, GuestKernel kernel, Card card, int mebibytes, Path scripts, Path folder) {
        this.name = name;
        this.host = host;
        this.kernel = kernel;
        this.card = card;
        this.mebibytes = mebibytes;
        this.scripts = scripts;
        this.folder = folder;
    }

    /** Starts the machine, or a new one in its place. It can be used after {@link #awaitUp}. */
    public void boot() throws IOException, InterruptedException {
        if (machine != null) {
            machine.destroyForcibly().waitFor();
        }
        boots++;
        Path initramfs = folder.resolve("initramfs");
        if (!Files.exists(initramfs)) {
            initramfs.toFile().deleteOnExit(); // also if the run is interrupted
            kernel.writeInitramfs(initramfs, scripts);
        }
        machine = new ProcessBuilder(machineWords(initramfs))
                .redirectInput(Path.of("/dev/null").toFile())
                .redirectErrorStream(true)
                .redirectOutput(log("qemu").toFile())
                .start();
    }

    /** Returns the number of machines that were started. */
    public int boots() {
        return boots;
    }

    private Path log(String suffix) {
        return folder.resolve(name + (boots == 1 ? "." : "-" + boots + ".") + suffix);
    }

    private List<String> machineWords(Path initramfs) throws IOException {
        var environment = System.getenv();
        String processors = environment.getOrDefault("RDMA4J_INTEROP_PROCESSORS", "1");
        String memory = environment.getOrDefault("RDMA4J_INTEROP_MEMORY", Integer.toString(mebibytes));
        String export = "security_model=none,readonly=on,multidevs=remap";
        List<String> words = new ArrayList<>(host.prefix());
        words.addAll(List.of("qemu-system-x86_64", "-name", "rdma4j-interop-" + name));
        words.addAll(List.of("-machine", "q35,accel=tcg", "-cpu", "max", "-m", memory));
        // maxcpus=2: QEMU 7.2 omits the guest's memory barriers if the machine can have only one processor, although
        // the threads of the emulated devices need them. A notification of the network card is then lost, and the
        // card stops.
        words.addAll(List.of("-smp", processors + ",maxcpus=2"));
        words.addAll(List.of("-nodefaults", "-no-user-config", "-no-reboot", "-display", "none", "-monitor", "none"));
        words.addAll(List.of("-serial", "file:" + log("log")));
        words.addAll(List.of("-kernel", kernel.image().toString(), "-initrd", initramfs.toString()));
        words.addAll(List.of(
                "-append",
                "console=ttyS0 quiet loglevel=4 panic=-1 nokaslr mitigations=off no_timer_check tsc=reliable net.ifnames=0"
                        + " interop.ip4=%s interop.ip6=%s interop.mtu=%d".formatted(card.ip4, card.ip6, card.mtu)));
        words.addAll(List.of("-netdev", "tap,id=net0,ifname=" + card.tap + ",script=no,downscript=no"));
        words.addAll(List.of("-device", "virtio-net-pci,netdev=net0,mac=52:54:00:88:00:" + card.macEnd + ",romfile="));
        words.addAll(List.of("-virtfs", "local,path=/,mount_tag=host," + export));
        if (kernel.layer() != null) {
            words.addAll(List.of("-virtfs", "local,path=" + kernel.layer() + ",mount_tag=layer," + export));
        }
        return words;
    }

    /**
     * Waits until the guest has its devices.
     *
     * @throws IOException with the end of its console if it has not in time
     */
    public void awaitUp() throws IOException, InterruptedException {
        long deadline = System.nanoTime() + Duration.ofSeconds(BOOT_SECONDS).toNanos();
        while (!answers()) {
            if (machine == null || !machine.isAlive()) {
                throw new IOException("the emulator of " + name + " ended:\n" + console() + end(log("qemu")));
            }
            if (System.nanoTime() - deadline >= 0) {
                throw new IOException(name + " did not answer within " + BOOT_SECONDS + " s:\n" + console());
            }
            Thread.sleep(Duration.ofMillis(200));
        }
        if (!call("test -c /dev/infiniband/uverbs0 && rdma link show rxe0/1 | grep -q ACTIVE")
                .succeeded()) {
            throw new IOException(name + " has no working rxe0:\n" + console());
        }
        if (kernel.hasSiw() && !call("rdma link show siw0/1 | grep -q ACTIVE").succeeded()) {
            throw new IOException(name + " has no working siw0:\n" + console());
        }
    }

    private String console() {
        return end(log("log"));
    }

    private static String end(Path file) {
        try {
            List<String> lines =
                    Files.readString(file, StandardCharsets.ISO_8859_1).lines().toList();
            return String.join("\n", lines.subList(Math.max(0, lines.size() - 20), lines.size())) + "\n";
        } catch (IOException e) {
            return "";
        }
    }

    /** Returns whether the guest runs commands. */
    public boolean answers() throws IOException, InterruptedException {
        return call("echo up").output().equals("up\n");
    }

    /** Runs a script of bash in the guest. */
    public Result call(String script) throws IOException, InterruptedException {
        return call(script, Duration.ofSeconds(CALL_SECONDS));
    }

    /** Runs a script of bash in the guest with a limit, after which the result has the status 125. */
    public Result call(String script, Duration most) throws IOException, InterruptedException {
        Path output = Files.createTempFile(folder, "call", ".out");
        try {
            Process call = new ProcessBuilder(callWords(script))
                    .redirectInput(Path.of("/dev/null").toFile())
                    .redirectOutput(output.toFile())
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            boolean ended = call.waitFor(most.toMillis(), TimeUnit.MILLISECONDS);
            if (!ended) {
                call.destroyForcibly().waitFor();
            }
            return new Result(
                    ended ? call.exitValue() : UNREACHABLE, Files.readString(output, StandardCharsets.ISO_8859_1));
        } finally {
            Files.delete(output);
        }
    }

    /**
     * Runs a script of bash in the guest, which has to succeed.
     *
     * @return its output
     * @throws CaseFailure with a reason and the output if it fails
     */
    public String require(String reason, String script) throws CaseFailure, IOException, InterruptedException {
        Result result = call(script);
        if (!result.succeeded()) {
            throw new CaseFailure(reason + ": " + result.output().strip());
        }
        return result.output();
    }

    /** Returns the words that run a script in the guest. */
    List<String> callWords(String script) {
        List<String> words = new ArrayList<>(host.prefix());
        words.addAll(List.of(scripts.resolve("guest-call").toString(), card.ip4, script));
        return words;
    }

    /** Returns a word in a form that a shell takes for one word. */
    public static String quoted(String word) {
        return word.matches("[A-Za-z0-9_./:=,@%+-]+") ? word : "'" + word.replace("'", "'\\''") + "'";
    }
}
