package io.rdma4j.tools.command;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Functions of the C library on which the tools' behaviour depends. */
public final class CStrings {
    private static final Pattern FLOAT =
            Pattern.compile("[ \\t-\\r]*([-+]?(?:[0-9]+\\.?[0-9]*|\\.[0-9]+)(?:[eE][-+]?[0-9]+)?)");

    private CStrings() {}

    /**
     * Parses the number at the start of a string, like glibc's {@code atoi}.
     *
     * <p>The number consists of white space, an optional sign and decimal digits. The result is 0 if there are no
     * digits. A number out of range saturates at the nearest {@code long}, of which the low 32 bits are returned.
     */
    public static int atoi(String text) {
        int at = 0;
        while (at < text.length() && isSpace(text.charAt(at))) {
            at++;
        }
        boolean negative = false;
        if (at < text.length() && (text.charAt(at) == '-' || text.charAt(at) == '+')) {
            negative = text.charAt(at) == '-';
            at++;
        }
        long value = 0;
        for (; at < text.length() && text.charAt(at) >= '0' && text.charAt(at) <= '9'; at++) {
            int digit = text.charAt(at) - '0';
            if (value < (Long.MIN_VALUE + digit) / 10) {
                return (int) (negative ? Long.MIN_VALUE : Long.MAX_VALUE);
            }
            // Accumulated as a negative number, because the negative range has one more value.
            value = value * 10 - digit;
        }
        if (negative) {
            return (int) value;
        }
        return (int) (value == Long.MIN_VALUE ? Long.MAX_VALUE : -value);
    }

    /**
     * Parses the number at the start of a string, like glibc's {@code strtol} with base 0.
     *
     * <p>The number is octal after {@code 0}, hexadecimal after {@code 0x}, and decimal otherwise. The result is 0 if
     * there are no digits. A number out of range saturates at the nearest {@code long}.
     */
    public static long strtol(String text) {
        int at = 0;
        while (at < text.length() && isSpace(text.charAt(at))) {
            at++;
        }
        boolean negative = at < text.length() && text.charAt(at) == '-';
        if (negative || at < text.length() && text.charAt(at) == '+') {
            at++;
        }
        int base = 10;
        if (text.regionMatches(true, at, "0x", 0, 2) && at + 2 < text.length() && digit(text.charAt(at + 2), 16) >= 0) {
            base = 16;
            at += 2;
        } else if (at < text.length() && text.charAt(at) == '0') {
            base = 8;
        }
        long value = 0;
        for (; at < text.length() && digit(text.charAt(at), base) >= 0; at++) {
            int digit = digit(text.charAt(at), base);
            if (value > (Long.MAX_VALUE - digit) / base) {
                return negative ? Long.MIN_VALUE : Long.MAX_VALUE;
            }
            value = value * base + digit;
        }
        return negative ? -value : value;
    }

    /**
     * Parses the decimal number at the start of a string, like glibc's {@code strtof}: {@code 100M} is 100. The result
     * is 0 if there are no digits. Infinity, NaN and hexadecimal numbers are not supported.
     */
    public static float strtof(String text) {
        Matcher number = FLOAT.matcher(text);
        return number.lookingAt() ? Float.parseFloat(number.group(1)) : 0;
    }

    /** Returns the value of an ASCII digit, or -1. */
    private static int digit(char c, int base) {
        return c < 128 ? Character.digit(c, base) : -1;
    }

    private static boolean isSpace(char c) {
        return c == ' ' || c >= '\t' && c <= '\r';
    }
}
