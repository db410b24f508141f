package io.rdma4j.verbs.abi;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Names the C structure of a class of offsets. A constant {@code BYTES} is the structure's size. */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface CStruct {
    /** Returns the C type, such as {@code struct ibv_wc}. */
    String value();

    /** Returns the field to which the offsets are relative; empty for the start of the structure. */
    String origin() default "";
}
