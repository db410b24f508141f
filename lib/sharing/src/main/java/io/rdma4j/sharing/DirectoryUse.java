package io.rdma4j.sharing;

import java.io.IOException;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * The use of a run directory by this process: a slot, without which other processes would remove the directory as unused ({@link
 * Leftovers}), and the handles that keep cleaners of old files away. Thread safe.
 */
public final class DirectoryUse implements AutoCloseable {
    private final RunDirectory directory;
    private final Slots slots;
    private final List<AutoCloseable> holds;

    /**
     * Starts using a directory.
     *
     * @throws SharingException as {@link Slots#claim}
     */
    public DirectoryUse(RunDirectory directory, RandomGenerator random) throws SharingException {
        this.directory = directory;
        slots = Slots.claim(directory, random);
        holds = directory.hold();
    }

    /** Returns the slot of this process. */
    Slots slots() {
        return slots;
    }

    /**
     * Creates the directory and the locks again if they were removed nevertheless.
     *
     * @throws IOException if that is not possible now
     * @throws SharingException if other users may enter or replace the directory now
     */
    void keep() throws IOException, SharingException {
        directory.renew();
        slots.keep();
    }

    /** Releases the slot. */
    @Override
    public void close() {
        slots.close();
        holds.forEach(DirectoryUse::close);
    }

    private static void close(AutoCloseable hold) {
        try {
            hold.close();
        } catch (Exception e) {
            return; // then the directory stays held until the process ends
        }
    }
}
