/** Compiles the code of the data path before a program needs it. */
package io.rdma4j.soft.warmup;
