package io.rdma4j.hardware.library;

import io.rdma4j.verbs.abi.Native;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The library libibverbs. It is loaded at the first use, and stays loaded. Thread safe.
 *
 * <p>Its functions return an errno, or a pointer, which is null after an error and {@code errno} then has the number.
 * {@link Call} calls them.
 */
public final class Libibverbs {
    private static final String FILE = "libibverbs.so.1";

    /** The library, or the reason why it cannot be used. */
    private record Load(@Nullable Libibverbs library, String reason) {
        static final Load RESULT = load();
    }

    private final Map<Function, MemorySegment> functions;

    private Libibverbs(Map<Function, MemorySegment> functions) {
        this.functions = functions;
    }

    /** Returns whether this process can use the library. */
    public static boolean isUsable() {
        return Load.RESULT.library != null;
    }

    /** Returns a clause that explains why the library cannot be used; empty if it can. */
    public static String absence() {
        return Load.RESULT.reason;
    }

    /** Returns the address of a function. */
    static MemorySegment address(Function function) {
        Libibverbs library = Load.RESULT.library;
        MemorySegment address = library == null ? null : library.functions.get(function);
        if (address == null) {
            throw new IllegalStateException(function + ": " + absence());
        }
        return address;
    }

    private static Load load() {
        if (!System.getProperty("os.name", "").toLowerCase(Locale.ROOT).equals("linux")) {
            return new Load(null, "this operating system has no " + FILE);
        }
        Module module = Libibverbs.class.getModule();
        Module structures = Native.class.getModule();
        if (!module.isNativeAccessEnabled() || !structures.isNativeAccessEnabled()) {
            String names = module.isNamed() ? module.getName() + "," + structures.getName() : "ALL-UNNAMED";
            return new Load(null, "Java may not call " + FILE + ": start it with --enable-native-access=" + names);
        }
        SymbolLookup lookup;
        try {
            lookup = open();
        } catch (IllegalArgumentException missing) {
            return new Load(null, FILE + " is not installed");
        }
        Map<Function, MemorySegment> found = new EnumMap<>(Function.class);
        for (Function each : Function.values()) {
            MemorySegment address = lookup.find(each.symbol()).orElse(null);
            if (address == null) {
                return new Load(null, FILE + " has no " + each.symbol() + ": it is older than rdma-core 36");
            }
            found.put(each, address);
        }
        return new Load(new Libibverbs(found), "");
    }

    @SuppressWarnings("restricted")
    private static SymbolLookup open() {
        return SymbolLookup.libraryLookup(FILE, Arena.global());
    }
}
