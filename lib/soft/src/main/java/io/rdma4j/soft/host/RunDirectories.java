package io.rdma4j.soft.host;

import io.rdma4j.sharing.RunDirectory;
import io.rdma4j.sharing.SharingException;
import io.rdma4j.verbs.RdmaException;
import java.nio.file.Path;

/** Opens run directories for callers of verbs: a refusal is an error of {@code ibv_open_device}. */
public final class RunDirectories {
    private RunDirectories() {}

    /** A way to open a run directory. */
    private interface Opening {
        RunDirectory open() throws SharingException;
    }

    /**
     * Opens the directory that this process is configured for; see {@link RunDirectory#open}.
     *
     * @throws RdmaException {@code EACCES} if it cannot be created, or if other users may enter or replace it
     */
    public static RunDirectory open() {
        return opened(RunDirectory::open);
    }

    /**
     * Opens the directory at a path; see {@link RunDirectory#at}.
     *
     * @throws RdmaException as {@link #open}
     */
    public static RunDirectory at(Path path) {
        return opened(() -> RunDirectory.at(path));
    }

    /**
     * Creates a directory that no other process can find; see {@link RunDirectory#createPrivate}.
     *
     * @throws RdmaException as {@link #open}
     */
    public static RunDirectory createPrivate() {
        return opened(RunDirectory::createPrivate);
    }

    private static RunDirectory opened(Opening opening) {
        try {
            return opening.open();
        } catch (SharingException refusal) {
            throw SystemFailure.of("ibv_open_device", refusal);
        }
    }
}
