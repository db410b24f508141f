package io.rdma4j.hardware.library;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The loaded libibverbs. It is loaded at the first use, and stays loaded. Thread safe.
 *
 * <p>Functions of verbs return an errno, or a pointer that is null after an error that is in {@code errno}.
 */
public final class Libibverbs {
    private static final String FILE = "libibverbs.so.1";

    /** The library, or the reason why there is none. */
    private record Load(@Nullable Libibverbs library, String reason) {
        static final Load RESULT = load();
    }

    private final Map<Function, MemorySegment> functions;

    private Libibverbs(Map<Function, MemorySegment> functions) {
        this.functions = functions;
    }

    /** Returns the library, if this host has one that can be used. */
    public static Optional<Libibverbs> find() {
        return Optional.ofNullable(Load.RESULT.library);
    }

    /** Returns a clause with the reason why there is no library; empty if there is one. */
    public static String absence() {
        return Load.RESULT.reason;
    }

    private static Load load() {
        if (!System.getProperty("os.name", "").toLowerCase(Locale.ROOT).equals("linux")) {
            return new Load(null, "this operating system has no " + FILE);
        }
        SymbolLookup lookup;
        try {
            lookup = open();
        } catch (IllegalArgumentException missing) {
            return new Load(null, FILE + " is not installed");
        }
        Map<Function, MemorySegment> found = new EnumMap<>(Function.class);
        for (Function each : Function.values()) {
            Optional<MemorySegment> address = lookup.find(each.symbol());
            if (address.isEmpty()) {
                return new Load(null, FILE + " has no " + each.symbol() + ": it is older than rdma-core 36");
            }
            found.put(each, address.get());
        }
        return new Load(new Libibverbs(found), "");
    }

    @SuppressWarnings("restricted")
    private static SymbolLookup open() {
        return SymbolLookup.libraryLookup(FILE, Arena.global());
    }

    private MemorySegment address(Function function) {
        MemorySegment address = functions.get(function);
        if (address == null) {
            throw new IllegalStateException("not loaded: " + function);
        }
        return address;
    }

    /**
     * Calls a function that returns a pointer, or an {@code int} that is not an error.
     *
     * @return the result; 0 or -1 after an error, which {@code errno} then has
     */
    public long call(Function function, CallState state, long first, long second, long third, long fourth, long fifth) {
        return Downcalls.control(address(function), state.captured(), first, second, third, fourth, fifth);
    }

    /**
     * Calls a function that returns an object.
     *
     * @param details what was to be created, for the message
     * @throws RdmaException if the function returns null
     */
    public long create(
            Function function, CallState state, String details, long first, long second, long third, long fourth, long fifth) {
        long created = call(function, state, first, second, third, fourth, fifth);
        if (created == 0) {
            throw new RdmaException(function.symbol(), Errno.of(state.errno()), details, "");
        }
        return created;
    }

    /**
     * Calls a function that returns an errno.
     *
     * @param details the objects, for the message
     * @throws RdmaException if it is not 0
     */
    public void check(Function function, CallState state, String details, long first, long second, long third, long fourth) {
        int error = (int) call(function, state, first, second, third, fourth, 0);
        if (error != 0) {
            throw new RdmaException(
                    function.symbol(), Errno.of(error < 0 ? state.errno() : error), details, "");
        }
    }
}
