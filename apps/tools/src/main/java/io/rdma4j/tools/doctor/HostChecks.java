package io.rdma4j.tools.doctor;

import io.rdma4j.cm.host.SystemFile;
import io.rdma4j.soft.guardian.GuardianServer;
import io.rdma4j.soft.report.ReportSockets;
import io.rdma4j.soft.report.StackReport;
import io.rdma4j.tools.top.StackReader;
import io.rdma4j.verbs.RdmaException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The checks of a host that lead to warnings. Each warning names a likely problem and its remedy. */
final class HostChecks {
    /** The first update of Java 25 in which the defect JDK-8377811 is fixed. */
    private static final int FIRST_SOUND_UPDATE = 3;

    /** The size of a UDP receive buffer that the device requests. */
    private static final long WANTED_BUFFER_BYTES = 4 << 20;

    private static final Path LARGEST_BUFFER = Path.of("/proc/sys/net/core/rmem_max");

    private HostChecks() {}

    /** Returns a warning if a Java version has a defect that a later update fixes. */
    static Optional<String> java(Runtime.Version version) {
        boolean isDefective =
                version.feature() == 25 && version.interim() == 0 && version.update() < FIRST_SOUND_UPDATE;
        return isDefective
                ? Optional.of(
                        "Java " + version + " has the defect JDK-8377811, like all JDKs 25.0.0 to 25.0.2; update it to"
                                + " 25.0.3 or newer before you look for the cause of a failure elsewhere")
                : Optional.empty();
    }

    /** Returns a warning if the links may not make native system calls, which they do on Linux only. */
    static Optional<String> nativeAccess(String osName, boolean isEnabled) {
        return osName.equals("Linux") && !isEnabled
                ? Optional.of(
                        "native access is not enabled, so the device needs a separate system call for each packet that"
                                + " it sends or receives; start Java with --enable-native-access=io.rdma4j.link (on the"
                                + " class path: ALL-UNNAMED)")
                : Optional.empty();
    }

    /** Returns a warning if the system limits UDP receive buffers to less than the device requests. */
    static Optional<String> receiveBuffer() {
        try {
            return receiveBuffer(Long.parseLong(SystemFile.read(LARGEST_BUFFER)), isRoot());
        } catch (IOException | NumberFormatException e) {
            return Optional.empty(); // another system, which has no such limit
        }
    }

    /** Returns a warning about a limit, unless the user is root, who may exceed it. */
    static Optional<String> receiveBuffer(long limitBytes, boolean isRoot) {
        return limitBytes < WANTED_BUFFER_BYTES && !isRoot
                ? Optional.of("UDP receive buffers are limited to " + limitBytes + " bytes, and packets that arrive"
                        + " when they are full are lost and sent again; if 'rdma4j top' shows retransmissions"
                        + " on a network without loss, raise the limit as root: sysctl -w net.core.rmem_max="
                        + WANTED_BUFFER_BYTES)
                : Optional.empty();
    }

    private static boolean isRoot() {
        try {
            return Integer.valueOf(0).equals(Files.getAttribute(Path.of("/proc/self"), "unix:uid"));
        } catch (IOException | UnsupportedOperationException | IllegalArgumentException e) {
            return false;
        }
    }

    /** Returns whether a guardian watches the processes of this user. */
    static boolean isGuardianRunning() {
        try {
            return GuardianServer.isRunning();
        } catch (RdmaException e) {
            return false; // the run directory cannot be used, which another warning reports
        }
    }

    /**
     * The processes of this user that use rdma4j.
     *
     * @param names their process IDs and programs
     * @param warnings a line for each process that does not answer, or for an unusable run directory
     */
    record Processes(List<String> names, List<String> warnings) {}

    /** Requests the reports of the processes of this user. */
    static Processes processes() {
        List<String> names = new ArrayList<>();
        List<String> warnings = new ArrayList<>();
        try {
            StackReader.Answers answers = StackReader.readAll(ReportSockets.list());
            for (StackReport report : answers.reports()) {
                names.add(report.pid() + " (" + report.program() + ")");
            }
            for (String problem : answers.problems()) {
                warnings.add(
                        problem + "; a stopped process that owns UDP port 4791 of an address is replaced by another"
                                + " process after two seconds, unless one of them has no native access: then continue or"
                                + " terminate it");
            }
        } catch (IOException | RdmaException e) {
            warnings.add(String.valueOf(e.getMessage()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return new Processes(names, warnings);
    }
}
