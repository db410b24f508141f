package io.rdma4j.verbs.abi;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Names the C structure whose offsets a class has. A constant {@code BYTES} is the structure's size. */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface CStruct {
    /** Returns the C type, such as {@code struct ibv_wc}. */
    String value();

    /** Returns the field at which the offsets begin; empty for the beginning of the structure. */
    String origin() default "";
}
