package io.rdma4j.sharing;

import io.rdma4j.link.Link;
import io.rdma4j.wire.Frame;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The replacement of an owner of UDP port 4791 that is stopped (decision 051).
 *
 * <p>The socket file identifies the owner: the process that takes the port over replaces the file, under a lock, and only if it
 * is still the file of the owner to replace. The others thus find the successor, and the former owner notices the replacement
 * when it continues. Used under the engine lock.
 */
final class OwnerReplacement {
    /** The interval at which an owner checks whether it was replaced. */
    private static final long CHECK_NANOS = 250_000_000;

    /** Becomes the owner with a link of the port, which it closes if it fails. */
    interface Owning {
        void own(Link udp) throws IOException;
    }

    private final PortEngine engine;
    private final Sharing sharing;
    private final InetAddress address;
    private final Path socket;

    /** The file of the owner, as this process knows it. */
    private @Nullable FileIdentity ownerFile;

    /** The file at the last attempt to join. */
    private @Nullable FileIdentity triedFile;

    private long lastCheckNanos;
    private boolean isDue;

    OwnerReplacement(PortEngine engine, Sharing sharing, InetAddress address, Path socket) {
        this.engine = engine;
        this.sharing = sharing;
        this.address = address;
        this.socket = socket;
    }

    /** Notes the file of the owner that this process has joined, or its own. */
    void noteOwner(@Nullable FileIdentity file) {
        ownerFile = file;
    }

    /** Notes the file before an attempt to join. */
    void noteTried(@Nullable FileIdentity file) {
        triedFile = file;
    }

    /** Makes the next check due. */
    void checkSoon() {
        isDue = true;
    }

    /** Returns whether an owner must check now whether it was replaced: it may have been stopped since the last check. */
    boolean isDue(long nowNanos) {
        if (!isDue && nowNanos - lastCheckNanos < CHECK_NANOS) {
            return false;
        }
        isDue = false;
        lastCheckNanos = nowNanos;
        return true;
    }

    /** Returns whether another process has replaced the owner, which a missing file does not show. */
    boolean isReplaced() {
        FileIdentity current = engine.links().opensBeside() ? FileIdentity.of(socket) : null;
        return current != null && !current.equals(ownerFile);
    }

    /** Takes the port over from the owner, which sends no heartbeats; see {@link #tryTake(FileIdentity, Owning)}. */
    @Nullable
    String tryTake(Owning owning) throws IOException {
        FileIdentity current = FileIdentity.of(socket);
        return tryTake(current == null ? null : ownerFile, owning);
    }

    /**
     * Takes over a port that a process of this run directory holds but does not serve: an attempt to join has failed.
     */
    @Nullable
    String tryTakeUnserved(String refusal, Owning owning) throws IOException {
        return engine.links().opensBeside() && sharing.takeovers().isHeld(address)
                ? tryTake(triedFile, owning)
                : refusal;
    }

    /**
     * Takes the port over, unless another process does so or has done so. The holder continues to send from the port.
     *
     * @param expected the socket file of the owner that is replaced; null if there is none
     * @return null if this process is the owner now, otherwise the reason why it is not
     */
    private @Nullable String tryTake(@Nullable FileIdentity expected, Owning owning) throws IOException {
        LockFile.ByteLock lock = sharing.takeovers().tryBegin(address);
        if (lock == null) {
            return "another process takes it over";
        }
        try {
            if (!Objects.equals(expected, FileIdentity.of(socket))) {
                return "another process has taken it over";
            }
            Link udp = open();
            try {
                Files.deleteIfExists(socket); // the listener of the former owner still accepts connections
            } catch (IOException e) {
                udp.close();
                throw e;
            }
            owning.own(udp);
            return null;
        } catch (BindException e) {
            return String.valueOf(e.getMessage());
        } finally {
            lock.release();
        }
    }

    private Link open() throws IOException {
        try {
            return engine.links().openUdp(address, Frame.UDP_PORT);
        } catch (BindException held) {
            return engine.links().openBeside(address, Frame.UDP_PORT);
        }
    }
}
