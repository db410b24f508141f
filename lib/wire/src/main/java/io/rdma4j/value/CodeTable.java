package io.rdma4j.value;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.ToIntFunction;

/** The constants of an enumeration by their numbers. A look-up allocates nothing. */
final class CodeTable<E extends Enum<E>> {
    private final List<Optional<E>> byCode;

    /** Takes the constants, whose numbers are small and not negative. */
    CodeTable(E[] constants, ToIntFunction<E> code) {
        int largest = 0;
        for (E constant : constants) {
            largest = Math.max(largest, code.applyAsInt(constant));
        }
        List<Optional<E>> table = new ArrayList<>(Collections.nCopies(largest + 1, Optional.empty()));
        for (E constant : constants) {
            table.set(code.applyAsInt(constant), Optional.of(constant));
        }
        byCode = List.copyOf(table);
    }

    /** Returns the constant of a number, or nothing if there is none. */
    Optional<E> get(int code) {
        return code >= 0 && code < byCode.size() ? byCode.get(code) : Optional.empty();
    }
}
