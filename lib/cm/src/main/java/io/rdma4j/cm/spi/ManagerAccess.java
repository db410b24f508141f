package io.rdma4j.cm.spi;

import io.rdma4j.cm.ConnectionManager;
import java.lang.invoke.MethodHandles;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Creates connection managers over single providers, for stacks and tests of this project. Programs cannot use it,
 * since the provider types are not exported to them; they get the connection manager of a stack. The initializer of
 * {@link ConnectionManager} provides the access. Thread safe.
 */
public abstract class ManagerAccess {
    private static volatile @Nullable ManagerAccess provided;

    /** Creates the access. */
    protected ManagerAccess() {}

    /** Provides the access. {@link ConnectionManager} calls it once. */
    public static void provide(ManagerAccess access) {
        provided = access;
    }

    /** Creates a connection manager over the devices of one provider. {@code RDMA4J_DEVICE} has no effect on it. */
    public static ConnectionManager managerOf(CmProvider provider) {
        return access().newManager(provider);
    }

    /**
     * Returns the provider of a connection manager that {@link #managerOf} has created.
     *
     * @throws IllegalArgumentException if it is the connection manager of the process, which may have several providers
     */
    public static CmProvider providerOf(ConnectionManager manager) {
        return access().onlyProvider(manager);
    }

    private static ManagerAccess access() {
        try {
            var _ = MethodHandles.lookup().ensureInitialized(ConnectionManager.class);
        } catch (IllegalAccessException e) {
            throw new AssertionError(e); // the class belongs to this module
        }
        return Objects.requireNonNull(provided);
    }

    /** Creates a connection manager. */
    protected abstract ConnectionManager newManager(CmProvider provider);

    /** Returns the provider of a connection manager. */
    protected abstract CmProvider onlyProvider(ConnectionManager manager);
}
