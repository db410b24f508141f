/** {@code ibv_devices}, {@code ibv_devinfo} and {@code ibv_asyncwatch}: list the devices, their capabilities and events. */
package io.rdma4j.tools.devices;
