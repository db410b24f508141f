package io.rdma4j.verbs.abi;

import java.util.ArrayList;
import java.util.List;

/**
 * The layout of a C structure on 64-bit Linux. Its methods add the fields in the order of the header file and return
 * their offsets in bytes, so that padding and size follow from the types as in C. Offsets that are assigned to static
 * final fields are constants for the compiler of the virtual machine. {@code CLayoutsTest} compares all layouts with
 * the header files.
 */
public final class CStructure {
    /**
     * A field of a structure.
     *
     * @param bytes its size; 0 if the size depends on the architecture or on the program
     */
    public record Field(String name, int offset, int bytes) {}

    private static final int WORD_BYTES = 8;

    private final List<String> types;
    private final String origin;
    private final List<Field> fields = new ArrayList<>();
    private int position;
    private int alignment = 1;
    private int bytes;

    /**
     * Creates a layout without fields.
     *
     * @param types the C name of the structure, and the names of structures that have the same fields
     */
    public CStructure(String... types) {
        this.types = List.of(types);
        origin = "";
    }

    /**
     * Creates the layout of a part of a structure.
     *
     * @param origin the C name of the field to which the offsets are relative
     * @param first the offset of the first field
     */
    public CStructure(String type, String origin, int first) {
        types = List.of(type);
        this.origin = origin;
        position = first;
    }

    /** Adds a {@code uint8_t}. */
    public int uint8(String name) {
        return add(name, 1, 1);
    }

    /** Adds a {@code uint16_t}. */
    public int uint16(String name) {
        return add(name, 2, 2);
    }

    /** Adds a {@code uint32_t}. */
    public int uint32(String name) {
        return add(name, 4, 4);
    }

    /** Adds an {@code int}, an {@code unsigned int} or an enumeration. */
    public int integer(String name) {
        return add(name, 4, 4);
    }

    /** Adds a {@code uint64_t} or a {@code size_t}. */
    public int uint64(String name) {
        return add(name, 8, 8);
    }

    /** Adds a pointer to data or a function. */
    public int pointer(String name) {
        return add(name, WORD_BYTES, WORD_BYTES);
    }

    /** Adds an array of numbers. */
    public int array(String name, int elementBytes, int count) {
        return add(name, elementBytes, elementBytes * count);
    }

    /** Adds structures; a count of 0 is an array without a fixed length. */
    public int structure(String name, CStructure type, int count) {
        return add(name, type.alignment, type.bytes * count);
    }

    /** Adds the last field of the layout, a {@code pthread_mutex_t}, whose size depends on the architecture. */
    public int mutex(String name) {
        return add(name, WORD_BYTES, 0);
    }

    /**
     * Adds fields that this project does not use.
     *
     * @param fieldBytes the size of each; its alignment is the highest power of 2 that divides it
     */
    public CStructure skip(int fieldBytes, String... names) {
        for (String name : names) {
            int _ = add(name, Math.min(WORD_BYTES, Integer.lowestOneBit(fieldBytes)), fieldBytes);
        }
        return this;
    }

    /** Leaves bytes for fields that have no public name. */
    public CStructure gap(int gapBytes) {
        position += gapBytes;
        return this;
    }

    /** Continues at the offset of an earlier field, for the next member of a union. The longest member is the last. */
    public CStructure at(int offset) {
        position = offset;
        return this;
    }

    /** Ends a union that is aligned to a number of bytes. */
    public CStructure align(int to) {
        position = position + to - 1 & -to;
        return this;
    }

    /** Ends the layout and returns the structure's size. */
    public int bytes() {
        bytes = align(alignment).position;
        return bytes;
    }

    private int add(String name, int fieldAlignment, int fieldBytes) {
        int offset = align(fieldAlignment).position;
        alignment = Math.max(alignment, fieldAlignment);
        fields.add(new Field(name, offset, fieldBytes));
        position = offset + fieldBytes;
        return offset;
    }

    /** Returns the C names of the structure. */
    public List<String> types() {
        return types;
    }

    /** Returns the C name of the field to which the offsets are relative; empty for the start of the structure. */
    public String origin() {
        return origin;
    }

    /** Returns the fields. */
    public List<Field> fields() {
        return List.copyOf(fields);
    }

    /** Returns the size of a structure that {@link #bytes} has ended; 0 for others. */
    public int knownBytes() {
        return bytes;
    }
}
