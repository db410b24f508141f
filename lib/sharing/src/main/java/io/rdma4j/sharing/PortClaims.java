package io.rdma4j.sharing;

import io.rdma4j.link.host.GidAddresses;
import io.rdma4j.link.host.Interfaces;
import io.rdma4j.sharing.SharingException.Reason;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The RDMA port numbers claimed by all processes that share a run directory. Thread safe.
 *
 * <p>Claims conflict as in Linux's rdma_cm. A second claim of the same address fails with {@link Reason#IN_USE}. A wildcard
 * address conflicts with any other address: {@link Reason#UNAVAILABLE}. A claim for only IPv4 and one for only IPv6 do not
 * conflict, nor do two claims that both allow reuse.
 *
 * <p>Each port has a few bytes in a lock file. For each family there is one byte that a wildcard claim locks
 * exclusively and a specific claim shares, and a pair of bytes by which specific claims and reusing wildcards exclude
 * each other. There is one more byte for each address. The kernel and the JDK keep the locks of a file in a list that
 * they walk for each claim, so the ports of a port space are spread over many files.
 */
public final class PortClaims implements AutoCloseable {
    private static final long REGION = 1L << 32;
    private static final int FILES = 64;
    private static final int WILDCARD = 0;
    private static final int SPECIFIC = 2;
    private static final int REUSING_WILDCARD = 4;
    private static final long ADDRESSES = 16;

    /** The maximum number of bytes that one claim locks: two for each family, and one for the address. */
    private static final int MAX_LOCKED_BYTES = 5;

    /** A claim of this process. */
    private record Held(PortKey key, InetAddress address, boolean familyOnly, boolean reuse) {}

    /** A claimed port; closing frees it. */
    public final class Claim implements AutoCloseable {
        private Held held;
        private final List<LockedByte> bytes;
        private boolean open = true;

        private Claim(Held held, List<LockedByte> bytes) {
            this.held = held;
            this.bytes = bytes;
        }

        /** Returns the port number. */
        public int port() {
            return held.key.port;
        }

        /**
         * Makes the claim exclusive: a listening port is not shared.
         *
         * @throws SharingException {@link Reason#IN_USE} or {@link Reason#UNAVAILABLE} if the port is also claimed elsewhere; the
         *     claim is then unchanged
         */
        public void listen() throws SharingException {
            synchronized (PortClaims.this) {
                if (open && held.reuse) {
                    makeExclusive(this);
                }
            }
        }

        /**
         * Allows further claims of the port that also allow reuse.
         *
         * @throws SharingException {@link Reason#SYSTEM} if the file system has no locks; the claim is then unchanged
         */
        public void allowReuse() throws SharingException {
            synchronized (PortClaims.this) {
                if (open && !held.reuse) {
                    makeReusable(this);
                }
            }
        }

        @Override
        public void close() {
            synchronized (PortClaims.this) {
                if (open) {
                    open = false;
                    forget(this);
                    releaseAll(bytes);
                }
            }
        }
    }

    /** A byte that this process has locked once for all its claims. */
    private static final class LockedByte {
        private final ByteKey key;
        private LockFile.ByteLock lock;
        private int uses = 1;

        LockedByte(ByteKey key, LockFile.ByteLock lock) {
            this.key = key;
            this.lock = lock;
        }
    }

    /** A port of a port space. */
    private record PortKey(int space, int port) {
        /** Returns the name of the file that contains the port's bytes. */
        String file() {
            return "ports-%04x-%02x".formatted(space, port % FILES);
        }
    }

    private record ByteKey(PortKey port, long at) {}

    private final RunDirectory directory;
    private final Map<PortKey, LockFile> files = new HashMap<>();
    private final Map<ByteKey, LockedByte> locked = new HashMap<>();
    private final Map<PortKey, List<Claim>> claims = new HashMap<>();

    /** Creates the claims of this process: one object per process and directory. */
    public PortClaims(RunDirectory directory) {
        this.directory = directory;
    }

    /**
     * Claims a port number.
     *
     * @param portSpace number of the port space, such as 0x0106
     * @param address local address, or a wildcard
     * @param familyOnly true if an IPv6 claim does not include IPv4; IPv4 claims never include IPv6
     * @param reuse true to share the port with other claims that also allow it
     * @param port 1 to 65535
     * @throws SharingException {@link Reason#IN_USE} or {@link Reason#UNAVAILABLE} on a conflict; {@link Reason#SYSTEM} if the file
     *     system has no locks
     */
    public synchronized Claim claim(int portSpace, InetAddress address, boolean familyOnly, boolean reuse, int port)
            throws SharingException {
        PortKey key = new PortKey(portSpace, port);
        Held wanted = new Held(key, address, familyOnly || address instanceof Inet4Address, reuse);
        requireNoConflict(wanted, null);
        Claim claim = new Claim(wanted, lockedFor(wanted));
        claims.computeIfAbsent(key, none -> new ArrayList<>(1)).add(claim);
        return claim;
    }

    private void requireNoConflict(Held wanted, @Nullable Claim self) throws SharingException {
        for (Claim claim : claims.getOrDefault(wanted.key, List.of())) {
            Reason conflict = claim.equals(self) ? null : conflict(wanted, claim.held);
            if (conflict != null) {
                throw refusal(conflict, "this process has it");
            }
        }
    }

    private List<LockedByte> lockedFor(Held wanted) throws SharingException {
        List<LockedByte> bytes = new ArrayList<>(MAX_LOCKED_BYTES);
        try {
            Reason conflict = lockAll(wanted, bytes);
            if (conflict == null) {
                return bytes;
            }
            releaseAll(bytes);
            throw refusal(conflict, "another process of this host has it");
        } catch (IOException e) {
            releaseAll(bytes);
            throw failure(wanted, e);
        }
    }

    /** Makes a claim that allows reuse exclusive. On failure, the claim is unchanged. */
    private void makeExclusive(Claim claim) throws SharingException {
        Held exclusive = new Held(claim.held.key, claim.held.address, claim.held.familyOnly, false);
        requireNoConflict(exclusive, claim);
        boolean done = false;
        try {
            for (LockedByte held : claim.bytes) {
                if (isExclusiveByte(exclusive, held.key.at) && !relock(held, false)) {
                    Reason reason = exclusive.address.isAnyLocalAddress() ? Reason.UNAVAILABLE : Reason.IN_USE;
                    throw refusal(reason, "another process of this host has it as well");
                }
            }
            claim.bytes.addAll(lockedFor(exclusive));
            claim.held = exclusive;
            done = true;
        } catch (IOException e) {
            throw failure(exclusive, e);
        } finally {
            if (!done) {
                share(claim);
            }
        }
    }

    /** Makes an exclusive claim allow reuse, and exchanges its locked bytes accordingly. */
    private void makeReusable(Claim claim) throws SharingException {
        Held shared = new Held(claim.held.key, claim.held.address, claim.held.familyOnly, true);
        List<LockedByte> bytes = lockedFor(shared);
        releaseAll(claim.bytes);
        claim.bytes.clear();
        claim.bytes.addAll(bytes);
        claim.held = shared;
        share(claim);
    }

    /** Returns whether an exclusive claim locks a byte exclusively. */
    private static boolean isExclusiveByte(Held exclusive, long at) {
        return exclusive.address.isAnyLocalAddress() ? at < SPECIFIC * REGION : at >= ADDRESSES * REGION;
    }

    /**
     * Locks a byte again in another mode. Returns false if another process locked it exclusively between the two steps.
     */
    private boolean relock(LockedByte held, boolean shared) throws IOException {
        if (held.lock.isValid()) {
            held.lock.release();
        }
        LockFile.ByteLock lock = file(held.key.port).tryLock(held.key.at, shared);
        if (lock != null) {
            held.lock = lock;
        }
        return lock != null;
    }

    private void share(Claim claim) {
        try {
            for (LockedByte held : claim.bytes) {
                if (!held.lock.isValid() || !held.lock.isShared()) {
                    boolean _ = relock(held, true);
                }
            }
        } catch (IOException e) {
            // The file system no longer provides locks. The first failure is reported to the caller.
            return;
        }
    }

    private void forget(Claim claim) {
        List<Claim> ofPort = claims.get(claim.held.key);
        if (ofPort != null && ofPort.remove(claim) && ofPort.isEmpty()) {
            claims.remove(claim.held.key);
        }
    }

    /** Returns the reason why two claims of the same port conflict, or null. */
    private static @Nullable Reason conflict(Held a, Held b) {
        if (a.reuse && b.reuse) {
            return null;
        }
        boolean sameFamily = a.address instanceof Inet4Address == b.address instanceof Inet4Address;
        if (a.familyOnly && b.familyOnly && !sameFamily) {
            return null;
        }
        if (a.address.isAnyLocalAddress() || b.address.isAnyLocalAddress()) {
            return Reason.UNAVAILABLE;
        }
        return Interfaces.areSame(a.address, b.address) ? Reason.IN_USE : null;
    }

    private @Nullable Reason lockAll(Held wanted, List<LockedByte> bytes) throws IOException {
        boolean ipv4 = wanted.address instanceof Inet4Address;
        for (int family = 0; family < 2; family++) {
            boolean sameFamily = ipv4 == (family == 0);
            if ((sameFamily || !wanted.familyOnly) && !lockFamily(wanted, family, bytes)) {
                return Reason.UNAVAILABLE;
            }
        }
        if (wanted.address.isAnyLocalAddress()) {
            return null;
        }
        return lock(wanted.key, addressAt(wanted), wanted.reuse, bytes) ? null : Reason.IN_USE;
    }

    private boolean lockFamily(Held wanted, int family, List<LockedByte> bytes) throws IOException {
        boolean wildcard = wanted.address.isAnyLocalAddress();
        boolean exclusive = wildcard && !wanted.reuse;
        if (!lock(wanted.key, at(WILDCARD + family, wanted.key), !exclusive, bytes)) {
            return false;
        }
        if (wildcard == wanted.reuse) {
            // Specific claims without reuse and wildcards with reuse exclude each other, but not their own kind: each
            // sets its mark and then checks for the mark of the other.
            int mark = wildcard ? REUSING_WILDCARD : SPECIFIC;
            int excluded = wildcard ? SPECIFIC : REUSING_WILDCARD;
            return lock(wanted.key, at(mark + family, wanted.key), true, bytes)
                    && !isMarkedElsewhere(wanted.key, at(excluded + family, wanted.key));
        }
        return true;
    }

    private boolean isMarkedElsewhere(PortKey port, long at) throws IOException {
        return !locked.containsKey(new ByteKey(port, at)) && file(port).isLockedElsewhere(at);
    }

    private static long at(int kind, PortKey key) {
        return kind * REGION + key.port;
    }

    private static long addressAt(Held wanted) {
        long network = GidAddresses.high(wanted.address) + Interfaces.scope(wanted.address);
        long hash = (network * 0x9e37_79b9_7f4a_7c15L ^ GidAddresses.low(wanted.address)) * 0xd6e8_feb8_6659_fd93L;
        return (ADDRESSES * REGION) + ((hash >>> 22) << 16) + wanted.key.port;
    }

    private boolean lock(PortKey port, long at, boolean shared, List<LockedByte> bytes) throws IOException {
        ByteKey key = new ByteKey(port, at);
        LockedByte known = locked.get(key);
        if (known != null) {
            // Claims of this process do not conflict, as was checked, but a shared lock cannot become exclusive.
            if (!shared && known.lock.isShared()) {
                return false;
            }
            known.uses++;
            bytes.add(known);
            return true;
        }
        LockFile.ByteLock lock = file(port).tryLock(at, shared);
        if (lock == null) {
            return false;
        }
        LockedByte added = new LockedByte(key, lock);
        locked.put(key, added);
        bytes.add(added);
        return true;
    }

    private LockFile file(PortKey port) throws IOException {
        PortKey first = new PortKey(port.space, port.port % FILES);
        LockFile file = files.get(first);
        if (file == null) {
            file = directory.openLockFileOfNamespace(first.file());
            files.put(first, file);
        }
        return file;
    }

    private void releaseAll(List<LockedByte> bytes) {
        for (LockedByte held : bytes) {
            if (--held.uses == 0) {
                locked.remove(held.key);
                release(held.lock);
            }
        }
    }

    private static void release(LockFile.ByteLock lock) {
        try {
            lock.release();
        } catch (IOException e) {
            // The file was removed with its locks: the port is free in any case.
            return;
        }
    }

    /** Keeps the lock files; see {@link LockFile#keep}. */
    synchronized void keep() throws IOException {
        for (LockFile file : files.values()) {
            file.keep();
        }
    }

    /** Closes the lock files. All claims must be closed before. */
    @Override
    public synchronized void close() {
        files.values().forEach(PortClaims::close);
        files.clear();
    }

    private static void close(LockFile file) {
        try {
            file.close();
        } catch (IOException e) {
            // Nothing was written to it.
            return;
        }
    }

    private SharingException failure(Held wanted, IOException cause) {
        return new SharingException(
                Reason.SYSTEM,
                "lock port " + wanted.key.port + " in " + directory.path(),
                RunDirectory.LOCAL_FILE_SYSTEM,
                cause);
    }

    private static SharingException refusal(Reason reason, String holder) {
        return new SharingException(
                reason, holder, "Choose another port, 0 for any free one, or close its other user", null);
    }
}
