package io.rdma4j.bench.report;

import java.util.Locale;

/** Builds HTML that is also well-formed XML, with SVG in it. Not thread safe. */
final class Markup {
    private final StringBuilder text = new StringBuilder();

    /** Adds markup without escaping it. */
    Markup raw(String markup) {
        text.append(markup);
        return this;
    }

    /** Adds escaped text. */
    Markup text(String plain) {
        text.append(escape(plain));
        return this;
    }

    /** Adds an element that contains escaped text. */
    Markup element(String name, String attributes, String plain) {
        text.append('<').append(name).append(attributes.isEmpty() ? "" : " ").append(attributes);
        text.append('>').append(escape(plain)).append("</").append(name).append('>');
        return this;
    }

    /** Adds formatted markup, with a decimal point in numbers. */
    @SuppressWarnings("AnnotateFormatMethod") // the annotation is in a library that is not used here
    Markup format(String markup, Object... arguments) {
        text.append(String.format(Locale.ROOT, markup, arguments));
        return this;
    }

    static String escape(String plain) {
        return plain.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }

    @Override
    public String toString() {
        return text.toString();
    }
}
