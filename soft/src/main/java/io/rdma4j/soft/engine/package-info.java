/** The progress engine: one lock, one duty cycle, ports, timers, and who drives when. Not exported. */
package io.rdma4j.soft.engine;
