package org.jspecify.annotations;

import java.lang.annotation.ElementType;
import java.lang.annotation.Target;

/** Declares JSpecify's annotation for the launcher's compiler. */
@Target(ElementType.TYPE_USE)
public @interface NonNull {}
