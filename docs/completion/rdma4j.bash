# Completion of rdma4j and its tools for bash: . docs/completion/rdma4j.bash

# Names of files may have blanks: a line each.
_rdma4j_files() {
    local IFS=$'\n'
    COMPREPLY=($(compgen -f -- "$1"))
    compopt -o filenames 2>/dev/null
}

# Completes the command of "rdma4j run", which begins with word $1 or behind it.
_rdma4j_command() {
    local first=$1
    [ "${COMP_WORDS[first]}" = "--" ] && ((first++))
    if [ "$COMP_CWORD" -le "$first" ]; then
        COMPREPLY=($(compgen -c -- "${COMP_WORDS[COMP_CWORD]}"))
    elif declare -F _command_offset >/dev/null; then
        _command_offset "$first"
    else
        _rdma4j_files "${COMP_WORDS[COMP_CWORD]}"
    fi
}

_rdma4j() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} tool=${COMP_WORDS[0]##*/} i
    local run="--rules --every-jvm --print --device --pcap --fault --trace --help"
    local common="--pcap --fault --trace --device --json --no-warm-up --warm-up --help"
    COMPREPLY=()
    if [ "$tool" = rdma4j ]; then
        # The tool is the first word that is neither an option of every tool nor its value.
        tool=
        for ((i = 1; i < COMP_CWORD; i++)); do
            case ${COMP_WORDS[i]} in
                --pcap | --fault | --device) [ "${COMP_WORDS[i + 1]-}" = "=" ] && ((i++)); ((i++)) ;;
                -*) ;;
                *) tool=${COMP_WORDS[i]}; break ;;
            esac
        done
    fi
    # Behind the options of run, the words are those of a command.
    if [ "$tool" = run ]; then
        for ((i++; i < COMP_CWORD; i++)); do
            case ${COMP_WORDS[i]} in
                --rules | --pcap | --fault | --device) [ "${COMP_WORDS[i + 1]-}" = "=" ] && ((i++)); ((i++)) ;;
                -[!-]* | --?*) ;;
                *) _rdma4j_command "$i"; return ;;
            esac
        done
    fi
    # With "--pcap=" the "=" is a word of its own.
    [ "$before" = "=" ] && [ "$COMP_CWORD" -ge 2 ] && before=${COMP_WORDS[COMP_CWORD - 2]}
    [ "$word" = "=" ] && word= && before=${COMP_WORDS[COMP_CWORD - 1]}
    case $before in
        --pcap) _rdma4j_files "$word"; return ;;
        --fault) COMPREPLY=($(compgen -W "loss=1% dup=1% reorder=1% corrupt=1% delay=1ms" -- "$word")); return ;;
        --rules) COMPREPLY=($(compgen -W "*=either *=rdma *=tcp" -- "$word")); return ;;
        --device) COMPREPLY=($(compgen -W "soft" -- "$word")); return ;;
    esac
    # The same letter means different things to different tools.
    case $tool:$before in
        rping:-[aI] | cmtime:-[bC] | demo:-a) COMPREPLY=($(compgen -A hostname -- "$word")); return ;;
        ucmatose:-f | udaddy:-f | rstream:-f | riostream:-f) COMPREPLY=($(compgen -W "ip name gid" -- "$word")); return ;;
        ib_*:-f | *:-p | *:-C | *:-S) return ;;
    esac
    if [ -z "$tool" ]; then
        COMPREPLY=($(compgen -W "run demo rping ucmatose udaddy mckey rdma_client rdma_server rdma_xclient rdma_xserver rstream riostream udpong rcopy cmtime ibv_rc_pingpong ibv_uc_pingpong ibv_ud_pingpong ibv_srq_pingpong ibv_xsrq_pingpong ib_send_lat ib_write_lat ib_read_lat ib_atomic_lat ib_send_bw ib_write_bw ib_read_bw ib_atomic_bw ibv_devices ibv_devinfo doctor sim $common --version --build --java-home --module-path" -- "$word"))
        return
    fi
    case $tool in
        rping) COMPREPLY=($(compgen -W "-s -c -a -I -p -C -S -v -V -d -P -q $common" -- "$word")) ;;
        ucmatose) COMPREPLY=($(compgen -W "-s -b -f -P -c -C -S -t -p -a -m $common" -- "$word")) ;;
        udaddy) COMPREPLY=($(compgen -W "-s -b -f -P -c -C -S -t -p $common" -- "$word")) ;;
        mckey) COMPREPLY=($(compgen -W "-m -M -s -b -c -C -S -p -o -l $common" -- "$word")) ;;
        rdma_client | rdma_server) COMPREPLY=($(compgen -W "-s -p $common" -- "$word")) ;;
        rdma_xclient) COMPREPLY=($(compgen -W "-s -p -c $common" -- "$word")) ;;
        rdma_xserver) COMPREPLY=($(compgen -W "-p -c $common" -- "$word")) ;;
        rstream) COMPREPLY=($(compgen -W "-s -b -f -B -i -I -C -S -p -k -T $common" -- "$word")) ;;
        riostream) COMPREPLY=($(compgen -W "-s -b -f -B -i -I -C -S -p -T $common" -- "$word")) ;;
        udpong) COMPREPLY=($(compgen -W "-s -b -B -C -S -p -T $common" -- "$word")) ;;
        rcopy) _rdma4j_files "$word"; COMPREPLY+=($(compgen -W "-p $common" -- "$word")) ;;
        cmtime) COMPREPLY=($(compgen -W "-B -b -C -c -L -m -n -P -p -q -r -S -t -s --classic $common" -- "$word")) ;;
        run)
            COMPREPLY=($(compgen -W "$run" -- "$word"))
            case $word in -*) ;; *) COMPREPLY+=($(compgen -c -- "$word")) ;; esac
            ;;
        demo) COMPREPLY=($(compgen -W "-a -C -S $common" -- "$word")) ;;
        ibv_rc_pingpong)
            COMPREPLY=($(compgen -W "-p -d -i -s -m -r -n -l -e -g -o -O -P -t -c -j -N $common" -- "$word")) ;;
        ibv_uc_pingpong)
            COMPREPLY=($(compgen -W "-p -d -i -s -m -r -n -l -e -g -c $common" -- "$word")) ;;
        ibv_ud_pingpong)
            COMPREPLY=($(compgen -W "-p -d -i -s -r -n -l -e -g -c $common" -- "$word")) ;;
        ibv_srq_pingpong)
            COMPREPLY=($(compgen -W "-p -d -i -s -m -q -r -n -l -e -g -o -c $common" -- "$word")) ;;
        ibv_xsrq_pingpong)
            COMPREPLY=($(compgen -W "-p -d -i -s -m -c -n -l -e -o -g $common" -- "$word")) ;;
        ib_*_lat)
            COMPREPLY=($(compgen -W "-n -D -f -c -R -z -p -d -i -x -X -m -T -u -S -F -V -h --source_ip --ipv6 --tclass --retry_count --mr_per_qp --dont_xchg_versions --wait_destroy --output -a -s -A -o -I -r -e -H -U --latency_gap $common" -- "$word")) ;;
        ib_*_bw)
            COMPREPLY=($(compgen -W "-n -D -f -c -R -z -p -d -i -x -X -m -T -u -S -F -V -h --source_ip --ipv6 --tclass --retry_count --mr_per_qp --dont_xchg_versions --wait_destroy --output -a -s -A -o -I -r -e -b -q -t -l -Q -N -w -y --perform_warm_up --run_infinitely --report_gbits --report-both $common" -- "$word")) ;;
        ibv_devinfo) COMPREPLY=($(compgen -W "-d -i -l -v $common" -- "$word")) ;;
        ibv_devices) COMPREPLY=($(compgen -W "$common" -- "$word")) ;;
        sim) COMPREPLY=($(compgen -W "--seed --runs --jobs --trace --json --help" -- "$word")) ;;
        doctor) COMPREPLY=($(compgen -W "$common" -- "$word")) ;;
    esac
}
complete -F _rdma4j rdma4j rping ucmatose udaddy mckey rdma_client rdma_server rdma_xclient rdma_xserver rstream riostream udpong rcopy cmtime ibv_rc_pingpong ibv_uc_pingpong ibv_ud_pingpong ibv_srq_pingpong ibv_xsrq_pingpong ib_send_lat ib_write_lat ib_read_lat ib_atomic_lat ib_send_bw ib_write_bw ib_read_bw ib_atomic_bw ibv_devices ibv_devinfo
