package io.rdma4j.tools.command;

import java.util.Locale;

/** Makes a peer's text safe to print on a terminal. */
public final class TerminalText {
    private static final int LAST_BYTE = 0xff;
    private static final int LAST_OF_FOUR_DIGITS = 0xffff;

    private TerminalText() {}

    /**
     * Replaces the non-printing characters of a text by escapes.
     *
     * <p>These are control characters, with which a peer could control the terminal or forge lines, and the invisible
     * characters that change the direction of text. All other characters remain.
     */
    public static String of(String text) {
        if (text.codePoints().allMatch(TerminalText::prints)) {
            return text;
        }
        StringBuilder safe = new StringBuilder();
        text.codePoints().forEach(character -> {
            if (prints(character)) {
                safe.appendCodePoint(character);
            } else {
                safe.append(escape(character));
            }
        });
        return safe.toString();
    }

    private static boolean prints(int character) {
        return switch (Character.getType(character)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR,
                    Character.SURROGATE -> false;
            default -> true;
        };
    }

    private static String escape(int character) {
        if (character <= LAST_BYTE) {
            return String.format(Locale.ROOT, "\\x%02x", character);
        }
        return String.format(Locale.ROOT, character <= LAST_OF_FOUR_DIGITS ? "\\u%04x" : "\\U%08x", character);
    }
}
