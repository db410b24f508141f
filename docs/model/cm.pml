/*
 * The handshake of connection management with its time-wait: CmConnection, MessageHandler and RequestHandler of an active host,
 * which may crash and restart, and of a passive host, and a network between them that loses, duplicates and reorders messages.
 * README.md maps the model to the code, and lists what is not modeled.
 *
 * Definitions (-D): NUMBERS, AGREEMENT or PROGRESS, the property to check; NO_TIMEWAIT to release queue pair numbers immediately.
 */

#define ATTEMPTS 2 /* connections that the active host requests */
#define PASSIVES 2 /* connections of the passive host, which a late request can also create */
#define QUEUE_PAIRS 2

#ifdef NUMBERS
#define NUMBER(condition) assert(condition)
#else
#define NUMBER(condition) skip
#endif
#ifdef AGREEMENT
#define AGREED(condition) assert(condition)
#else
#define AGREED(condition) skip
#endif

mtype = { UNUSED, REQ_SENT, REP_SENT, ESTABLISHED, DREQ_SENT, TIMEWAIT, IDLE, CRASHED };

/* The index of a connection is its communication ID, which is never reused. */
mtype stateA[ATTEMPTS] = UNUSED;
mtype stateB[PASSIVES] = UNUSED;
byte peerOfA[ATTEMPTS]; /* 1 + the index of the peer's connection; 0 while unknown */
byte peerOfB[PASSIVES]; /* the same; known from the start */
byte qpA[ATTEMPTS];
byte qpB[PASSIVES];
byte begunA;
byte begunB;
byte crashes = 1;

/* The messages that may arrive: never, once or repeatedly. REJ and DREP arrive immediately or never, because the messages that
 * they reply to are repeated. Messages of a and b have bit a * PASSIVES + b. */
#define PAIR(a, b) (1 << ((a) * PASSIVES + (b)))
#define ALL_OF_B(b) (PAIR(0, b) | PAIR(1, b))
byte reqs; /* by a */
byte reps;
byte rtus;
byte dreqsToB;
byte dreqsToA;
byte data; /* packets of the connection, to the queue pair of b */

bit calm;

#define OPEN(state) ((state) == REQ_SENT || (state) == REP_SENT || (state) == ESTABLISHED || (state) == DREQ_SENT)
#define HOLDS_NUMBER(state) (OPEN(state) || (state) == TIMEWAIT)

byte a;
byte b;
byte q;

/* Removes all messages of a connection that are in flight, which the time-wait ensures. */
inline dieOut(mask) {
    reps = reps & ~(mask);
    rtus = rtus & ~(mask);
    dreqsToA = dreqsToA & ~(mask);
    dreqsToB = dreqsToB & ~(mask);
    data = data & ~(mask)
}

inline chooseA(condition) {
    a = 0;
    do
    :: a < ATTEMPTS && (condition) -> break
    :: a < ATTEMPTS -> a++
    :: a == ATTEMPTS -> break
    od
}

inline chooseB(condition) {
    b = 0;
    do
    :: b < PASSIVES && (condition) -> break
    :: b < PASSIVES -> b++
    :: b == PASSIVES -> break
    od
}

#define FREE_A(n) !(HOLDS_NUMBER(stateA[0]) && qpA[0] == (n)) && !(HOLDS_NUMBER(stateA[1]) && qpA[1] == (n))
#ifdef NO_TIMEWAIT
#define HOLDS_B(i, n) (OPEN(stateB[i]) && qpB[i] == (n))
#else
#define HOLDS_B(i, n) (HOLDS_NUMBER(stateB[i]) && qpB[i] == (n))
#endif
#define FREE_B(n) (!HOLDS_B(0, n) && !HOLDS_B(1, n))

/* RequestHandler.onReq */
inline onReq() {
    b = 0;
    do
    :: b < PASSIVES && HOLDS_NUMBER(stateB[b]) && peerOfB[b] == a + 1 -> break /* a duplicate */
    :: b < PASSIVES && !(HOLDS_NUMBER(stateB[b]) && peerOfB[b] == a + 1) -> b++
    :: b == PASSIVES -> break
    od;
    if
    :: b < PASSIVES ->
        if
        :: stateB[b] == REP_SENT -> reps = reps | PAIR(a, b)
        :: else
        fi
    :: else ->
        b = 0;
        do
        :: b < PASSIVES && OPEN(stateB[b]) && qpA[peerOfB[b] - 1] == qpA[a] -> break /* stale: the peer has restarted */
        :: b < PASSIVES && !(OPEN(stateB[b]) && qpA[peerOfB[b] - 1] == qpA[a]) -> b++
        :: b == PASSIVES -> break
        od;
        if
        :: b < PASSIVES ->
            if
            :: stateA[a] == REQ_SENT -> stateA[a] = TIMEWAIT /* REJ 10 */
            :: !calm || stateA[a] != REQ_SENT
            fi;
            if
            :: stateB[b] == ESTABLISHED -> stateB[b] = DREQ_SENT; dreqsToA = dreqsToA | PAIR(peerOfB[b] - 1, b)
            :: else
            fi
        :: else ->
            if
            :: begunB < PASSIVES && (FREE_B(0) || FREE_B(1)) ->
                b = begunB;
                begunB++;
                if
                :: FREE_B(0) -> q = 0
                :: FREE_B(1) -> q = 1
                fi;
                qpB[b] = q;
                q = 0;
                peerOfB[b] = a + 1;
                stateB[b] = REP_SENT;
                reps = reps | PAIR(a, b)
            :: else /* no number, or the end of the model: dropped, and requested again */
            fi
        fi
    fi
}

inline onRej() {
    if
    :: stateB[b] == REP_SENT -> stateB[b] = TIMEWAIT /* the connection is forgotten, but its number stays reserved */
    :: stateB[b] == ESTABLISHED || stateB[b] == DREQ_SENT -> stateB[b] = TIMEWAIT
    :: else
    fi
}

/* MessageHandler.onRep */
inline onRep() {
    if
    :: stateA[a] == REQ_SENT ->
        AGREED(peerOfB[b] == a + 1);
        stateA[a] = ESTABLISHED;
        peerOfA[a] = b + 1;
        rtus = rtus | PAIR(a, b)
    :: stateA[a] != REQ_SENT && peerOfA[a] == b + 1 && stateA[a] == ESTABLISHED -> rtus = rtus | PAIR(a, b)
    :: stateA[a] != REQ_SENT && HOLDS_NUMBER(stateA[a]) && peerOfA[a] == b + 1 && stateA[a] != ESTABLISHED
    :: stateA[a] != REQ_SENT && !(HOLDS_NUMBER(stateA[a]) && peerOfA[a] == b + 1) -> onRej() /* REJ 6 */
    :: stateA[a] != REQ_SENT && !(HOLDS_NUMBER(stateA[a]) && peerOfA[a] == b + 1) && !calm
    fi
}

inline onRtu() {
    if
    :: stateB[b] == REP_SENT ->
        /* the other end was established with this one, regardless of its current state */
        AGREED(peerOfB[b] == a + 1 && (stateA[a] == CRASHED || peerOfA[a] == b + 1));
        stateB[b] = ESTABLISHED
    :: else
    fi
}

#define END_A if :: OPEN(stateA[a]) -> stateA[a] = TIMEWAIT :: else fi
#define END_B if :: OPEN(stateB[b]) -> stateB[b] = TIMEWAIT :: else fi

/* A packet of the data arrives at the queue pair with the number that it names. */
inline onData() {
    q = 0;
    do
    :: q < PASSIVES ->
        if
        :: OPEN(stateB[q]) && qpB[q] == qpB[b] ->
            NUMBER(q == b); /* a packet of an old connection reaches no other connection */
            if
            :: q == b && stateB[b] == REP_SENT -> stateB[b] = ESTABLISHED /* notifyCommunicationEstablished */
            :: else
            fi
        :: else
        fi;
        q++
    :: q == PASSIVES -> break
    od;
    q = 0
}

#define CLEAN a = 0; b = 0
#define PICK(set) \
    a = 0; b = 0; \
    do \
    :: (set) & PAIR(a, b) -> break \
    :: (set) >= (PAIR(a, b) << 1) && b + 1 < PASSIVES -> b++ \
    :: (set) >= (PAIR(a, b) << 1) && b + 1 == PASSIVES -> b = 0; a++ \
    od
#define USED(set) if :: calm -> set = set & ~PAIR(a, b) :: else fi
#define IS_SILENT ((reqs | reps | rtus | dreqsToA | dreqsToB) == 0)

#ifdef PROGRESS
#define TRIES 3
byte tries; /* in the good phase: rounds of repetitions and ends */
#define ANY_TIMEWAIT (stateA[0] == TIMEWAIT || stateA[1] == TIMEWAIT || stateB[0] == TIMEWAIT || stateB[1] == TIMEWAIT)
#define SETTLED(s) ((s) == UNUSED || (s) == IDLE || (s) == CRASHED)
#endif

active proctype hosts() {
    do
    /* ---- the active host's application ---- */
    :: atomic { !calm && begunA < ATTEMPTS && (FREE_A(0) || FREE_A(1)) ->
            a = begunA;
            begunA++;
            if
            :: FREE_A(0) -> qpA[a] = 0
            :: FREE_A(1) -> qpA[a] = 1
            fi;
            stateA[a] = REQ_SENT;
            reqs = reqs | (1 << a);
            CLEAN }
    :: atomic { !calm -> chooseA(stateA[a] == ESTABLISHED);
            if
            :: a < ATTEMPTS && stateA[a] == ESTABLISHED -> stateA[a] = DREQ_SENT; dreqsToB = dreqsToB | PAIR(a, peerOfA[a] - 1)
            :: a < ATTEMPTS && stateA[a] == ESTABLISHED && stateB[peerOfA[a] - 1] != IDLE -> data = data | PAIR(a, peerOfA[a] - 1)
            :: else
            fi;
            CLEAN }
    :: atomic { !calm -> chooseB(stateB[b] == ESTABLISHED);
            if
            :: b < PASSIVES && stateB[b] == ESTABLISHED -> stateB[b] = DREQ_SENT; dreqsToA = dreqsToA | PAIR(peerOfB[b] - 1, b)
            :: else
            fi;
            CLEAN }

    /* ---- messages arrive ---- */
    :: atomic { reqs != 0 ->
            if
            :: reqs & 1 -> a = 0
            :: reqs & 2 -> a = 1
            fi;
            if
            :: calm -> reqs = reqs & ~(1 << a)
            :: else
            fi;
            onReq(); CLEAN }
    :: atomic { reps != 0 -> PICK(reps); USED(reps); onRep(); CLEAN }
    :: atomic { rtus != 0 -> PICK(rtus); USED(rtus); onRtu(); CLEAN }
    :: atomic { dreqsToB != 0 -> PICK(dreqsToB); USED(dreqsToB); END_B;
            if
            :: stateA[a] == DREQ_SENT && peerOfA[a] == b + 1 -> stateA[a] = TIMEWAIT /* DREP */
            :: !calm || stateA[a] != DREQ_SENT || peerOfA[a] != b + 1
            fi;
            CLEAN }
    :: atomic { dreqsToA != 0 -> PICK(dreqsToA); USED(dreqsToA);
            if
            :: peerOfA[a] == b + 1 -> END_A
            :: else
            fi;
            if
            :: stateB[b] == DREQ_SENT -> stateB[b] = TIMEWAIT /* DREP */
            :: !calm || stateB[b] != DREQ_SENT
            fi;
            CLEAN }
    :: atomic { data != 0 && !calm -> PICK(data); onData(); CLEAN }

    /* ---- no answer arrives ---- */
    :: atomic { !calm -> chooseA(stateA[a] == REQ_SENT || stateA[a] == DREQ_SENT);
            if
            :: a < ATTEMPTS && (stateA[a] == REQ_SENT || stateA[a] == DREQ_SENT) -> stateA[a] = TIMEWAIT
            :: else
            fi;
            CLEAN }
    :: atomic { !calm -> chooseB(stateB[b] == REP_SENT || stateB[b] == DREQ_SENT);
            if
            :: b < PASSIVES && (stateB[b] == REP_SENT || stateB[b] == DREQ_SENT) -> stateB[b] = TIMEWAIT
            :: else
            fi;
            CLEAN }

    /* ---- a time-wait ends: no message of the connection is in flight ---- */
    :: atomic { stateA[0] == TIMEWAIT || stateA[1] == TIMEWAIT ->
            if
            :: stateA[0] == TIMEWAIT -> a = 0
            :: stateA[1] == TIMEWAIT -> a = 1
            fi;
            stateA[a] = IDLE;
            reqs = reqs & ~(1 << a);
            CLEAN }
    :: atomic { stateB[0] == TIMEWAIT || stateB[1] == TIMEWAIT ->
            if
            :: stateB[0] == TIMEWAIT -> b = 0
            :: stateB[1] == TIMEWAIT -> b = 1
            fi;
            /* Nor can its peer still be sending after this time: a peer without an answer has used up its retries. */
            stateB[b] = IDLE;
            dieOut(ALL_OF_B(b));
            CLEAN }

    /* ---- a host crashes and restarts ---- */
    :: atomic { !calm && crashes > 0 ->
            crashes--;
            if
            :: stateA[0] != UNUSED -> stateA[0] = CRASHED
            :: else
            fi;
            if
            :: stateA[1] != UNUSED -> stateA[1] = CRASHED
            :: else
            fi }

#ifdef PROGRESS
    /* ---- the good phase: messages in flight are lost; after that, everything arrives ---- */
    :: atomic { !calm -> calm = 1; reqs = 0; reps = 0; rtus = 0; dreqsToA = 0; dreqsToB = 0; data = 0 }
    /* all unanswered messages are repeated, for the last time when the time-waits are over; a host that alone is established
     * detects this when it ends the connection */
    :: atomic { calm && IS_SILENT && tries < TRIES && (tries < TRIES - 1 || !ANY_TIMEWAIT) ->
            tries++;
            a = 0;
            do
            :: a < ATTEMPTS ->
                if
                :: stateA[a] == REQ_SENT -> reqs = reqs | (1 << a)
                :: stateA[a] == DREQ_SENT -> dreqsToB = dreqsToB | PAIR(a, peerOfA[a] - 1)
                :: stateA[a] == ESTABLISHED && stateB[peerOfA[a] - 1] != ESTABLISHED && stateB[peerOfA[a] - 1] != REP_SENT ->
                    stateA[a] = DREQ_SENT; dreqsToB = dreqsToB | PAIR(a, peerOfA[a] - 1)
                :: else
                fi;
                a++
            :: a == ATTEMPTS -> break
            od;
            b = 0;
            do
            :: b < PASSIVES ->
                if
                :: stateB[b] == REP_SENT -> reps = reps | PAIR(peerOfB[b] - 1, b)
                :: stateB[b] == DREQ_SENT -> dreqsToA = dreqsToA | PAIR(peerOfB[b] - 1, b)
                :: stateB[b] == ESTABLISHED && stateA[peerOfB[b] - 1] != ESTABLISHED ->
                    stateB[b] = DREQ_SENT; dreqsToA = dreqsToA | PAIR(peerOfB[b] - 1, b)
                :: else
                fi;
                b++
            :: b == PASSIVES -> break
            od;
            CLEAN }
    :: atomic { calm && IS_SILENT && tries == TRIES && !ANY_TIMEWAIT ->
            a = 0;
            do
            :: a < ATTEMPTS ->
                assert(SETTLED(stateA[a]) || stateA[a] == ESTABLISHED && stateB[peerOfA[a] - 1] == ESTABLISHED
                    || stateA[a] == REQ_SENT && begunB == PASSIVES);
                a++
            :: a == ATTEMPTS -> break
            od;
            b = 0;
            do
            :: b < PASSIVES ->
                assert(SETTLED(stateB[b]) || stateB[b] == ESTABLISHED && stateA[peerOfB[b] - 1] == ESTABLISHED);
                b++
            :: b == PASSIVES -> break
            od;
            break }
#endif
    od
}
