package io.rdma4j.soft.events;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** A change of this process' role in sharing UDP port 4791 of an address. */
@Name("rdma4j.PortOwnership")
@Label("Port Ownership")
@Description("Change of the part that this process has in the sharing of UDP port 4791 of an address")
@Category({"rdma4j", "Sharing"})
@StackTrace(false)
public final class PortOwnershipEvent extends Event {
    /** The local address. */
    @Label("Address")
    public String address = "";

    /** The new role of this process. */
    @Label("Role")
    @Description(
            "owner: has bound the port; member: receives through the owner; none: the owner has exited, or was replaced")
    public String role = "";

    /** The slot of this process. */
    @Label("Slot")
    @Description("Number of this process among those that share the address: the upper byte of its queue pair numbers")
    public int slot;

    /** Creates an event. */
    public PortOwnershipEvent() {}
}
