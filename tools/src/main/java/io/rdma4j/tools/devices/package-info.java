/** {@code ibv_devices} and {@code ibv_devinfo}: list the devices and their capabilities. */
package io.rdma4j.tools.devices;
