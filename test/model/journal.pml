/*
 * The protocol of the journal (docs/journal.md) for ONE submission: one record, one Idempotency-Key.
 * `npm run test:model` lets Spin visit every order of steps that windows, service, disk and clock can take.
 * R1, R2 ... are the rules of docs/journal.md. Several submissions of the same bytes (R13) are in
 * duplicates.pml.
 *
 * Modeled: 2 or 3 windows WITHOUT ANY LOCK. Each may do everything at any time, may stop for any time between
 * two steps, and may be killed at each. Requests and answers get lost or arrive late. The service prices
 * late, refuses, refuses repeats, answers a repeat with the first run, lists a run late, and forgets an
 * Idempotency-Key after a day. The highest version gets damaged, the storage is set back, and the API key is
 * replaced.
 * Not modeled: wrong clocks, a run without marker or whose label isn't read, the balance, Retry-After, a full
 * disk, R12, and how a version is written: `append` is one step here.
 *
 * A version of the record is the file <id>.<n>.json, created exclusively. That creation is the
 * compare-and-set, so a window needs no copy of the record: current[w] says whether the version that it read
 * last is still the highest. `hi` is that highest version.
 *
 * What must hold, as assertions:
 *   P1  charges<=1               there is at most one charge
 *   P2  !LIE                     a record that says "not charged" isn't charged, and can't be any more
 *   P3  hi.stage!=CHARGED, or    a known charge is never replaced, and never dropped
 *       hi.stage==CHARGED
 *   P4  !unlooked                between two boundaries there was an answered look
 *   P5  !DANGER                  what a window says of its own attempt, "not charged", is true
 *
 * Sizes: -DNW=2|3 windows, -DMAXA=n attempts; -DPRICE, -DBETWEEN and -DLAG are ticks of the clock, see below.
 * Faults, none without its flag:
 *   -DDAYS      the clock also goes on to 23 and to 24 hours
 *   -DNETMAX=1  the last bytes may be in the network for a tick
 *   -DTOCTOU    a window may stop between its last look at the folder and the boundary
 *   -DDMG=n     the highest version gets damaged, n times
 *   -DCLEAN=1   clean-up empties lower versions, and their names stay
 *               2: it removes them, so that their names are free again
 *   -DRB=1      the storage is set back once, while nothing is priced. 2: at any time
 *   -DKEYS=1    the API key may be replaced at any time, even by one of another account
 *               2: as well, with a stricter R10: the record has its key from its creation, and is withdrawn
 *               only after a look with that key
 * -DNOP2 and -DNOP4 don't assert P2 and P4. -DSTRICT is a stricter R6, which the project doesn't have: only
 * the process that created a record says "not charged" by what it knows itself. All others need two checks.
 *
 * A rule is removed, and the run must fail:
 *   M_CAS         R1   a version may replace one that another window wrote
 *   M_CLAIMCUR    R1   a window that was overtaken still says "not charged" of what it read
 *   M_RELIST      R1   after its creation a window doesn't look for higher versions, though names are freed
 *   M_CLOSEMARK   R2   the boundary is sent without a durable `closing`
 *   M_RECHECK     R2   nobody looks whether the next name is still free right before the boundary
 *   M_SLOW        R2   the boundary may follow more than a minute after `closing`
 *   M_LOOKFIRST   R3   who continues looks, and then claims
 *   M_NOLOOK      R3   who continues doesn't look
 *   M_CLAIMEND    R3   a check writes the end of an attempt with its result, not before it looks
 *   M_RELOOK      R4   a window that sends again doesn't look before
 *   M_OTHERLOOK   R4   a look with another API key than the record's counts as answered
 *   M_WORD        R5   who continues says "not charged" before a look was answered
 *   M_NC          R6   a refusal counts, although an earlier boundary may have been sent
 *   M_15MIN       R7   checks count before the time for pricing has passed
 *   M_2CHECKS     R7   one check is enough
 *   M_STALEREF    R8   a refusal is written on top of another window's version
 *   M_CHARGE      R9   a window that was overtaken gives up a known charge
 *   M_23H         R10  the boundary may be sent after 23 hours
 *   M_KEY         R10  the boundary may be sent with another API key than the record's
 *   M_WITHDRAW    R10  a record is withdrawn although a boundary may have been sent
 *   M_DAMAGE      R11  a damaged highest version is ignored
 */
#ifndef NW
#define NW 2
#endif
#ifndef MAXA
#define MAXA 2
#endif
#ifndef PRICE
#define PRICE 2         /* What arrived is priced within so many ticks (R7's 15 minutes). */
#endif
#ifndef BETWEEN
#define BETWEEN 2       /* Ticks between two checks (R7's 2 minutes). */
#endif
#ifndef LAG
#define LAG 1           /* A run is listed within so many ticks. */
#endif
#ifndef DMG
#define DMG 0
#endif
#ifndef CLEAN
#define CLEAN 0
#endif
#ifndef RB
#define RB 0
#endif
#ifndef NETMAX
#define NETMAX 0
#endif
#ifndef KEYS
#define KEYS 0
#endif

/* ---------------------------------------- the record ---------------------------------------- */
/* stage. OPEN is any of draft, begun, closing, lost and cleared: the other fields tell them apart. */
#define OPEN 0
#define REFUSED 1       /* by the service; the user may continue it as a new submission */
#define NOT_CHARGED 2   /* also "withdrawn": both may be submitted again without a question */
#define DISCARDED 3     /* it may be charged */
#define CHARGED 4
/* checks */
#define NONE 0
#define FIRST 1         /* one complete check that found nothing */
#define TWO 2           /* two of them: cleared */

typedef Rec {
  unsigned stage : 3;
  unsigned sent : 3;    /* attempts whose boundary may have been sent */
  bit unended;          /* the last of them has no end yet */
  unsigned checks : 2;
  unsigned age : 3;     /* ticks since that attempt closed, or ended, up to PRICE */
  unsigned checkAge : 2 /* ticks since the first check, up to BETWEEN */
#if KEYS>0
  ; unsigned key : 2    /* 0 no attempt yet, 1 or 2 the API key of the attempts, 3 unknown: damaged */
#endif
};
Rec hi; bit exists;     /* the highest version */
#if DMG>0
Rec lo; bit loExists;   /* the next lower one that can be read */
bit damaged;            /* the highest version can't be read; hi is what it was */
byte damages;
#endif
#if RB>0
Rec saved; bit isSaved; bit wasRestored;        /* a snapshot of the storage */
#endif
byte phase;             /* since the record was created: 0 less than 23 h, 1 less than 24 h, 2 more */
byte attempts;          /* the record doesn't count them; this bounds the model */

/* ---------------------------------------- the windows ---------------------------------------- */
byte pc[NW];            /* what the window does next */
byte current[NW];       /* of what it read last: 0 the next name is taken, 1 it is the highest version,
                           2 the next name was taken, and is free again */
byte how[NW];           /* how its attempt ended */
bit left[NW];           /* that attempt had sent its boundary */
bit mustLook[NW];       /* nothing is sent or said before a look was answered */
bit late[NW];           /* more than a minute passed since its `closing` */
bit foreign[NW];        /* another process created the record */
bit isOld[NW];          /* its check came when nothing could be priced any more */
bit isSecond[NW];       /* its check came long enough after the first one */
byte readAge[NW];       /* ticks since its check read the list */
byte newStage[NW];      /* the stage that it will write when it discards */
byte request[NW];       /* 0 none, 1 in the network, 2 being priced, 3 answered 201, 4 refused,
                           5 without an answer */
#if NETMAX>0
byte netAge[NW];        /* ticks that its last bytes are in the network */
#endif

/* pc */
#define IDLE 0
#define START 1         /* before an attempt */
#define LOOK 2
#define UPLOAD 3
#define CLOSE 4         /* writes `closing` */
#define SEND 5          /* looks at the folder, then sends the boundary */
#define SEND2 6         /* between these two, with TOCTOU */
#define WAIT 7          /* for the answer */
#define ENDED 8         /* writes the end of its attempt */
#define NEXT 9          /* after an attempt */
#define CHECK 10        /* reads the list of runs */
#define CHECKED 11      /* writes what it found */
#define DISCARD_LOOK 12
#define DISCARD 13
#define CHARGE_READ 14  /* knows of a charge, reads the highest version */
#define CHARGE 15       /* writes the charge */
#define LOST 16         /* was overtaken */
#define LOOK2 17        /* with M_LOOKFIRST */
#define WITHDRAW_LOOK 18
/* how */
#define BY_ERROR 1
#define BY_CANCEL 2
#define BY_REFUSAL 3
#define BY_LATER_REFUSAL 4      /* refused, but an earlier boundary may have been sent */

/* ---------------------------------------- the service ---------------------------------------- */
byte orphans;           /* complete requests in the network whose window doesn't wait any more */
byte pricing;           /* uploads that are being priced: at most 2 */
byte priceAge; byte priceAge2;          /* since when, in ticks */
#if KEYS>0
byte known[2];          /* as below, for each API key */
byte keyPhase[2];
#else
byte known;             /* of the Idempotency-Key, at the service: 0 nothing, 1 being priced, 2 charged */
byte keyPhase;          /* since then: 0 less than 23 h, 1 less than 24 h, 2 it may have forgotten it */
#endif
byte charges;
byte runAge;            /* ticks since the charge, up to LAG */
bit unlooked;           /* a boundary was sent, and no answered look followed: for P4 */

/* ---------------------------------------- the API key ---------------------------------------- */
/* There are two. The service knows an Idempotency-Key only together with the API key that it came with. In
   the worst case they belong to two accounts, and a look with one doesn't show the run of the other. If they
   belong to one account, it does. */
#if KEYS>0
bit key;                /* the key that is entered now */
bit requestKey[NW];     /* the key of the request of a window */
byte orphans1;          /* those of `orphans` with key 1 */
bit pricingKey; bit pricingKey2; bit chargeKey;
#define listed (charges>0 && runAge>=LAG && chargeKey==key)
#define COPY_KEY(x,y) ; x.key=y.key
#define CLEAR_KEY(x) ; x.key=0
#define LOSE_KEY if :: hi.key==0 -> hi.key=3 :: else fi;
#define BIND_KEY if :: hi.key==0 -> hi.key=1+key :: else fi;
#define TAKE_KEY(w) requestKey[w]=key;
#define FORGET_KEY(w) requestKey[w]=0;
#define ORPHAN_KEY(w) ; orphans1=orphans1+requestKey[w]
#define KNOWN known[k]
#define KEY_PHASE keyPhase[k]
#define PRICING_KEY ; pricingKey=k
#define PRICING_KEY2 ; pricingKey2=k
#define SAME_KEY(w) && requestKey[w]==k
#if KEYS==2
#define CREATE_KEY hi.key=1+key;
#else
#define CREATE_KEY
#endif
#ifdef M_KEY
#define KEY_FITS
#else
#define KEY_FITS && hi.key==1+key
#endif
#ifdef M_OTHERLOOK
#define ANSWERED
#else
/* A look with another key than the record's counts as unanswered. */
#define ANSWERED && (hi.key==0 || hi.key==1+key)
#endif
/* Before Discard, only if a boundary may have been sent. */
#if KEYS==2
#define DISCARD_ANSWERED ANSWERED
#else
#define DISCARD_ANSWERED && (hi.sent==0 || (true ANSWERED))
#endif
#else
#define listed (charges>0 && runAge>=LAG)
#define COPY_KEY(x,y)
#define CLEAR_KEY(x)
#define LOSE_KEY
#define BIND_KEY
#define TAKE_KEY(w)
#define FORGET_KEY(w)
#define ORPHAN_KEY(w)
#define KNOWN known
#define KEY_PHASE keyPhase
#define PRICING_KEY
#define PRICING_KEY2
#define SAME_KEY(w)
#define CREATE_KEY
#define KEY_FITS
#define ANSWERED
#define DISCARD_ANSWERED
#endif

/* ---------------------------------------- shorthand ---------------------------------------- */
#define COPY(x,y) x.stage=y.stage; x.sent=y.sent; x.unended=y.unended; x.checks=y.checks; \
  x.age=y.age; x.checkAge=y.checkAge COPY_KEY(x,y)
#define CLEAR(x) x.stage=0; x.sent=0; x.unended=0; x.checks=0; x.age=0; x.checkAge=0 CLEAR_KEY(x)
/* Ages that mean nothing are 0, so that equal records are equal states. */
#define TIDY(x) if :: x.sent==0 -> x.age=0 :: else fi; if :: x.checks!=FIRST -> x.checkAge=0 :: else fi
#if NW==3
#define ANY_REQUEST(v) (request[0]==v || request[1]==v || request[2]==v)
#define ALL_IDLE (pc[0]==IDLE && pc[1]==IDLE && pc[2]==IDLE)
#else
#define ANY_REQUEST(v) (request[0]==v || request[1]==v)
#define ALL_IDLE (pc[0]==IDLE && pc[1]==IDLE)
#endif
#if RB==1
#define MAY_RESTORE (pricing==0 && orphans==0 && (charges==0 || runAge>=LAG))
#else
#define MAY_RESTORE true
#endif
/* Charged, or can still be. */
#define DANGER (charges>0 || pricing>0 || orphans>0 || ANY_REQUEST(1) || ANY_REQUEST(2))
/* What the stored record says. After a rollback "nothing was sent" can be wrong of an open record without a
   boundary, so a window says it only after a look (P5). */
#define SAYS_NOT (hi.stage==NOT_CHARGED || hi.stage==REFUSED || \
  (hi.stage==OPEN && RB==0 && (hi.sent==0 || (hi.checks==TWO))))
#if DMG>0
#define LIE (exists && !damaged && SAYS_NOT && DANGER)
#else
#define LIE (exists && SAYS_NOT && DANGER)
#endif
/* A window says "not charged" of what it did itself. */
#if RB==2 && !defined(STRICT)
#define SAY_NOT skip
#else
#define SAY_NOT assert(!DANGER)                                 /* P5 */
#endif
#ifdef NOP4
#define P4 skip
#else
#define P4 assert(!unlooked)
#endif
#ifdef M_23H
#define IN_TIME true
#else
#define IN_TIME (phase==0)
#endif
#ifdef M_SLOW
#define SOON(w) true
#else
#define SOON(w) !late[w]
#endif
#ifdef STRICT
#define KNOWS(w) (!foreign[w])
#define UNSEEN DISCARDED
#else
#define KNOWS(w) true
#define UNSEEN NOT_CHARGED      /* what is discarded after an answered look that found nothing */
#endif
#ifdef M_RELIST
bit believes[NW];       /* it believes to own the highest version */
#define DISBELIEVE(w) believes[w]=0
#define IS_HIGHEST(w) (current[w]==1 || believes[w])
#else
#define DISBELIEVE(w) skip
#define IS_HIGHEST(w) (current[w]==1)
#endif
#ifdef M_CLAIMCUR
bit nothingRead[NW];    /* what it read last has no boundary */
#define NOTE_READ(w) nothingRead[w]=(hi.sent==0)
#define MAY_SAY(w) true
#define SAY(w) if :: IS_HIGHEST(w) -> SAY_NOT; leave(w) \
  :: !IS_HIGHEST(w) && nothingRead[w] -> SAY_NOT; leave(w) :: else -> pc[w]=LOST fi
#else
#define NOTE_READ(w) skip
#ifdef M_WORD
#define MAY_SAY(w) KNOWS(w) && hi.sent==0
#else
#define MAY_SAY(w) !mustLook[w] && KNOWS(w) && hi.sent==0
#endif
#define SAY(w) if :: IS_HIGHEST(w) -> SAY_NOT; leave(w) :: else -> pc[w]=LOST fi
#endif

/* Forgets everything, as a process that ends. */
inline leave(w) {
  current[w]=0; how[w]=0; left[w]=0; mustLook[w]=0; late[w]=0; foreign[w]=0; isOld[w]=0; isSecond[w]=0;
  readAge[w]=0; newStage[w]=0; DISBELIEVE(w); FORGET_KEY(w) pc[w]=IDLE }

/* A window that read version n creates n+1. ok: 1 it did, and now fills in hi; 0 it was overtaken; 2 see
   M_RELIST. For all others the next name is taken from now on. */
inline append(w) {
#ifdef M_CAS
  ok=1;                                 /* like a rename onto the file */
#else
  ok=(current[w]==1);
#endif
  if
  :: ok -> assert(pc[w]==CHARGE || hi.stage!=CHARGED);          /* P3 */
#if DMG>0
     if :: !damaged -> COPY(lo,hi); loExists=1 :: else fi; damaged=0;
#endif
     for (i : 0 .. NW-1) { if :: current[i]==1 -> current[i]=0 :: else fi }; current[w]=1
#if CLEAN==2
  :: !ok && current[w]==2 ->            /* The name is free again, far below the highest version. */
#if DMG>0
     if :: CLEAR(lo) :: CLEAR(lo); lo.stage=NOT_CHARGED :: CLEAR(lo); lo.stage=REFUSED fi; loExists=1;
#endif
#ifdef M_RELIST
     ok=2; believes[w]=1                /* It acts, and changes nothing that others see. */
#else
     skip                               /* It lists the folder again, and sees the higher version. */
#endif
#endif
  :: else -> skip
  fi; i=0 }

/* Reads the highest version. A damaged one counts as a boundary that may have been sent, on top of the next
   lower one (R11). Who acts on the record writes that first, so it becomes the highest version here. */
#if DMG>0
inline repair() {
#ifndef M_DAMAGE
  if
  :: lo.stage==OPEN || lo.stage==REFUSED ->
     COPY(hi,lo); hi.stage=OPEN; hi.sent++; hi.unended=1; hi.age=0; LOSE_KEY hi.checks=NONE; hi.checkAge=0
  :: lo.stage==NOT_CHARGED || lo.stage==DISCARDED ->
     COPY(hi,lo); hi.stage=OPEN; if :: hi.sent==0 -> hi.sent=1 :: else fi;
     hi.unended=1; hi.age=0; LOSE_KEY hi.checks=NONE; hi.checkAge=0
  :: else -> COPY(hi,lo)
  fi;
#else
  COPY(hi,lo);
#endif
  damaged=0; for (i : 0 .. NW-1) { if :: current[i]==1 -> current[i]=0 :: else fi }; i=0 }
#define READ(w) if :: damaged && loExists -> repair() :: else fi; current[w]=1
#define READABLE (!damaged || loExists)
#else
#define READ(w) current[w]=1
#define READABLE true
#endif

/* A claim: a durable version says that this window does the next attempt, and that the last one has ended. */
#define CLAIMED attempts++; BIND_KEY if :: hi.unended -> hi.unended=0; hi.age=0 :: else fi;
#ifdef M_LOOKFIRST
#define CLAIM(w) if :: mustLook[w] -> how[w]=0; pc[w]=LOOK \
  :: else -> append(w); if :: ok -> CLAIMED pc[w]=UPLOAD :: else -> pc[w]=LOST fi fi
#define AFTER_LOOK LOOK2
#else
#define CLAIM(w) append(w); if :: ok==1 -> CLAIMED pc[w]=(mustLook[w] -> LOOK : UPLOAD) \
  :: ok==2 -> attempts++; pc[w]=UPLOAD :: ok==0 -> pc[w]=LOST fi
#define AFTER_LOOK UPLOAD
#endif
/* The boundary didn't leave: one more version says so. */
#define NOT_SENT hi.sent--; hi.unended=0; TIDY(hi); late[w]=0
#define BOUNDARY P4; unlooked=1; request[w]=1; late[w]=0; pc[w]=WAIT

proctype Win(byte w) {
  byte i; byte ok;
  do
  /* -------------------- the user -------------------- */
  :: atomic { pc[w]==IDLE && !exists && w==0 ->                 /* submits: its own record, no look */
       exists=1; current[w]=1; CREATE_KEY NOTE_READ(w); pc[w]=START }
  :: atomic { pc[w]==IDLE && exists && READABLE -> READ(w);
       if
       :: hi.stage==OPEN -> NOTE_READ(w); foreign[w]=1;         /* continues it, in whatever process */
#ifndef M_NOLOOK
          mustLook[w]=1;
#endif
          pc[w]=START
       :: hi.stage==OPEN && hi.sent>0 && hi.checks!=TWO ->      /* checks it: claim, then look */
#ifndef M_CLAIMEND
          if :: hi.unended -> append(w); hi.unended=0; hi.age=0; TIDY(hi) :: else -> skip fi;
#endif
          pc[w]=CHECK
       :: hi.stage==OPEN && hi.sent==0 -> pc[w]=DISCARD_LOOK    /* discards it, after a look */
       :: hi.stage==OPEN && hi.sent>0 -> newStage[w]=(hi.checks==TWO -> NOT_CHARGED : DISCARDED);
          if :: hi.checks==TWO && RB>0 -> pc[w]=DISCARD_LOOK :: else -> pc[w]=DISCARD fi
       :: hi.stage==REFUSED -> newStage[w]=NOT_CHARGED; pc[w]=DISCARD   /* or submits it anew */
#if KEYS>0
#ifdef M_WITHDRAW
       :: hi.stage==OPEN && hi.key!=0 && (hi.key!=1+key || !IN_TIME) -> pc[w]=WITHDRAW_LOOK
#else
       :: hi.stage==OPEN && hi.sent==0 && hi.key!=0 && (hi.key!=1+key || !IN_TIME) -> pc[w]=WITHDRAW_LOOK
#endif
#endif
       :: hi.stage!=CHARGED && charges>0 -> pc[w]=CHARGE_READ   /* its marker is seen in a list of runs */
       :: hi.stage==CHARGED -> current[w]=0
       :: true -> current[w]=0
       fi }
  /* -------------------- an attempt -------------------- */
  :: atomic { pc[w]==START ->
       if
       :: mustLook[w] || !KNOWS(w) -> leave(w)                  /* stopped before the look: no word */
       :: !mustLook[w] && KNOWS(w) && IS_HIGHEST(w) && hi.sent==0 ->                            /* canceled */
          append(w); if :: ok==1 -> hi.stage=NOT_CHARGED; TIDY(hi); leave(w) :: else -> pc[w]=LOST fi
       :: MAY_SAY(w) -> SAY(w)                                  /* stopped and kept: "not charged" */
       :: hi.sent>0 -> leave(w)                                 /* stopped: "may be charged" */
       :: attempts<MAXA && IN_TIME -> CLAIM(w)
       fi }
  :: atomic { pc[w]==LOOK ->                                    /* after the claim */
       if
       :: true -> how[w]=BY_ERROR; pc[w]=ENDED                  /* unanswered: nothing is sent */
       :: charges>0 -> pc[w]=CHARGE_READ
       :: !listed ANSWERED -> unlooked=0; mustLook[w]=0; pc[w]=AFTER_LOOK
       fi }
#ifdef M_LOOKFIRST
  :: atomic { pc[w]==LOOK2 -> append(w); if :: ok -> CLAIMED pc[w]=UPLOAD :: else -> pc[w]=LOST fi }
#endif
  :: atomic { pc[w]==UPLOAD ->
       if
       :: how[w]=BY_ERROR; pc[w]=ENDED
       :: how[w]=BY_CANCEL; pc[w]=ENDED
       :: how[w]=BY_REFUSAL; pc[w]=ENDED
       :: IN_TIME KEY_FITS -> TAKE_KEY(w) pc[w]=CLOSE
       fi }
  :: atomic { pc[w]==CLOSE ->                                   /* the point of no return */
#ifdef M_CLOSEMARK
       pc[w]=SEND
#else
       append(w);
       if
       :: ok==1 -> hi.sent++; hi.unended=1; hi.age=0; hi.checks=NONE; TIDY(hi); late[w]=0; pc[w]=SEND
       :: ok==2 -> pc[w]=SEND
       :: ok==0 -> pc[w]=LOST
       fi
#endif
     }
  :: atomic { pc[w]==SEND ->
       if
#ifdef M_RECHECK
       :: IN_TIME && SOON(w) ->
#else
       :: IN_TIME && IS_HIGHEST(w) && SOON(w) ->
#endif
#ifdef TOCTOU
          pc[w]=SEND2
#else
          BOUNDARY
#endif
       :: true -> append(w);
          if
          :: ok==1 -> NOT_SENT; if :: how[w]=BY_ERROR :: how[w]=BY_CANCEL fi; pc[w]=NEXT
          :: else -> pc[w]=LOST
          fi
       fi }
#ifdef TOCTOU
  :: atomic { pc[w]==SEND2 && !(SOON(w)) -> append(w);
       if :: ok==1 -> NOT_SENT; how[w]=BY_ERROR; pc[w]=NEXT :: else -> pc[w]=LOST fi }
  :: atomic { pc[w]==SEND2 && SOON(w) -> BOUNDARY }
#endif
  :: atomic { pc[w]==WAIT ->
       if
       :: request[w]==3 -> request[w]=0; pc[w]=CHARGE_READ
       :: request[w]==4 -> request[w]=0; how[w]=BY_REFUSAL; left[w]=1; pc[w]=ENDED
       :: if :: request[w]==1 && orphans<2 -> orphans++ ORPHAN_KEY(w) :: request[w]!=1 -> skip fi;
          request[w]=0; left[w]=1; if :: how[w]=BY_ERROR :: how[w]=BY_CANCEL fi; pc[w]=ENDED /* no answer */
       fi;
#if NETMAX>0
       netAge[w]=0
#endif
     }
  :: atomic { pc[w]==ENDED -> append(w);                        /* without a run */
       if
       :: ok==1 ->
#ifdef M_NC
          if :: how[w]==BY_REFUSAL ->
#else
          if :: how[w]==BY_REFUSAL && hi.sent-left[w]==0 && KNOWS(w) ->
#endif
                hi.stage=REFUSED; hi.unended=0; hi.checks=NONE; TIDY(hi); leave(w)
             :: else -> if :: left[w] -> hi.unended=0; hi.age=0 :: else fi;
                if :: how[w]==BY_REFUSAL -> how[w]=BY_LATER_REFUSAL :: else fi;
                left[w]=0; NOTE_READ(w); pc[w]=NEXT
          fi
#ifdef M_STALEREF
       :: ok==0 && how[w]==BY_REFUSAL && hi.stage!=CHARGED ->
          hi.stage=REFUSED; hi.unended=0; hi.checks=NONE; TIDY(hi); leave(w)
#endif
       :: else -> pc[w]=LOST
       fi }
  :: atomic { pc[w]==NEXT ->
       if
       :: mustLook[w] || (!KNOWS(w) && hi.sent==0) -> leave(w)
       :: !mustLook[w] && KNOWS(w) && hi.sent==0 && how[w]==BY_CANCEL -> append(w);
          if :: ok==1 -> hi.stage=NOT_CHARGED; TIDY(hi); leave(w) :: else -> pc[w]=LOST fi
       :: how[w]==BY_ERROR -> how[w]=0;                         /* once more, after a look if need be */
#ifndef M_RELOOK
          mustLook[w]=(mustLook[w] || hi.sent>0);
#endif
          pc[w]=START
       :: MAY_SAY(w) && how[w]!=BY_CANCEL -> SAY(w)             /* kept: "not charged" */
       :: hi.sent>0 -> leave(w)
       fi }
  /* -------------------- a check -------------------- */
  :: atomic { pc[w]==CHECK ->
       if
       :: true -> leave(w)
       :: charges>0 -> pc[w]=CHARGE_READ
       :: !listed ANSWERED -> unlooked=0; readAge[w]=0;
#ifdef M_15MIN
          isOld[w]=1;
#else
          isOld[w]=(hi.age>=PRICE);
#endif
          isSecond[w]=(hi.checks==FIRST && hi.checkAge>=BETWEEN); pc[w]=CHECKED
       :: true -> readAge[w]=0; isOld[w]=0; pc[w]=CHECKED       /* not complete, or with another API key */
       fi }
  :: atomic { pc[w]==CHECKED -> append(w);
       if
       :: ok==1 ->
#ifdef M_CLAIMEND
          if :: hi.unended -> hi.unended=0; hi.age=readAge[w] :: else fi;
#endif
          if
#ifdef M_2CHECKS
          :: isOld[w] -> hi.checks=TWO
#else
          :: isOld[w] && isSecond[w] -> hi.checks=TWO
          :: isOld[w] && !isSecond[w] ->
             if :: hi.checks==FIRST -> skip :: else -> hi.checks=FIRST; hi.checkAge=readAge[w] fi
#endif
          :: !isOld[w] -> hi.checks=NONE
          fi; TIDY(hi); leave(w)
       :: else -> pc[w]=LOST
       fi }
  /* -------------------- discard and withdraw -------------------- */
  :: atomic { pc[w]==DISCARD_LOOK ->
       if
       :: charges>0 -> pc[w]=CHARGE_READ
       :: !listed DISCARD_ANSWERED -> newStage[w]=UNSEEN; pc[w]=DISCARD
       :: newStage[w]=DISCARDED; pc[w]=DISCARD                  /* unanswered */
       fi }
#if KEYS>0
  :: atomic { pc[w]==WITHDRAW_LOOK ->
       if
       :: charges>0 -> pc[w]=CHARGE_READ
#if KEYS==2
       :: !listed ANSWERED -> newStage[w]=NOT_CHARGED; pc[w]=DISCARD
#else
       :: !listed -> newStage[w]=NOT_CHARGED; pc[w]=DISCARD     /* answered, with whatever key */
#endif
       :: leave(w)                                              /* unanswered: it stays as it is */
       fi }
#endif
  :: atomic { pc[w]==DISCARD -> append(w);
       if
       :: ok==1 -> hi.stage=newStage[w];
          if :: hi.stage!=OPEN -> hi.unended=0; hi.checks=NONE; TIDY(hi) :: else fi; leave(w)
       :: ok==2 -> if :: newStage[w]==NOT_CHARGED -> SAY_NOT :: else fi; leave(w)
       :: ok==0 -> pc[w]=LOST
       fi }
  /* -------------------- a known charge goes on top of whatever is highest -------------------- */
  :: atomic { pc[w]==CHARGE_READ && READABLE -> READ(w);
       if :: hi.stage==CHARGED -> leave(w) :: else -> pc[w]=CHARGE fi }
  :: atomic { pc[w]==CHARGE -> append(w);
       if
       :: ok==1 -> hi.stage=CHARGED; hi.unended=0; hi.checks=NONE; hi.sent=1; hi.age=0; TIDY(hi); leave(w)
       :: else ->
#ifdef M_CHARGE
          assert(hi.stage==CHARGED); leave(w)                   /* P3 */
#else
          pc[w]=CHARGE_READ
#endif
       fi }
  :: atomic { pc[w]==LOST -> leave(w) }                         /* another window has it: no word */
  /* -------------------- killed; a new window takes its place -------------------- */
  :: atomic { pc[w]!=IDLE && (request[w]!=1 || orphans<2) ->
       if :: request[w]==1 -> orphans++ ORPHAN_KEY(w) :: else fi; request[w]=0;
#if NETMAX>0
       netAge[w]=0;
#endif
       leave(w) }
  od
}

/* A complete request arrives at the service. r becomes what `request` is then. A repeat isn't priced a second
   time, unless the service forgot the Idempotency-Key. */
inline arrive(r) {
  if
  :: KNOWN==0 || KEY_PHASE==2 ->
     if
     :: r=4
     :: r=5
     :: pricing<2 -> if :: pricing==0 -> priceAge=0 PRICING_KEY :: else -> priceAge2=0 PRICING_KEY2 fi;
        pricing++; KNOWN=1; KEY_PHASE=0; r=2
     fi
  :: KNOWN==1 && KEY_PHASE<2 -> if :: r=2 :: r=4 :: r=5 fi
  :: KNOWN==2 && KEY_PHASE<2 -> if :: r=3 :: r=4 :: r=5 fi
  fi }

/* Whether time must wait: what is complete arrives within a tick, or within NETMAX more. */
#if NETMAX>0
#if NW==3
#define IN_NETWORK ((request[0]==1 && netAge[0]==NETMAX) || (request[1]==1 && netAge[1]==NETMAX) || \
  (request[2]==1 && netAge[2]==NETMAX))
#else
#define IN_NETWORK ((request[0]==1 && netAge[0]==NETMAX) || (request[1]==1 && netAge[1]==NETMAX))
#endif
#else
#define IN_NETWORK ANY_REQUEST(1)
#endif
#define TICK(x) if :: x.sent>0 && x.age<PRICE -> x.age++ :: else fi; \
  if :: x.checks==FIRST && x.checkAge<BETWEEN -> x.checkAge++ :: else fi;
#define HOURS(x) if :: x.sent>0 -> x.age=PRICE :: else fi; \
  if :: x.checks==FIRST -> x.checkAge=BETWEEN :: else fi;

proctype Env() {
  byte i; byte r;
#if KEYS>0
  byte k;
#endif
  do
  :: atomic { ANY_REQUEST(1) ->
       if :: request[0]==1 -> i=0 :: request[1]==1 -> i=1
#if NW==3
       :: request[2]==1 -> i=2
#endif
       fi;
#if KEYS>0
       k=requestKey[i];
#endif
       arrive(r); request[i]=r;
#if NETMAX>0
       netAge[i]=0;
#endif
#if KEYS>0
       k=0;
#endif
       i=0; r=0 }
  :: atomic { orphans>0 ->                                      /* it arrives, or not */
#if KEYS>0
       if :: orphans1>0 -> k=1; orphans1-- :: orphans>orphans1 -> k=0 fi;
#endif
       orphans--; if :: arrive(r) :: skip fi;
#if KEYS>0
       k=0;
#endif
       r=0 }
  :: atomic { pricing>0 ->
#if KEYS>0
       k=pricingKey;
#endif
       if
       :: charges++; assert(charges<=1);                        /* P1 */
          runAge=0; KNOWN=2;
          for (i : 0 .. NW-1) { if :: request[i]==2 SAME_KEY(i) -> request[i]=3 :: else fi }
#if KEYS>0
          ; chargeKey=k
#endif
       :: KNOWN=0; for (i : 0 .. NW-1) { if :: request[i]==2 SAME_KEY(i) -> request[i]=4 :: else fi }
       fi; i=0; pricing--; priceAge=priceAge2; priceAge2=0
#if KEYS>0
       ; pricingKey=pricingKey2; pricingKey2=0; k=0
#endif
     }
  :: atomic { !(pricing>0 && priceAge==PRICE) && !IN_NETWORK && orphans==0 && exists ->   /* a tick */
       TICK(hi)
#if DMG>0
       TICK(lo)
#endif
#if RB>0
       TICK(saved)
#endif
       for (i : 0 .. NW-1) {
         if :: pc[i]==SEND || pc[i]==SEND2 -> late[i]=1 :: else fi;
         if :: pc[i]==CHECKED && readAge[i]<BETWEEN -> readAge[i]++ :: else fi
#if NETMAX>0
         ; if :: request[i]==1 -> netAge[i]++ :: else fi
#endif
       }; i=0;
       if :: pricing>0 -> priceAge++ :: else fi; if :: pricing>1 -> priceAge2++ :: else fi;
       if :: charges>0 && runAge<LAG -> runAge++ :: else fi }
#ifdef DAYS
  :: atomic { pricing==0 && !ANY_REQUEST(1) && orphans==0 && exists && phase<2 -> phase++;  /* hours */
#if KEYS>0
       for (i : 0 .. 1) { if :: known[i]>0 && keyPhase[i]<2 -> keyPhase[i]++ :: else fi }; i=0;
#else
       if :: known>0 && keyPhase<2 -> keyPhase++ :: else fi;
#endif
       if :: charges>0 -> runAge=LAG :: else fi;
       HOURS(hi)
#if DMG>0
       HOURS(lo)
#endif
#if RB>0
       HOURS(saved)
#endif
       for (i : 0 .. NW-1) {
         if :: pc[i]==SEND || pc[i]==SEND2 -> late[i]=1 :: else fi;
         if :: pc[i]==CHECKED -> readAge[i]=BETWEEN :: else fi
       }; i=0 }
#endif
#if KEYS>0
  :: atomic { attempts>0 -> key=1-key }                         /* until then both are the same to us */
#endif
#if DMG>0
  :: atomic { exists && !damaged && damages<DMG && hi.stage!=CHARGED -> damages++; damaged=1 }
#endif
#if CLEAN>0
  :: atomic { exists && hi.stage>=NOT_CHARGED ->                /* below a settled version */
#if DMG>0
       if :: !damaged -> loExists=0; CLEAR(lo) :: else -> skip fi;
#endif
#if CLEAN==2
       for (i : 0 .. NW-1) { if :: pc[i]!=IDLE && current[i]==0 -> current[i]=2 :: else fi }; i=0
#else
       skip
#endif
     }
#endif
#if RB>0
  :: atomic { exists && !isSaved && !wasRestored && hi.stage!=CHARGED -> isSaved=1; COPY(saved,hi) }
  :: atomic { isSaved && !wasRestored && ALL_IDLE && MAY_RESTORE ->
       wasRestored=1; isSaved=0; COPY(hi,saved); CLEAR(saved);
       for (i : 0 .. NW-1) { current[i]=0 }; i=0 }
#endif
  od
}

/* Looks at the stored record at any time. */
#ifdef NOP2
proctype Mon() { skip }
#else
proctype Mon() { do :: atomic { LIE -> assert(!LIE) } od }      /* P2 */
#endif

init { atomic { run Win(0); run Win(1);
#if NW==3
  run Win(2);
#endif
  run Env(); run Mon() } }
