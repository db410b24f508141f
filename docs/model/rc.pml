/*
 * The window of a reliable connection: Requester and Completer on one side, Responder and ResponseQueue on the other, and a network
 * between them that loses, duplicates and reorders packets. PSNs are counted modulo 8, so a distance is from -4 to 3, computed like
 * Psn.distance with 24 bits. README.md maps the model to the code, and lists what is not modeled.
 *
 * Definitions (-D):
 *   WINDOW  packets that may be in flight
 *   LATE    maximum lateness: a packet may arrive until this number of packets after it are acknowledged; after that it is lost
 *   MIXED   messages are SENDs, atomics and READs of two packets; without it they are SENDs, and receives may be missing
 *   AT_MOST_ONCE, DELIVERED or PROGRESS: the property to check
 *
 * All sequences are relative to the oldest unacknowledged one, which is 0. The behavior does not depend on the absolute PSN, so the
 * PSNs can wrap around indefinitely with a finite number of states.
 */

#define HALF 4
#define DISTANCE(a, b) ((((a) - (b) + 5 * HALF) & 7) - HALF)

#define SEND   0
#define ATOMIC 1
#define READ   2 /* the first packet of a READ's response; the request for the whole READ has this sequence */
#define REST   3 /* the second packet; the request for the rest has this sequence */

#define MAX_READS 2

#ifdef AT_MOST_ONCE
#define ONCE(condition) assert(condition)
#else
#define ONCE(condition) skip
#endif
#ifdef DELIVERED
#define COMPLETED(condition) assert(condition)
#else
#define COMPLETED(condition) skip
#endif

/* The kinds of packets with the sequences from -LATE on. */
#ifdef MIXED
byte op[LATE + WINDOW + 2];
#define OP(s) op[LATE + (s)]
#else
#define OP(s) SEND
#endif
#define END(s) ((s) + 1 + (OP(s) == READ))

/* ---- Requester and SendWindow; unacked is 0 ---- */
byte cursor;
byte sentEnd;
byte readsInFlight;
bit wentBack;
bit isProbing;
bit waitsForReceiver;

/* ---- Responder and ResponseQueue ---- */
mtype = { NOTHING, ACK, NAK, RNR };
short expected;
short lastExecuted = -1;
bit nakSent;
mtype pending = NOTHING;
short refused;

/* ReadAtomicResources: the remembered requests, newest first. */
byte known;
short first[MAX_READS];
byte packets[MAX_READS];
bit isAnswering[MAX_READS];
short next[MAX_READS];     /* response packet to send next */
short answered[MAX_READS]; /* sequence after the newest response packet ever sent */

/* ---- The network: the responses that may arrive, by sequence from 0; older ones are always unexpected. The requests
 *      that may arrive need no state: all that were sent and are not too late. ---- */
byte acks;
byte naks;
byte rnrs;
byte responses;

#define HAS(set, i) (((set) >> (i)) & 1)
#define PUT(set, i) if :: (i) >= 0 -> set = (set) | (1 << (i)) :: else fi

/* ---- The good phase (calm): from some time on, nothing is lost, duplicated or late, and receives are posted. ---- */
bit calm;
byte toGo;     /* packets that were in flight at its start and are not yet acknowledged */
byte silences; /* timeouts since the last acknowledgement */

#define MOST_SILENCES 2

/* of the only process */
short s;
short reached;
short sequence;
short distance;
byte i;
bit all;

/* ------------------------------------------------------------------------------------------------ Requester */

inline rewind() {
    cursor = 0;
    readsInFlight = 0;
    isProbing = 0
}

inline goBackOnce() {
    if
    :: !wentBack && !waitsForReceiver ->
        wentBack = 1;
        if
        :: sentEnd > 0 -> rewind()
        :: else
        fi
    :: else
    fi
}

#define BACK(value, by, least) value = ((value) - (by) < (least) -> (least) : (value) - (by))

/* Acknowledges `by` more packets. */
inline advance(by) {
    isProbing = 0;
    wentBack = 0;
    waitsForReceiver = 0;
    if
    :: cursor < by -> cursor = 0; readsInFlight = 0
    :: else -> cursor = cursor - by
    fi;
    sentEnd = sentEnd - by;
    expected = expected - by;
    BACK(lastExecuted, by, -1);
    BACK(refused, by, -1);
    acks = acks >> by;
    naks = naks >> by;
    rnrs = rnrs >> by;
    responses = responses >> by;
#ifdef MIXED
    i = 0;
    do
    :: i + by < LATE + WINDOW + 2 -> op[i] = op[i + by]; i++
    :: i + by >= LATE + WINDOW + 2 && i < LATE + WINDOW + 2 -> op[i] = SEND; i++
    :: i == LATE + WINDOW + 2 -> break
    od;
    i = 0;
    do
    :: i < known ->
        first[i] = first[i] - by;
        next[i] = next[i] - by;
        answered[i] = answered[i] - by;
        if
        :: first[i] + packets[i] <= -LATE -> /* no request for it can arrive */
            known--;
            first[i] = 0; packets[i] = 0; isAnswering[i] = 0; next[i] = 0; answered[i] = 0
        :: else -> i++
        fi
    :: else -> break
    od;
    i = 0;
#endif
    silences = 0;
    if
    :: calm -> toGo = (toGo > by -> toGo - by : 0)
    :: else
    fi
}

/* Requester.acknowledge: up to the first READ or atomic; all: true if everything was acknowledged */
inline acknowledge(end) {
    reached = 0;
    do
    :: reached < end && OP(reached) == SEND ->
        COMPLETED(reached < expected); /* a SEND is complete: the peer has received it */
        reached++
    :: else -> break
    od;
    all = (reached >= end);
    if
    :: reached > 0 -> advance(reached)
    :: else
    fi;
    reached = 0
}

#define FITS(end) (cursor == 0 || (!isProbing && (end) <= WINDOW))
#define MAY_REPEAT (cursor < sentEnd && FITS(END(cursor)) && (OP(cursor) == SEND || readsInFlight < MAX_READS))
#define MAY_BEGIN(end) (cursor == sentEnd && FITS(end) && (end) <= WINDOW + 1)

/* Sends the packet at the cursor. Before the good phase it waits in the network for deliver. */
inline sendRequest() {
    s = cursor;
    if
    :: OP(s) != SEND -> readsInFlight++
    :: else
    fi;
    cursor = END(s);
    sentEnd = (cursor > sentEnd -> cursor : sentEnd);
    if
    :: calm ->
        if /* may request an acknowledgement; must at the end of the window, and in the first retransmitted packet */
        :: onRequest(1)
        :: s + 2 <= WINDOW && !(s == 0 && silences > 0) -> onRequest(0)
        fi
    :: else
    fi
}

inline onTimeout() {
    if
    :: calm ->
        silences++;
        assert(silences <= MOST_SILENCES)
    :: else
    fi;
    wentBack = 0;
    rewind()
}

/* ------------------------------------------------------------------------------------------------ Completer */

#define IS_UNEXPECTED (sequence < 0 || sequence >= sentEnd)

inline onAck(named) {
    sequence = DISTANCE(named, 0);
    if
    :: IS_UNEXPECTED
    :: else ->
        acknowledge(sequence + 1);
        if
        :: !all -> goBackOnce() /* implied NAK */
        :: else
        fi
    fi
}

inline onNak(named) {
    sequence = DISTANCE(named, 0);
    if
    :: IS_UNEXPECTED
    :: else ->
        acknowledge(sequence);
        goBackOnce()
    fi
}

inline onRnrNak(named) {
    sequence = DISTANCE(named, 0);
    if
    :: IS_UNEXPECTED
    :: else ->
        acknowledge(sequence);
        if
        :: !all -> goBackOnce()
        :: all && !waitsForReceiver -> rewind(); waitsForReceiver = 1
        :: else
        fi
    fi
}

/* READ data or the result of an atomic */
inline onResponse(named) {
    sequence = DISTANCE(named, 0);
    if
    :: IS_UNEXPECTED
    :: else ->
        acknowledge(sequence);
        if
        :: !all -> goBackOnce()
        :: else ->
            COMPLETED(sequence == named && OP(0) != SEND); /* the response belongs to this request */
            if
            :: OP(0) != READ && cursor > 0 -> readsInFlight = (readsInFlight > 0 -> readsInFlight - 1 : 0)
            :: else
            fi;
            advance(1)
        fi
    fi
}

/* ------------------------------------------------------------------------------------------------ Responder */

inline forgetOldest() {
    known--;
    first[known] = 0; packets[known] = 0; isAnswering[known] = 0; next[known] = 0; answered[known] = 0
}

inline executeReadOrAtomic() {
    if
    :: known == MAX_READS ->
        /* hasRoom: a peer that respects the depth is never refused */
        ONCE(!isAnswering[known - 1] || answered[known - 1] == first[known - 1] + packets[known - 1]);
        forgetOldest()
    :: else
    fi;
    i = known;
    do
    :: i > 0 ->
        first[i] = first[i - 1]; packets[i] = packets[i - 1]; isAnswering[i] = isAnswering[i - 1];
        next[i] = next[i - 1]; answered[i] = answered[i - 1];
        i--
    :: i == 0 -> break
    od;
    known++;
    first[0] = expected;
    packets[0] = END(s) - s;
    isAnswering[0] = 1;
    next[0] = expected;
    answered[0] = expected;
    expected = expected + packets[0];
    pending = NOTHING
}

inline execute(asks) {
    ONCE(s == expected); /* exactly this packet is expected, and it was not executed before */
    if
    :: OP(s) == SEND ->
        lastExecuted = expected;
        if
        :: asks || pending != NOTHING -> pending = ACK
        :: else
        fi;
        expected++
    :: else -> executeReadOrAtomic()
    fi;
    nakSent = 0
}

inline onDuplicate() {
    if
    :: OP(s) == SEND ->
        if
        :: pending == NOTHING -> pending = ACK
        :: else
        fi
    :: else ->
        i = 0;
        do
        :: i == known -> break
        :: i < known && expected + distance >= first[i] && expected + distance < first[i] + packets[i] ->
            ONCE(s == expected + distance); /* the repeated response is the requested one */
            if
            :: !isAnswering[i] || s <= next[i] -> isAnswering[i] = 1; next[i] = s
            :: else
            fi;
            break
        :: i < known && !(expected + distance >= first[i] && expected + distance < first[i] + packets[i]) -> i++
        od;
        i = 0
    fi
}

/* Packet s arrives. */
inline onRequest(asks) {
    distance = DISTANCE(s, expected);
    if
    :: distance < 0 -> onDuplicate()
    :: distance > 0 && !nakSent -> nakSent = 1; pending = NAK; refused = expected
    :: distance > 0 && nakSent
    :: distance == 0 -> execute(asks)
#ifndef MIXED
    :: distance == 0 && !calm -> nakSent = 1; pending = RNR; refused = expected /* no receive is posted */
#endif
    fi;
    distance = 0
}

/* ------------------------------------------------------------------------------------------------ ResponseQueue */

/* Sends the response of the oldest request that has one to send. */
inline sendResponse() {
    i = (known == 2 && isAnswering[1] -> 1 : 0);
    s = next[i];
    next[i] = s + 1;
    answered[i] = (next[i] > answered[i] -> next[i] : answered[i]);
    if
    :: next[i] == first[i] + packets[i] -> isAnswering[i] = 0; next[i] = first[i]
    :: else
    fi;
    i = 0;
    if
    :: calm -> onResponse(s)
    :: else -> PUT(responses, s)
    fi
}

inline sendAcknowledge() {
    if
    :: pending == ACK ->
        pending = NOTHING;
        s = lastExecuted;
        if
        :: calm -> onAck(s)
        :: else -> PUT(acks, s)
        fi
    :: pending == NAK ->
        pending = NOTHING;
        s = refused; refused = -1;
        if
        :: calm -> onNak(s)
        :: else -> PUT(naks, s)
        fi
    :: pending == RNR ->
        pending = NOTHING;
        s = refused; refused = -1;
        if
        :: calm -> onRnrNak(s)
        :: else -> PUT(rnrs, s)
        fi
    fi
}

/* ------------------------------------------------------------------------------------------------ the processes */

/* Delivers one of the packets that may arrive; it may arrive again. */
inline choose(set) {
    s = 0;
    do
    :: HAS(set, s) -> break
    :: (set >> (s + 1)) != 0 -> s++
    od
}

#define IS_ANSWERING (isAnswering[0] || isAnswering[1])
#define IS_QUIET (!IS_ANSWERING && pending == NOTHING)
#define CLEAN s = 0; sequence = 0; all = 0

active proctype connection() {
    do
    :: atomic { calm && toGo == 0 -> break }

    /* A request arrives. */
    :: atomic { !calm ->
            s = -LATE;
            do
            :: s < sentEnd && (OP(s) != REST || s <= 0) -> break
            :: s + 1 < sentEnd -> s++
            :: s + 1 >= sentEnd && (s >= sentEnd || OP(s) == REST && s > 0) -> s = 99; break
            od;
            if
            :: s == 99
            :: s != 99 -> onRequest(1)
            :: s != 99 -> onRequest(0)
            fi;
            CLEAN }

    /* A response arrives. */
    :: atomic { acks != 0 -> choose(acks); onAck(s); CLEAN }
    :: atomic { naks != 0 -> choose(naks); onNak(s); CLEAN }
    :: atomic { rnrs != 0 -> choose(rnrs); onRnrNak(s); CLEAN }
    :: atomic { responses != 0 -> choose(responses); onResponse(s); CLEAN }

    /* A response is sent: READ data and atomic results before the acknowledgement. */
    :: atomic { (!calm || toGo > 0) && IS_ANSWERING -> sendResponse(); CLEAN }
    :: atomic { (!calm || toGo > 0) && !IS_ANSWERING && pending != NOTHING -> sendAcknowledge(); CLEAN }

    /* A request is sent. In the good phase, responses are sent first. */
    :: atomic { !waitsForReceiver && MAY_REPEAT && (!calm || IS_QUIET && toGo > 0) -> sendRequest(); CLEAN }
    :: atomic { !waitsForReceiver && MAY_BEGIN(cursor + 1) && (!calm || IS_QUIET && toGo > 0) -> sendRequest(); CLEAN }
#ifdef MIXED
    :: atomic { !waitsForReceiver && MAY_BEGIN(cursor + 1) && !calm && readsInFlight < MAX_READS ->
            OP(cursor) = ATOMIC; sendRequest(); CLEAN }
    :: atomic { !waitsForReceiver && MAY_BEGIN(cursor + 2) && !calm && readsInFlight < MAX_READS ->
            OP(cursor) = READ; OP(cursor + 1) = REST; sendRequest(); CLEAN }
#endif

    /* A timer expires. In the good phase, only if nothing else can happen. */
    :: atomic { cursor > 0 && !calm -> onTimeout() }
    :: atomic { cursor > 0 && !calm && !waitsForReceiver -> rewind(); isProbing = 1 } /* probe */
    :: atomic { waitsForReceiver -> waitsForReceiver = 0 }
    :: atomic { cursor > 0 && calm && toGo > 0 && IS_QUIET && !waitsForReceiver && !MAY_REPEAT && !MAY_BEGIN(cursor + 1) ->
            onTimeout() }

#ifdef PROGRESS
    :: atomic { !calm -> calm = 1; toGo = sentEnd; acks = 0; naks = 0; rnrs = 0; responses = 0 }
#endif
    od
}
