package io.rdma4j.verbs.abi;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Names the C expression whose value a constant has. {@code CLayoutsTest} compares them. */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.FIELD)
public @interface CName {
    /** Returns the expression, usually the name of a constant of an enumeration. */
    String value();
}
