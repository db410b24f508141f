package io.rdma4j.tools.run;

import io.rdma4j.tools.command.OptionTable;

/** The options that rdma4j run and rdma4j exec share. The launcher parses them. */
final class LauncherOptions {
    private LauncherOptions() {}

    /** Adds the options that concern the devices. */
    static OptionTable<Void> withDevices(OptionTable<Void> table) {
        return table.note(
                        "--device NAME",
                        "use only this device: its name (rdma4j_eth0), one of its addresses, or its kind (soft,"
                                + " hardware)")
                .note(
                        "--pcap FILE",
                        "write every packet to FILE in pcapng, for Wireshark; %p in FILE is the process ID")
                .note("--fault SPEC", "inject faults into the traffic, for example loss=1%,dup=1%,seed=7")
                .note("--trace", "print a line per packet on stderr")
                .note("--no-shared-memory  ", "send packets by UDP also to processes of this host");
    }
}
