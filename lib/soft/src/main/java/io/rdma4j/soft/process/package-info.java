/** The stack of the process, and the providers by which {@link java.util.ServiceLoader} finds it. */
package io.rdma4j.soft.process;
