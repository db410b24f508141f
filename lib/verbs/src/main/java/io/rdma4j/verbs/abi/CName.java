package io.rdma4j.verbs.abi;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Names the C counterpart of a constant. In a class with {@link CStruct}, the constant is the offset of this C field.
 * In another class, the constant is the value of this C expression.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.FIELD)
public @interface CName {
    /** Returns the field or the expression. */
    String value();
}
