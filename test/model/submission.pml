/*
 * ONE submission of the protocol in docs/journal.md: one chain of versions, one Idempotency-Key. claims.pml has
 * the names, so several submissions of the same bytes. `npm run test:model` lets Spin visit every order of steps.
 *
 * Modeled: 2 or 3 windows WITHOUT ANY LOCK. Each may do everything at any time, may stop between two steps for
 * any time, and may be killed at each. Requests and answers get lost or late. The service prices late, refuses,
 * refuses repeats, replays, lists late, forgets an Idempotency-Key after a day. The highest version gets
 * damaged, the storage is set back, the API key is replaced, the label is copied to a run made elsewhere.
 * Not modeled: clocks that are wrong, a run without its marker, the balance, Retry-After, a full disk. To append
 * is one step. A window knows "mine is still the highest" by current[w]. The boundary is the last bytes of an
 * attempt.
 *
 *   P1  charges<=1          at most one charge
 *   P2  !LIE                a window whose row says "not charged" is right, and it can't change by itself
 *   P3  hi.stage!=CHARGED   a known charge is never replaced or dropped
 *   P4  !unlooked           between two boundaries there was an answered look
 *   P5  !DANGER             "not charged", which a window says of its own attempt, is true
 *   P6  charges>0           "charged" is written only if the service charged this submission
 *   P7  copy!=UNDECIDED     nothing is sent while a run is only possible, and the user didn't decide
 *
 * -DNW=2|3 windows, -DMAXA=n attempts, -DPRICE -DBETWEEN -DLAG ticks. Faults:
 *   -DDAYS      the clock goes on to 23 and 24 hours
 *   -DNETMAX=1  last bytes are in the network for a tick
 *   -DTOCTOU    a window may stop between its last read of the folder and the boundary
 *   -DDMG       the highest version gets damaged
 *   -DRB=1      the storage is set back while nothing is priced; 2: at any time
 *   -DKEYS      the API key is replaced, at any time, perhaps by one of another account
 *   -DCOPY=1    hours after the last attempt closed, somebody makes another run with the label and its marker.
 *               After storage was set back, this submission's own run may look the same.
 *               2: also while a window is between its look and the answer
 *   -DSLOW      the service answers a repeat with 409 if it knows the key. Once a version says so, pricing and
 *               listing may take longer than rule 8 waits
 * -DNOP2, -DNOP4, -DNOP7: P2, P4, P7 aren't asserted.
 *
 * A rule is removed, and a property must fail:
 *   M_CAS        2   a version replaces one that another window wrote
 *   M_OVERTAKEN  2   a window that was overtaken says "not charged" of what it read
 *   M_GATE       3   the boundary leaves without a durable `sent`
 *   M_RECHECK    3   nobody looks whether n+1 is free right before the boundary
 *   M_SLOW       3   it may leave more than a minute after `sent`
 *   M_LOOKFIRST  4   who continues looks, and then claims
 *   M_NOLOOK     4   who continues doesn't look
 *   M_RELOOK     4   who repeats an attempt doesn't look
 *   M_OTHERLOOK  4   a look with another API key counts
 *   M_COPY       4   each run with the marker is this submission's, whenever it was created
 *   M_COPYEND    4   the hour begins with the end that a later window wrote, not when the boundary might leave
 *   M_COPYLATER  4   last bytes that left after a run was created make it this submission's
 *   M_COPYSKIP   4   a run that is only possible counts as none
 *   M_WORD       5   a row says "not charged" before the first look was answered
 *   M_ENDSENT    6   one whose boundary may have left ends as "not charged" after one look
 *   M_ENDLOOK    6   a draft ends as "not charged" without an answered look
 *   M_STALEREF   7   a refusal is written on top of another window's version
 *   M_NC         7   a refusal counts, although an earlier boundary may have left
 *   M_15MIN      8   checks count before the time for pricing has passed
 *   M_2CHECKS    8   one check is enough
 *   M_409        8   checks count after a 409 to a repeat
 *   M_CHARGE     9   a window that was overtaken gives up a known charge
 *   M_23H       10   the boundary may leave after 23 hours
 *   M_KEY       10   it may leave with another API key
 *   M_DAMAGE    11   a damaged highest version is ignored
 * -DCLAIMEND is no rule: a check writes the end of an attempt before it looks, not with its result.
 */
#ifndef NW
#define NW 2
#endif
#ifndef MAXA
#define MAXA 2
#endif
#ifndef PRICE
#define PRICE 2
#endif
#ifndef BETWEEN
#define BETWEEN 2
#endif
#ifndef LAG
#define LAG 1
#endif
#ifndef RB
#define RB 0
#endif
#ifndef NETMAX
#define NETMAX 0
#endif
#ifndef COPY
#define COPY 0
#endif

/* stage. OPEN is draft, sending, sent or cleared: `sent` and `checks` tell them apart. */
#define OPEN 0
#define REFUSED 1
#define NOT_CHARGED 2
#define DISCARDED 3
#define CHARGED 4
#define NONE 0          /* checks */
#define FIRST 1
#define TWO 2           /* cleared */

typedef Rec {
  unsigned stage : 3;
  unsigned sent : 3;    /* attempts whose boundary may have left */
  bit unended;          /* the last of them has no end */
  unsigned checks : 2;
  unsigned age : 3;     /* ticks since it closed or ended, up to PRICE */
  unsigned checkAge : 2;
  bit conflict;         /* a repeat was answered with 409 */
  bit key               /* the API key since its creation */
};
Rec hi; bit exists;     /* the highest version */
#ifdef DMG
bit damaged; bit wasDamaged;
#define READABLE (!damaged)
#else
#define READABLE true
#endif
#if RB>0
Rec saved; bit isSaved; bit wasRestored;
#endif
byte phase; byte attempts;

byte pc[NW]; bit current[NW]; byte how[NW]; bit left[NW]; bit late[NW]; bit isOld[NW]; bit isSecond[NW];
bit mustLook[NW];       /* this work needs a look before it sends */
bit known;              /* since storage was set back, a look was answered: rows may say "not charged" */
byte readAge[NW]; byte newStage[NW];
byte request[NW];       /* 0 none, 1 in the network, 2 being priced, 3 answered 201, 4 refused, 5 no answer, 6 409 */
#if NETMAX>0
byte netAge[NW];
#endif
#define IDLE 0
#define START 1
#define LOOK 2
#define UPLOAD 3
#define CLOSE 4
#define SEND 5
#define SEND2 6
#define WAIT 7
#define ENDED 8
#define NEXT 9
#define CHECK 10
#define CHECKED 11
#define END_LOOK 12
#define END 13
#define CHARGE_READ 14
#define CHARGE 15
#define LOST 16
#define LOOK2 17
#define FIRST_LOOK 18
#define BY_ERROR 1
#define BY_CANCEL 2
#define BY_REFUSAL 3
#define BY_LATER_REFUSAL 4
#define BY_CONFLICT 5

byte orphans; byte pricing; byte priceAge; byte priceAge2; byte charges; byte runAge; bit unlooked;
#ifdef KEYS
bit key; bit requestKey[NW]; byte orphans1; bit pricingKey; bit pricingKey2; bit chargeKey;
byte knows[2]; byte keyPhase[2];        /* of the Idempotency-Key: 0 nothing, 1 being priced, 2 charged */
#define listed (charges>0 && runAge>=LAG && chargeKey==key)
#ifdef M_OTHERLOOK
#define ANSWERED
#else
#define ANSWERED && hi.key==key
#endif
#ifdef M_KEY
#define KEY_FITS
#else
#define KEY_FITS && hi.key==key
#endif
#define KNOWS knows[k]
#define KEY_PHASE keyPhase[k]
#define SAME_KEY(w) && requestKey[w]==k
#define ORPHAN_KEY(w) ; orphans1=orphans1+requestKey[w]
#else
byte knows; byte keyPhase;
#define listed (charges>0 && runAge>=LAG)
#define ANSWERED
#define KEY_FITS
#define KNOWS knows
#define KEY_PHASE keyPhase
#define SAME_KEY(w)
#define ORPHAN_KEY(w)
#endif

/* What a look finds: OURS is a run with the marker, created at most an hour after the last attempt closed (after the
   creation of a submission without one). A later one is only possible, and makes the look unanswered. */
#if COPY>0
byte copy;              /* 0 none; a run made elsewhere, with the marker, that is */
#define UNDECIDED 1     /* only possible */
#define DECIDED 2       /* not this submission's, as the user said */
#define COVERED 3       /* within the time of an attempt */
bit isLate;             /* this submission's own run is only possible */
#define COVER isLate=0; if :: copy==UNDECIDED || copy==DECIDED -> copy=COVERED :: else fi;
#ifdef M_COPY
#define OURS (charges>0 || copy==UNDECIDED)
#else
#define OURS ((charges>0 && !isLate) || copy==COVERED)
#endif
#ifdef M_COPYSKIP
#define NOT_FOUND ((!listed || isLate) && copy!=COVERED ANSWERED)
#else
#define NOT_FOUND (!listed && (copy==0 || copy==DECIDED) ANSWERED)
#endif
#ifdef M_COPYEND
#define COVER_LATE_END COVER
#else
#define COVER_LATE_END
#endif
#ifdef M_COPYLATER
#define COVER_SENT COVER
#else
#define COVER_SENT
#endif
#ifdef NOP7
#define P7
#else
#define P7 assert(copy!=UNDECIDED);
#endif
#else
#define COVER_LATE_END
#define COVER_SENT
#define OURS (charges>0)
#define NOT_FOUND (!listed ANSWERED)
#define P7
#endif

#define SET(x,y) x.stage=y.stage; x.sent=y.sent; x.unended=y.unended; x.checks=y.checks; x.age=y.age; \
  x.checkAge=y.checkAge; x.conflict=y.conflict; x.key=y.key
#define CLEAR(x) x.stage=0; x.sent=0; x.unended=0; x.checks=0; x.age=0; x.checkAge=0; x.conflict=0; x.key=0
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
#define DANGER (charges>0 || pricing>0 || orphans>0 || ANY_REQUEST(1) || ANY_REQUEST(2))
#ifdef M_WORD
#define SPEAKS true
#else
#define SPEAKS known
#endif
/* What rows say: of an ended one always, of an open one after this process's first answered look. */
#define SAYS_NOT (hi.stage==NOT_CHARGED || hi.stage==REFUSED || \
  (hi.stage==OPEN && SPEAKS && (hi.sent==0 || hi.checks==TWO)))
#define LIE (exists && READABLE && SAYS_NOT && DANGER)
#if RB==2
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
#ifdef M_409
#define MAY_CLEAR true
#else
#define MAY_CLEAR (!hi.conflict)
#endif
#ifdef M_SLOW
#define SOON(w) true
#else
#define SOON(w) !late[w]
#endif
#ifdef M_OVERTAKEN
bit nothingRead[NW];    /* what it read or wrote last has no boundary */
#define NOTE_READ(w) nothingRead[w]=(hi.sent==0);
#define UNSENT(w) nothingRead[w]
#define SAY(w) SAY_NOT; leave(w)
#else
#define NOTE_READ(w)
#define UNSENT(w) (hi.sent==0)
#define SAY(w) if :: current[w] -> SAY_NOT; leave(w) :: else -> pc[w]=LOST fi
#endif

/* The end of a work; the process goes on. */
inline leave(w) { current[w]=0; how[w]=0; left[w]=0; mustLook[w]=0; late[w]=0; isOld[w]=0; isSecond[w]=0;
  readAge[w]=0; newStage[w]=0; pc[w]=IDLE }

inline append(w) {
#ifdef M_CAS
  ok=1;
#else
  ok=current[w];
#endif
  if
  :: ok -> assert(pc[w]==CHARGE || hi.stage!=CHARGED);          /* P3 */
#ifdef DMG
     damaged=0;
#endif
     for (i : 0 .. NW-1) { current[i]=0 }; current[w]=1
  :: else -> skip
  fi; i=0 }

#define CLAIMED attempts++; if :: hi.unended -> hi.unended=0; hi.age=0; COVER_LATE_END :: else fi;
#ifdef M_LOOKFIRST
#define CLAIM(w) if :: mustLook[w] -> pc[w]=LOOK :: else -> append(w); \
  if :: ok -> CLAIMED pc[w]=UPLOAD :: else -> pc[w]=LOST fi fi
#define AFTER_LOOK LOOK2
#else
#define CLAIM(w) append(w); if :: ok -> CLAIMED pc[w]=(mustLook[w] -> LOOK : UPLOAD) :: else -> pc[w]=LOST fi
#define AFTER_LOOK UPLOAD
#endif
#define NOT_SENT hi.sent--; hi.unended=0; TIDY(hi); late[w]=0
#define BOUNDARY P4; unlooked=1; request[w]=1; late[w]=0; pc[w]=WAIT

proctype Win(byte w) {
  byte i; bit ok;
  do
  :: atomic { pc[w]==IDLE && !exists && w==0 ->                 /* creates it: no look, nothing was sent */
       exists=1; current[w]=1; known=1; NOTE_READ(w)
#ifdef KEYS
       hi.key=key;
#endif
       pc[w]=START }
  :: atomic { pc[w]==IDLE && exists && READABLE -> current[w]=1; NOTE_READ(w)
       if
       :: hi.stage==OPEN -> pc[w]=START;                        /* continues */
#ifndef M_NOLOOK
          mustLook[w]=1;
#endif
       :: hi.stage==OPEN && !known -> pc[w]=FIRST_LOOK       /* reads only */
       :: hi.stage==OPEN && hi.sent>0 && hi.checks!=TWO ->      /* checks */
#ifdef CLAIMEND
          if :: hi.unended -> append(w); hi.unended=0; hi.age=0; TIDY(hi) :: else -> skip fi;
#endif
          pc[w]=CHECK
       :: hi.stage==OPEN && (hi.sent==0 || hi.checks==TWO) -> pc[w]=END_LOOK     /* discards, after a look */
       :: hi.stage==OPEN && hi.sent>0 && hi.checks!=TWO -> newStage[w]=DISCARDED; pc[w]=END
#ifdef M_ENDSENT
       :: hi.stage==OPEN && hi.sent>0 -> pc[w]=END_LOOK
#endif
       :: hi.stage==REFUSED -> newStage[w]=NOT_CHARGED; pc[w]=END
       :: hi.stage!=CHARGED && OURS -> pc[w]=CHARGE_READ        /* its run is in the list */
       :: true -> current[w]=0
       fi }
#if COPY>0
  :: atomic { pc[w]==IDLE && copy==UNDECIDED -> copy=DECIDED }  /* the user knows */
  :: atomic { pc[w]==IDLE && isLate && hi.stage!=CHARGED -> pc[w]=CHARGE_READ }
#endif
  :: atomic { pc[w]==FIRST_LOOK ->
       if :: OURS -> pc[w]=CHARGE_READ
          :: NOT_FOUND -> known=1; leave(w)
          :: leave(w) fi }
  /* -------------------- an attempt -------------------- */
  :: atomic { pc[w]==START ->
       if
       :: leave(w)                                              /* stopped: the row says what it says */
       :: !mustLook[w] && UNSENT(w) -> SAY(w)                   /* stopped, kept */
       :: !mustLook[w] && hi.sent==0 && current[w] -> append(w); hi.stage=NOT_CHARGED; TIDY(hi);
          leave(w)                                              /* canceled */
       :: attempts<MAXA && IN_TIME -> CLAIM(w)
       fi }
  :: atomic { pc[w]==LOOK ->
       if
       :: how[w]=BY_ERROR; pc[w]=ENDED                          /* unanswered */
       :: OURS -> pc[w]=CHARGE_READ
       :: NOT_FOUND -> unlooked=0; mustLook[w]=0; known=1; pc[w]=AFTER_LOOK
       fi }
#ifdef M_LOOKFIRST
  :: atomic { pc[w]==LOOK2 -> append(w); if :: ok -> CLAIMED pc[w]=UPLOAD :: else -> pc[w]=LOST fi }
#endif
  :: atomic { pc[w]==UPLOAD ->
       if
       :: how[w]=BY_ERROR; pc[w]=ENDED
       :: how[w]=BY_CANCEL; pc[w]=ENDED
       :: how[w]=BY_REFUSAL; pc[w]=ENDED
       :: IN_TIME KEY_FITS ->
#ifdef KEYS
          requestKey[w]=key;
#endif
          pc[w]=CLOSE
       fi }
  :: atomic { pc[w]==CLOSE ->
#ifdef M_GATE
       pc[w]=SEND
#else
       append(w);
       if :: ok -> hi.sent++; hi.unended=1; hi.age=0; hi.checks=NONE; TIDY(hi); P7 COVER_SENT late[w]=0; pc[w]=SEND
          :: else -> pc[w]=LOST fi
#endif
     }
  :: atomic { pc[w]==SEND ->
       if
#ifdef M_RECHECK
       :: IN_TIME && SOON(w) ->
#else
       :: IN_TIME && current[w] && SOON(w) ->
#endif
#ifdef TOCTOU
          pc[w]=SEND2
#else
          BOUNDARY
#endif
       :: append(w);
          if :: ok -> NOT_SENT; if :: how[w]=BY_ERROR :: how[w]=BY_CANCEL fi; pc[w]=NEXT
             :: else -> pc[w]=LOST fi
       fi }
#ifdef TOCTOU
  :: atomic { pc[w]==SEND2 && !(SOON(w)) -> append(w);
       if :: ok -> NOT_SENT; how[w]=BY_ERROR; pc[w]=NEXT :: else -> pc[w]=LOST fi }
  :: atomic { pc[w]==SEND2 && SOON(w) -> BOUNDARY }
#endif
  :: atomic { pc[w]==WAIT ->
       if
       :: request[w]==3 -> request[w]=0; pc[w]=CHARGE_READ
       :: request[w]==4 -> request[w]=0; how[w]=BY_REFUSAL; left[w]=1; pc[w]=ENDED
#ifdef SLOW
       :: request[w]==6 -> request[w]=0; how[w]=BY_CONFLICT; left[w]=1; pc[w]=ENDED
#endif
       :: if :: request[w]==1 && orphans<2 -> orphans++ ORPHAN_KEY(w) :: request[w]!=1 -> skip fi;
          request[w]=0; left[w]=1; if :: how[w]=BY_ERROR :: how[w]=BY_CANCEL fi; pc[w]=ENDED
       fi;
#if NETMAX>0
       netAge[w]=0
#endif
     }
  :: atomic { pc[w]==ENDED -> append(w);
       if
       :: ok ->
#ifdef M_NC
          if :: how[w]==BY_REFUSAL ->
#else
          if :: how[w]==BY_REFUSAL && hi.sent-left[w]==0 ->
#endif
                hi.stage=REFUSED; hi.unended=0; hi.checks=NONE; TIDY(hi); leave(w)
             :: else -> if :: left[w] -> hi.unended=0; hi.age=0 :: else fi;
#ifdef SLOW
                if :: how[w]==BY_CONFLICT -> hi.conflict=1 :: else fi;
#endif
                if :: how[w]==BY_REFUSAL -> how[w]=BY_LATER_REFUSAL :: else fi; left[w]=0; pc[w]=NEXT
          fi
#ifdef M_STALEREF
       :: !ok && how[w]==BY_REFUSAL && hi.stage!=CHARGED ->
          hi.stage=REFUSED; hi.unended=0; hi.checks=NONE; TIDY(hi); leave(w)
#endif
       :: else -> pc[w]=LOST
       fi }
  :: atomic { pc[w]==NEXT ->
       if
       :: leave(w)
       :: !mustLook[w] && hi.sent==0 && how[w]==BY_CANCEL -> append(w);
          if :: ok -> hi.stage=NOT_CHARGED; TIDY(hi); leave(w) :: else -> pc[w]=LOST fi
       :: how[w]==BY_ERROR -> how[w]=0;
#ifndef M_RELOOK
          mustLook[w]=(mustLook[w] || hi.sent>0);
#endif
          pc[w]=START
       :: !mustLook[w] && UNSENT(w) && how[w]!=BY_CANCEL -> SAY(w)
       fi }
  /* -------------------- a check -------------------- */
  :: atomic { pc[w]==CHECK ->
       if
       :: leave(w)
       :: OURS -> pc[w]=CHARGE_READ
       :: NOT_FOUND -> unlooked=0; readAge[w]=0; known=1;
#ifdef M_15MIN
          isOld[w]=1;
#else
#ifdef CLAIMEND
          isOld[w]=(hi.age>=PRICE);
#else
          isOld[w]=(hi.age>=PRICE && !hi.unended);              /* the first check ends the attempt */
#endif
#endif
          isSecond[w]=(hi.checks==FIRST && hi.checkAge>=BETWEEN); pc[w]=CHECKED
       :: readAge[w]=0; isOld[w]=0; pc[w]=CHECKED               /* not complete, or another API key */
       fi }
  :: atomic { pc[w]==CHECKED -> append(w);
       if
       :: ok ->
#ifndef CLAIMEND
          if :: hi.unended -> hi.unended=0; hi.age=readAge[w] :: else fi;
#endif
          if
#ifdef M_2CHECKS
          :: isOld[w] -> hi.checks=TWO
#else
          :: isOld[w] && isSecond[w] && MAY_CLEAR -> hi.checks=TWO
          :: isOld[w] && !isSecond[w] && MAY_CLEAR ->
             if :: hi.checks==FIRST -> skip :: else -> hi.checks=FIRST; hi.checkAge=readAge[w] fi
          :: !MAY_CLEAR -> skip                                 /* only its run or the user ends it */
#endif
          :: !isOld[w] -> hi.checks=NONE
          fi; TIDY(hi); leave(w)
       :: else -> pc[w]=LOST
       fi }
  /* -------------------- discard -------------------- */
  :: atomic { pc[w]==END_LOOK ->
       if
       :: OURS -> pc[w]=CHARGE_READ
       :: NOT_FOUND -> newStage[w]=NOT_CHARGED; pc[w]=END
#ifdef M_ENDLOOK
       :: newStage[w]=NOT_CHARGED; pc[w]=END
#else
       :: newStage[w]=DISCARDED; pc[w]=END                      /* unanswered */
#endif
       fi }
  :: atomic { pc[w]==END -> append(w);
       if :: ok -> hi.stage=newStage[w]; hi.unended=0; hi.checks=NONE; TIDY(hi); leave(w)
          :: else -> pc[w]=LOST fi }
  /* -------------------- a known charge goes on top of anything, also of a damaged version -------------------- */
  :: atomic { pc[w]==CHARGE_READ -> current[w]=1; if :: hi.stage==CHARGED -> leave(w) :: else -> pc[w]=CHARGE fi }
  :: atomic { pc[w]==CHARGE -> append(w);
       if
       :: ok -> assert(charges>0);                              /* P6 */
          hi.stage=CHARGED; hi.conflict=0; hi.unended=0; hi.checks=NONE; hi.sent=1; hi.age=0; TIDY(hi); leave(w)
       :: else ->
#ifdef M_CHARGE
          assert(hi.stage==CHARGED); leave(w)                   /* P3 */
#else
          pc[w]=CHARGE_READ
#endif
       fi }
  :: atomic { pc[w]==LOST -> leave(w) }
  /* -------------------- killed; a new window takes its place -------------------- */
  :: atomic { pc[w]!=IDLE && (request[w]!=1 || orphans<2) ->
       if :: request[w]==1 -> orphans++ ORPHAN_KEY(w) :: else fi; request[w]=0;
#ifdef KEYS
       requestKey[w]=0;
#endif
#if NETMAX>0
       netAge[w]=0;
#endif
       leave(w) }
  od
}

inline arrive(r) {
  if
  :: KNOWS==0 || KEY_PHASE==2 ->
     if
     :: r=4
     :: r=5
     :: pricing<2 ->
#ifdef KEYS
        if :: pricing==0 -> priceAge=0; pricingKey=k :: else -> priceAge2=0; pricingKey2=k fi;
#else
        if :: pricing==0 -> priceAge=0 :: else -> priceAge2=0 fi;
#endif
        pricing++; KNOWS=1; KEY_PHASE=0; r=2
     fi
#ifdef SLOW
  :: KNOWS>0 && KEY_PHASE<2 -> r=6
#endif
  :: KNOWS==1 && KEY_PHASE<2 -> if :: r=2 :: r=4 :: r=5 fi
  :: KNOWS==2 && KEY_PHASE<2 -> if :: r=3 :: r=4 :: r=5 fi
  fi }
#if NETMAX>0
#define IN_NETWORK ((request[0]==1 && netAge[0]==NETMAX) || (request[1]==1 && netAge[1]==NETMAX))
#else
#define IN_NETWORK ANY_REQUEST(1)
#endif
#define QUIET (pricing==0 && !ANY_REQUEST(1) && orphans==0)
/* Between its look and the answer: another run of that time can't be told from that of the attempt. */
#define SENDS(w) (pc[w]>=UPLOAD && pc[w]<=WAIT)
#if COPY==1
#if NW==3
#define MAY_COPY (QUIET && !SENDS(0) && !SENDS(1) && !SENDS(2))
#else
#define MAY_COPY (QUIET && !SENDS(0) && !SENDS(1))
#endif
#else
#define MAY_COPY QUIET
#endif
#ifdef SLOW
#define MAY_BE_SLOW (exists && hi.conflict)
#define LISTS if :: runAge++ :: MAY_BE_SLOW -> skip fi
#else
#define MAY_BE_SLOW false
#define LISTS runAge++
#endif
#define TICK(x) if :: x.sent>0 && x.age<PRICE -> x.age++ :: else fi; \
  if :: x.checks==FIRST && x.checkAge<BETWEEN -> x.checkAge++ :: else fi;
#define HOURS(x) if :: x.sent>0 -> x.age=PRICE :: else fi; if :: x.checks==FIRST -> x.checkAge=BETWEEN :: else fi;

proctype Env() {
  byte i; byte r;
#ifdef KEYS
  byte k;
#endif
  do
  :: atomic { ANY_REQUEST(1) ->
       if :: request[0]==1 -> i=0 :: request[1]==1 -> i=1
#if NW==3
       :: request[2]==1 -> i=2
#endif
       fi;
#ifdef KEYS
       k=requestKey[i];
#endif
       arrive(r); request[i]=r;
#if NETMAX>0
       netAge[i]=0;
#endif
#ifdef KEYS
       k=0;
#endif
       i=0; r=0 }
  :: atomic { orphans>0 ->
#ifdef KEYS
       if :: orphans1>0 -> k=1; orphans1-- :: orphans>orphans1 -> k=0 fi;
#endif
       orphans--; if :: arrive(r) :: skip fi;
#ifdef KEYS
       k=0;
#endif
       r=0 }
  :: atomic { pricing>0 ->
#ifdef KEYS
       k=pricingKey;
#endif
       if
       :: charges++; assert(charges<=1);                        /* P1 */
          runAge=0; KNOWS=2;
          for (i : 0 .. NW-1) { if :: request[i]==2 SAME_KEY(i) -> request[i]=3 :: else fi }
#ifdef KEYS
          ; chargeKey=k
#endif
       :: KNOWS=0; for (i : 0 .. NW-1) { if :: request[i]==2 SAME_KEY(i) -> request[i]=4 :: else fi }
       fi; i=0; pricing--; priceAge=priceAge2; priceAge2=0
#ifdef KEYS
       ; pricingKey=pricingKey2; pricingKey2=0; k=0
#endif
     }
  :: atomic { (pricing==0 || priceAge<PRICE || MAY_BE_SLOW) && !IN_NETWORK && orphans==0 && exists ->   /* a tick */
       TICK(hi)
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
       if :: pricing>0 && priceAge<PRICE -> priceAge++ :: else fi;
       if :: pricing>1 && priceAge2<PRICE -> priceAge2++ :: else fi;
       if :: charges>0 && runAge<LAG -> LISTS :: else fi }
#ifdef DAYS
  :: atomic { QUIET && exists && phase<2 -> phase++;  /* hours */
#ifdef KEYS
       for (i : 0 .. 1) { if :: knows[i]>0 && keyPhase[i]<2 -> keyPhase[i]++ :: else fi }; i=0;
#else
       if :: knows>0 && keyPhase<2 -> keyPhase++ :: else fi;
#endif
       if :: charges>0 -> runAge=LAG :: else fi;
       HOURS(hi)
#if RB>0
       HOURS(saved)
#endif
       for (i : 0 .. NW-1) {
         if :: pc[i]==SEND || pc[i]==SEND2 -> late[i]=1 :: else fi;
         if :: pc[i]==CHECKED -> readAge[i]=BETWEEN :: else fi
       }; i=0 }
#endif
#ifdef KEYS
  :: atomic { attempts>0 -> key=1-key }
#endif
#if COPY>0
  :: atomic { copy==0 && exists && hi.sent>0 && hi.stage!=CHARGED && MAY_COPY ->
       copy=UNDECIDED; HOURS(hi)
#if RB>0
       HOURS(saved)
#endif
       if :: charges>0 -> runAge=LAG :: else fi;
       for (i : 0 .. NW-1) {
         if :: pc[i]==SEND || pc[i]==SEND2 -> late[i]=1 :: else fi;
         if :: pc[i]==CHECKED -> readAge[i]=BETWEEN :: else fi
       }; i=0 }
#endif
#ifdef DMG
#ifdef M_DAMAGE
  :: atomic { exists && hi.unended && !wasDamaged -> wasDamaged=1;      /* the lower version counts */
       hi.sent--; hi.unended=0; TIDY(hi);
       for (i : 0 .. NW-1) { current[i]=0 }; i=0 }
#else
  :: atomic { exists && !damaged && !wasDamaged -> wasDamaged=1; damaged=1 }
#endif
#endif
#if RB>0
  :: atomic { exists && !isSaved && !wasRestored && hi.stage!=CHARGED -> isSaved=1; SET(saved,hi) }
  :: atomic { isSaved && !wasRestored && ALL_IDLE && MAY_RESTORE ->     /* all windows start again */
       wasRestored=1; isSaved=0; SET(hi,saved); CLEAR(saved);
       for (i : 0 .. NW-1) { current[i]=0 }; known=0; i=0
#if COPY>0
       ; if :: copy>0 -> copy=UNDECIDED :: else fi;             /* the word of the user is gone, too */
       if :: charges>0 -> isLate=1 :: skip fi
#endif
     }
#endif
  od
}

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
