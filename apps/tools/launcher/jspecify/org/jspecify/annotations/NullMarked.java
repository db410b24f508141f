package org.jspecify.annotations;

/** Declares JSpecify's annotation for the launcher's compiler. */
public @interface NullMarked {}
