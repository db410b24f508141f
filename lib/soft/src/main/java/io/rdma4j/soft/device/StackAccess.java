package io.rdma4j.soft.device;

import java.lang.invoke.MethodHandles;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Creates stacks with any settings and gives access to their devices, for this project's test network and tests. Programs cannot
 * use it, because its types are not exported. The stack class provides it when it is initialized.
 */
public abstract class StackAccess {
    private static volatile @Nullable StackAccess provided;

    /** Creates the access; for the stack class. */
    protected StackAccess() {}

    /** Provides the access; called once, by the stack class. */
    public static void provide(StackAccess access) {
        provided = access;
    }

    /** Creates a stack with settings of any kind. */
    public static <S> S create(Class<S> type, StackSettings settings) {
        try {
            MethodHandles.lookup().ensureInitialized(type);
        } catch (IllegalAccessException e) {
            throw new IllegalArgumentException(e); // not a class of this module
        }
        return type.cast(access().newStack(settings));
    }

    /** Returns the devices of a stack. */
    public static SoftDevices devices(Object stack) {
        return access().devicesOf(stack);
    }

    private static StackAccess access() {
        return Objects.requireNonNull(provided);
    }

    /** Creates a stack. */
    protected abstract Object newStack(StackSettings settings);

    /** Returns the devices of a stack. */
    protected abstract SoftDevices devicesOf(Object stack);
}
