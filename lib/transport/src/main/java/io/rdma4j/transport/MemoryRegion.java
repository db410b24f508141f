package io.rdma4j.transport;

import io.rdma4j.value.AccessFlag;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Registered memory as seen by the protocol: an address range with a key, access rights and a protection domain.
 *
 * <p>The addresses that a peer uses ({@link #address} and up) are the region's own and need not be addresses of the
 * process (decision 002). Belongs to one {@link MemoryTable} and shares its threading rule.
 *
 * <p>Only its validity changes. When the rights or the domain of registered memory change, another object takes its
 * place ({@link MemoryTable#change}), so that a packet is processed with the old ones or the new ones, never with a
 * mixture. An object that is kept beyond a packet may be an old one; {@link #latest} returns the current one.
 */
public final class MemoryRegion {
    private final MemorySegment memory;
    private final long address;
    private final int key;
    private final int access;
    private final int protectionDomain;

    /** Window whose range this is, or null for registered memory. */
    private final @Nullable MemoryWindow window;

    /** The only queue pair whose peer may use it, or null for all of the domain. */
    private final @Nullable QueuePairMachine user;

    /** The object of the first registration under this key, which may be this one. */
    private final MemoryRegion original;

    /**
     * In the object of the first registration: the current object, or null if nothing was changed. Not volatile for the
     * same reason as the next field.
     */
    private @Nullable MemoryRegion replacement;

    /** True after deregistration or invalidation; under the table's lock, as the next. */
    private boolean ended;

    /** True while the owner does not allow access. */
    private boolean withheld;

    /**
     * True if either of the two is true. Neither volatile nor a positive flag, since it is read for each packet. A
     * thread that drives queue pairs sees the change no later than when it next takes the lock, which the changing
     * thread also takes once.
     */
    private boolean invalid;

    /** Number of windows bound to this region; modified under the table's lock. */
    private volatile int boundWindows;

    MemoryRegion(MemorySegment memory, long address, int key, int access, int protectionDomain) {
        this(memory, address, key, access, protectionDomain, null, null, null);
    }

    /** Creates the object that replaces another one, with other rights or another domain. */
    MemoryRegion(MemoryRegion replaced, int access, int protectionDomain) {
        this(replaced.memory, replaced.address, replaced.key, access, protectionDomain, null, null, replaced.original);
    }

    /** Creates the range of a memory window. */
    MemoryRegion(
            MemorySegment memory,
            long address,
            int key,
            int access,
            int protectionDomain,
            @Nullable MemoryWindow window,
            @Nullable QueuePairMachine user) {
        this(memory, address, key, access, protectionDomain, window, user, null);
    }

    private MemoryRegion(
            MemorySegment memory,
            long address,
            int key,
            int access,
            int protectionDomain,
            @Nullable MemoryWindow window,
            @Nullable QueuePairMachine user,
            @Nullable MemoryRegion original) {
        this.memory = memory;
        this.address = address;
        this.key = key;
        this.access = access;
        this.protectionDomain = protectionDomain;
        this.window = window;
        this.user = user;
        this.original = original == null ? this : original;
    }

    /**
     * Returns the object that has the current rights and domain of this memory: this one unless they were changed. It
     * has the same memory, address and key.
     */
    public MemoryRegion latest() {
        MemoryRegion present = original.replacement;
        return present == null ? original : present;
    }

    /** Makes this object the latest. The caller holds the lock of the table. */
    void becomeLatest() {
        original.replacement = this;
    }

    /**
     * Returns the number of memory windows bound to this region. A region with bound windows must not be deregistered.
     */
    public int boundWindows() {
        return boundWindows;
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // modified under the table's lock
    void changeBoundWindows(int by) {
        boundWindows += by;
    }

    /** Returns the window whose range this is, or null for registered memory. */
    @Nullable
    MemoryWindow window() {
        return window;
    }

    /** Returns whether the peer of a queue pair may use it, as far as windows are concerned. */
    boolean isFor(QueuePairMachine queuePair) {
        return user == null || user == queuePair;
    }

    @Nullable
    QueuePairMachine user() {
        return user;
    }

    /** Returns the memory itself. */
    public MemorySegment memory() {
        return memory;
    }

    /** Returns the first address, as the peer uses it. */
    public long address() {
        return address;
    }

    /** Returns the number of registered bytes. */
    public long lengthBytes() {
        return memory.byteSize();
    }

    /** Returns the key, both local and remote. */
    public int key() {
        return key;
    }

    /** Returns the access rights, bits of {@link AccessFlag}. */
    public int access() {
        return access;
    }

    /** Returns the number of the protection domain. */
    public int protectionDomain() {
        return protectionDomain;
    }

    /** Returns whether the memory may be accessed: it is still registered, or for the range of a window still bound, and not withheld. */
    public boolean isValid() {
        return !invalid;
    }

    /** Returns whether the registration or the binding has ended. The caller holds the lock of the table. */
    boolean hasEnded() {
        return ended;
    }

    void end() {
        ended = true;
        invalid = true;
    }

    boolean isWithheld() {
        return withheld;
    }

    void setWithheld(boolean value) {
        withheld = value;
        invalid = ended || value;
    }

    /** Returns whether all rights in {@code flags} were granted. */
    public boolean allows(int flags) {
        return (access & flags) == flags;
    }

    /**
     * Returns whether {@code length} bytes from {@code offset} lie within the region. Safe against overflow for all
     * arguments.
     */
    public boolean containsOffset(long offset, long length) {
        long size = memory.byteSize();
        return length >= 0 && offset >= 0 && length <= size && offset <= size - length;
    }

    /**
     * Returns whether {@code length} bytes from the peer's address {@code start} lie within the region. Addresses are
     * unsigned.
     */
    public boolean containsAddress(long start, long length) {
        return containsOffset(start - address, length);
    }
}
