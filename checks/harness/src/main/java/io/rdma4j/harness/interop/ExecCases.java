package io.rdma4j.harness.interop;

import static io.rdma4j.harness.Case.Extent.FULL;
import static io.rdma4j.harness.Case.Extent.QUICK;

/** C's rping on this host by {@code rdma4j exec} against C's rping in the guest. The other tools' classes have such cases of their own. */
final class ExecCases {
    private ExecCases() {}

    static void define(InteropCases cases) {
        for (Roles roles : Roles.EXEC_AND_C) {
            cases.add("exec/rping/v4", roles, "10 pings", FULL, 30, Rping.pings(Family.V4, Rping.SIZE, 10));
            cases.add("exec/rping/v6", roles, "4 pings of 65535", QUICK, 30, Rping.pings(Family.V6, 65535, 4));
            cases.add("exec/rping/ll", roles, "3 pings", FULL, 30, Rping.pings(Family.LL, Rping.SIZE, 3));
            InteropCases.Body persistent = ConnectionCases.persistent(Family.V4, 3, 20, 4096);
            cases.add("exec/rping/persistent", roles, "3+1 clients x 20", FULL, 60, persistent);
            cases.add("exec/rping/refused", roles, "REJ 8, exit 255", FULL, 30, ConnectionCases.refused(Family.V4));
        }
        Roles atExec = new Roles(Side.EXEC, Side.LINUX);
        Roles atLinux = new Roles(Side.LINUX, Side.EXEC);
        cases.add("exec/killed", atExec, "server ends", FULL, 30, FaultCases.killed(End.CLIENT, "KILL"));
        cases.add("exec/killed", atLinux, "client ends", FULL, 30, FaultCases.killed(End.SERVER, "KILL"));
    }
}
