package org.jspecify.annotations;

/** Name of JSpecify's annotation, for the launcher's compiler. */
public @interface NullUnmarked {}
