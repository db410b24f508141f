package io.rdma4j.verbs.abi;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Names the C field whose offset a constant is, in a class with {@link CStruct}. In another class it names the C expression
 * whose value the constant is.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.FIELD)
public @interface CName {
    /** Returns the field or the expression. */
    String value();
}
