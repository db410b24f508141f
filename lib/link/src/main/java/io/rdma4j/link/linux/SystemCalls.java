package io.rdma4j.link.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;

/** Finds the functions of the C library through which Java calls Linux. */
final class SystemCalls {
    /**
     * The lookup. In the process of a C program, a library between the program and the C library must know Java's descriptors:
     * the property {@code rdma4j.system-calls} specifies its file.
     */
    static final SymbolLookup LOOKUP = lookup();

    private SystemCalls() {}

    @SuppressWarnings("restricted")
    private static SymbolLookup lookup() {
        SymbolLookup libraryOfC = Linker.nativeLinker().defaultLookup();
        String file = System.getProperty("rdma4j.system-calls", "");
        return file.isEmpty()
                ? libraryOfC
                : SymbolLookup.libraryLookup(file, Arena.global()).or(libraryOfC);
    }
}
