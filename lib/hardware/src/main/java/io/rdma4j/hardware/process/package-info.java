/** The provider of hardware devices, which {@link java.util.ServiceLoader} finds. */
package io.rdma4j.hardware.process;
