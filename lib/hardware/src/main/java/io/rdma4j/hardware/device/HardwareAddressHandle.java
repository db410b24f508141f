package io.rdma4j.hardware.device;

import io.rdma4j.hardware.library.Call;
import io.rdma4j.hardware.library.Function;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.AddressVector;
import io.rdma4j.verbs.ProtectionDomain;

/** An address handle of a device: the destination of datagrams. */
final class HardwareAddressHandle extends HardwareObject implements AddressHandle {
    private final HardwareProtectionDomain domain;
    private final AddressVector addressVector;

    HardwareAddressHandle(HardwareProtectionDomain domain, long address, AddressVector addressVector) {
        super(domain.context(), Kind.ADDRESS_HANDLE, address);
        this.domain = domain;
        this.addressVector = addressVector;
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return domain;
    }

    @Override
    public AddressVector addressVector() {
        return addressVector;
    }

    @Override
    void destroy(Call call, long address) {
        destroy(call, Function.DESTROY_ADDRESS_HANDLE, address);
    }

    @Override
    public String toString() {
        return "address handle of " + addressVector.destination();
    }
}
