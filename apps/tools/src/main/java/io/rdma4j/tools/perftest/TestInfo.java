package io.rdma4j.tools.perftest;

import io.rdma4j.value.PathMtu;

/** The description that perftest prints before a test on a device without a PCI bus. */
final class TestInfo {
    private final Settings settings;
    private final Console console;

    TestInfo(Settings settings, Console console) {
        this.settings = settings;
        this.console = console;
    }

    void print(PerftestSession session, PathMtu mtu) {
        String device = session.context().device().name();
        console.environment()
                .report()
                .parameter("device", device)
                .parameter("mtuBytes", mtu.bytes())
                .parameter("gidIndex", session.gidIndex());
        if (settings.output != Settings.Output.FULL) {
            return;
        }
        console.line(PerftestTable.LINE);
        console.line("                    " + title());
        if (settings.events) {
            console.line(" Test with events. Using " + device + "_comp" + settings.completionVector);
        }
        console.line(" Dual-port       : OFF\t\tDevice         : " + device);
        console.line(" Number of qps   : " + settings.queuePairs + "\t\tTransport type : IB");
        console.line(" Connection type : " + settings.connection + "\t\tUsing SRQ      : "
                + (settings.sharedReceives ? "ON" : "OFF"));
        console.line(" PCIe relax order: Unsupported");
        console.line(" ibv_wr* API     : OFF");
        if (settings.isClient() || settings.bidirectional) {
            console.line(" TX depth        : " + settings.sendDepth);
        }
        if (settings.postList > 1) {
            console.line(" Post List       : " + settings.postList);
        }
        if (settings.receivePostList > 1) {
            console.line(" Recv Post List  : " + settings.receivePostList);
        }
        if (settings.consumesReceives() && (!settings.isClient() || settings.bidirectional)) {
            console.line(" RX depth        : " + settings.receiveDepth);
        }
        if (settings.isBandwidth()) {
            console.line(" CQ Moderation   : " + settings.moderation);
            if (settings.completionBatch != Settings.NONE) {
                console.line(" CQE Poll Batch  : " + settings.completionBatch);
            }
        }
        console.line(" Mtu             : " + mtu.bytes() + "[B]");
        console.line(" Link type       : Ethernet");
        console.line(" GID index       : " + session.gidIndex());
        console.line(
                settings.operation.isFetch()
                        ? " Outstand reads  : " + settings.outstanding
                        : " Max inline data : " + settings.inlineBytes + "[B]");
        console.line(" rdma_cm QPs\t : " + (settings.rdmaCm ? "ON" : "OFF"));
        console.line(" Data ex. method : " + (settings.rdmaCmControl ? "rdma_cm" : "Ethernet") + typeOfService());
        if (settings.rdmaCm && !settings.isClient()) {
            console.line(PerftestTable.LINE);
            console.line(" Waiting for client rdma_cm QP to connect");
            console.line(" Please run the same command with the IB/RoCE interface IP");
        }
        console.line(PerftestTable.LINE);
    }

    private String typeOfService() {
        return settings.typeOfService == Settings.NONE ? "" : " \tTOS    : " + settings.typeOfService;
    }

    private String title() {
        StringBuilder title = new StringBuilder(settings.operation.title()).append(settings.immediate ? "_imm " : " ");
        if (settings.operation == MeasuredOperation.ATOMIC) {
            title.append(settings.compareAndSwap ? "CMP_AND_SWAP " : "FETCH_AND_ADD ");
        }
        if (settings.bidirectional) {
            title.append("Bidirectional ");
        }
        if (settings.isBandwidth()) {
            title.append(settings.postList > 1 ? "Post List BW " : "BW ");
        } else {
            title.append("Latency ");
        }
        return title.append("Test").toString();
    }
}
