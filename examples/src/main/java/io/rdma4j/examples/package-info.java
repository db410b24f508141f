/** One-page example programs to copy from. */
@NullMarked
package io.rdma4j.examples;

import org.jspecify.annotations.NullMarked;
