package io.rdma4j.sharing;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The lock file of a virtual host; its processes are stacks of this process. Thread safe. */
final class MemoryLockFile implements LockFile {
    /** Locks by their byte: the number of shared ones, or {@link #EXCLUSIVE}. */
    private final Map<Long, Integer> held = new HashMap<>();

    private static final int EXCLUSIVE = -1;

    @Override
    public synchronized @Nullable ByteLock tryLock(long at, boolean shared) {
        int count = held.getOrDefault(at, 0);
        if (count == EXCLUSIVE || count > 0 && !shared) {
            return null;
        }
        held.put(at, shared ? count + 1 : EXCLUSIVE);
        return new MemoryLock(at, shared);
    }

    @Override
    public synchronized boolean isLockedElsewhere(long at) {
        return held.containsKey(at);
    }

    @Override
    public boolean isCurrent() {
        return true;
    }

    @Override
    public void keep() {}

    @Override
    public void close() {}

    private synchronized void release(long at) {
        int count = held.getOrDefault(at, 0);
        if (count > 1) {
            held.put(at, count - 1);
        } else {
            held.remove(at);
        }
    }

    private final class MemoryLock implements ByteLock {
        private final long at;
        private final boolean shared;
        private boolean released;

        MemoryLock(long at, boolean shared) {
            this.at = at;
            this.shared = shared;
        }

        @Override
        public boolean isValid() {
            return !released;
        }

        @Override
        public boolean isShared() {
            return shared;
        }

        @Override
        public void release() {
            if (!released) {
                released = true;
                MemoryLockFile.this.release(at);
            }
        }
    }
}
