/** The provider of this process's hardware, which {@link java.util.ServiceLoader} finds. */
package io.rdma4j.hardware.process;
