# The guest's kernel: Debian's package, unpacked into the cache and not installed on the host; sourced by other scripts.

# The modules that the guest loads, in any order; modules.dep has their dependencies.
guest_modules=(
    virtio_pci virtio_net 9p 9pnet_virtio overlay        # network card and the host's file system
    crc32_generic ib_core rdma_rxe rdma_ucm ib_uverbs    # the RDMA peer; rxe asks the crypto API for "crc32"
    sch_netem sch_prio sch_ingress cls_u32 act_mirred ifb # loss, delay, reordering in both directions
)

# The first program of the guest: that of Debian's busybox-static, which needs no library. It is unpacked, since it cannot be installed beside
# Debian's busybox.
guest_busybox=$cache_dir/busybox/bin/busybox

# The folder of the kernel in use: that of Debian 12, or that of kernel_select.
kernel_dir=$cache_dir/kernel

# RDMA programs and libraries of Debian 13, of the time of kernel 6.12, which lie over the host's in guests that are started with
# it; guest_with_debian_13 selects them. checks/interop/setup --newer unpacks them.
debian_13_dir=$cache_dir/debian13
guest_layer=
guest_with_debian_13() {
    kernel_select 6.12
    guest_layer=$debian_13_dir
}

# kernel_select SERIES(6.1|6.12) : uses the kernel of this series.
kernel_select() {
    case $1 in
        6.1) kernel_dir=$cache_dir/kernel ;;
        6.12) kernel_dir=$cache_dir/kernel-6.12 ;;
        *) die "the kernels are 6.1 and 6.12, not $1" ;;
    esac
}

# Prints the release of the unpacked kernel, or fails.
kernel_release() {
    local release
    release=$(ls "$kernel_dir/lib/modules" 2>/dev/null | sort -V | tail -1)
    [ -n "$release" ] && [ -f "$kernel_dir/lib/modules/$release/modules.dep" ] &&
        [ -f "$kernel_dir/boot/vmlinuz-$release" ] && echo "$release"
}

# Debian's kernels do not contain the iWARP device siw; checks/interop/setup --hardware builds it.
siw_file() { echo "$kernel_dir/lib/modules/$1/extra/siw.ko"; } # RELEASE

# Guests that are started later have siw, with an interface for it.
guest_has_siw=false
guest_with_siw() {
    guest_has_siw=true
    guest_modules+=(crc32c_generic siw dummy) # siw asks the crypto API for "crc32c"
}

# module_files RELEASE : prints the .ko files of guest_modules and of their dependencies, in an order that insmod accepts.
module_files() {
    local modules=$kernel_dir/lib/modules/$1
    printf '%s\n' "${guest_modules[@]}" | awk -v dep="$modules/modules.dep" -v builtin="$modules/modules.builtin" '
        function name_of(path) { sub(/.*\//, "", path); sub(/\.ko.*/, "", path); gsub(/-/, "_", path); return path }
        BEGIN {
            while ((getline line < dep) > 0) {
                colon = index(line, ":"); path = substr(line, 1, colon - 1)
                path_of[name_of(path)] = path; needs[path] = substr(line, colon + 1)
            }
            while ((getline line < builtin) > 0) built_in[name_of(line)] = 1
        }
        # modules.dep lists the dependencies of a module, the deepest last.
        function load(path,   parts, count, i) {
            count = split(needs[path], parts, " ")
            for (i = count; i >= 1; i--) if (!(parts[i] in loaded)) { loaded[parts[i]] = 1; print parts[i] }
            if (!(path in loaded)) { loaded[path] = 1; print path }
        }
        {
            if ($1 in path_of) load(path_of[$1])
            else if (!($1 in built_in)) { print "no module " $1 " in " dep > "/dev/stderr"; failed = 1 }
        }
        END { exit failed }'
}

# build_initramfs RELEASE FILE : busybox, the modules, and the two scripts that run in the guest.
build_initramfs() {
    local release=$1 file=$2 tree path
    tree=$(mktemp -d "$file.XXXXXX") || return 1
    mkdir -p "$tree"/{bin,dev,proc,sys,modules,root,mnt}
    cp "$guest_busybox" "$tree/bin/busybox"
    ln -s busybox "$tree/bin/sh"
    cp "$lib_dir/guest-init" "$tree/init"
    cp "$lib_dir/guest-agent" "$tree/agent"
    chmod 755 "$tree/init" "$tree/agent"
    module_files "$release" >"$tree/modules.list" || { rm -rf "$tree"; return 1; }
    while read -r path; do
        case $path in
            *.xz) xz -dc "$kernel_dir/lib/modules/$release/$path" >"$tree/modules/$(basename "$path" .xz)" ;;
            *) cp "$kernel_dir/lib/modules/$release/$path" "$tree/modules/" ;;
        esac
        basename "$path" .xz
    done <"$tree/modules.list" >"$tree/modules/order"
    (cd "$tree" && find . | "$guest_busybox" cpio -o -H newc 2>/dev/null) >"$file"
    rm -rf "$tree"
}
