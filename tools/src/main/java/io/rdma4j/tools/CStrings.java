package io.rdma4j.tools;

/** Functions of C's library that the tools' behaviour depends on. */
public final class CStrings {
    private CStrings() {}

    /**
     * The number at the front of a text, as glibc's {@code atoi} finds it: white space, a sign, digits; 0 if there are
     * none. Too large a number becomes the nearest {@code long}, and of that only the low 32 bits are left.
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
            // Collected below zero, where there is one number more.
            value = value * 10 - digit;
        }
        if (negative) {
            return (int) value;
        }
        return (int) (value == Long.MIN_VALUE ? Long.MAX_VALUE : -value);
    }

    private static boolean isSpace(char c) {
        return c == ' ' || c >= '\t' && c <= '\r';
    }
}
