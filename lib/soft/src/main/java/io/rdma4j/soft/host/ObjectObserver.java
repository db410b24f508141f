package io.rdma4j.soft.host;

/**
 * Observes the objects that a program creates in a stack and closes: contexts, everything in them, and identifiers. Tests use it
 * to find leaks. Implementations are thread safe, and their methods return quickly.
 */
public interface ObjectObserver {
    /** Observes nothing. */
    ObjectObserver NONE = new ObjectObserver() {
        @Override
        public void onCreated(Object created) {}

        @Override
        public void onClosed(Object closed) {}
    };

    /** Called by the thread that created an object, before it is returned to the program. */
    void onCreated(Object created);

    /** Called when an object was closed; it may be called again for the same object. */
    void onClosed(Object closed);
}
