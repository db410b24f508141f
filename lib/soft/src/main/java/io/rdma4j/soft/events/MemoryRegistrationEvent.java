package io.rdma4j.soft.events;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;

/** The registration of a memory region that took longer than the threshold. */
@Name("rdma4j.MemoryRegistration")
@Label("Memory Registration")
@Description("Registration of a memory region")
@Category({"rdma4j", "Memory"})
@StackTrace
@Threshold("1 ms")
public final class MemoryRegistrationEvent extends Event {
    /** The name of the device. */
    @Label("Device")
    public String device = "";

    /** The length of the region. */
    @Label("Length")
    @DataAmount
    public long length;

    /** The access rights of the region. */
    @Label("Access Rights")
    public String access = "";

    /** Creates an event. */
    public MemoryRegistrationEvent() {}
}
