/*
 * The names of docs/journal.md: several windows submit the same bytes. Submission k of them is the file
 * <bytes>.<k>.1, created exclusively; that creation is the claim. submission.pml says how one of them is sent
 * safely. `npm run test:model` runs both.
 *
 * Modeled: 2 or 3 windows without any lock, which stop between any two steps and are killed. Listings that are
 * late: a window may see any earlier state of the folder. A damaged highest version. Storage that is set back as
 * a whole, while windows run, after which names are given a second time. A user who agrees to submit beside an
 * open one. To send is one step here.
 *
 *   C1  a submission leaves only if its user knew of each earlier one that was, or may be, charged
 *   C2  no window works on the submission of another window as if it were its own
 *   C3  if nothing is killed, lost or set back, one is sent: not all windows give up
 *
 * -DNW=2|3 windows, -DK=n submissions, -DKILLS=n. Faults:
 *   -DLATE    listings are late
 *   -DDMG     submission 1 gets damaged
 *   -DRB      the storage is set back once
 *   -DGONE    a person deletes all files of submission 1 while no question is open
 *   -DBESIDE  the user may agree to submit beside an open one
 *
 * A rule is removed, and a property must fail:
 *   M_EXCLUSIVE  1   version 1 replaces another one
 *   M_NEXT       1   the number is chosen at the creation, not at the consent
 *   M_OPEN       1   nobody minds that an earlier one is open
 *   M_GAP        1   the number is the first free one, not one above the highest
 *   M_SAME       3   before it sends, a window doesn't read again that its version is the same submission
 *   M_DAMAGE     11  a damaged one counts as ended
 */
#ifndef NW
#define NW 3
#endif
#ifndef K
#define K 3
#endif
#ifndef KILLS
#define KILLS 0
#endif
#define FREE 0
#define DRAFT 1         /* draft, sending */
#define SENT 2          /* may be charged; also a damaged one */
#define OVER 3          /* not charged, refused */
#define CHARGED 4       /* charged or discarded: the next question names it */
#define ASK 0
#define CREATE 1
#define SEND 2
#define ANSWER 3
#define DONE 9

byte stage[K]; byte life[K];    /* of submission k; its Idempotency-Key: who created it */
bit damaged[K];
byte pc[NW]; byte mine[NW];
byte knew[NW];                  /* bits: the user was told of submission k */
byte knewOf[K];                 /* the same, of the consent to submission k */
byte kills; byte sent; bit setBack;
byte lives;                     /* keys given so far */
byte myLife[NW];
#ifdef RB
byte saved[K]; byte savedLife[K]; byte savedKnew[K]; bit isSaved; bit wasRestored;
#endif
#ifdef M_DAMAGE
#define IS_OPEN(j) (!damaged[j] && (stage[j]==DRAFT || stage[j]==SENT))
#define MAY_BE_CHARGED(j) (!damaged[j] && (stage[j]==SENT || stage[j]==CHARGED))
#else
#define IS_OPEN(j) (damaged[j] || stage[j]==DRAFT || stage[j]==SENT)
#define MAY_BE_CHARGED(j) (damaged[j] || stage[j]==SENT || stage[j]==CHARGED)
#endif
#ifdef M_SAME
#define SAME(w) true
#else
#define SAME(w) (life[mine[w]]==myLife[w])
#endif
#if NW==3
#define ALL_DONE (pc[0]==DONE && pc[1]==DONE && pc[2]==DONE)
#else
#define ALL_DONE (pc[0]==DONE && pc[1]==DONE)
#endif
#define REALLY(j) (stage[j]==SENT || stage[j]==CHARGED)

proctype Win(byte w) {
  byte j; byte top; bit isOpen;
end: do
  /* The question. `top` is the number of submissions that the window sees: with LATE, perhaps too few. */
  :: atomic { pc[w]==ASK ->
#ifdef M_GAP
       top=0; do :: top<K && stage[top]!=FREE -> top++ :: else -> break od;
#else
       top=K; do :: top>0 && stage[top-1]==FREE -> top-- :: else -> break od;
#endif
#ifdef LATE
       do :: top>0 -> top-- :: break od;
#endif
       knew[w]=0; isOpen=0;
       for (j : 0 .. K-1) {
         if :: j<top -> if :: MAY_BE_CHARGED(j) -> knew[w]=knew[w] | (1<<j) :: else fi;
                        if :: IS_OPEN(j) -> isOpen=1 :: else fi
            :: else fi };
       mine[w]=top;
       if
#ifndef M_OPEN
       :: isOpen -> pc[w]=DONE                                  /* shows the open one instead */
#ifdef BESIDE
       :: isOpen -> pc[w]=CREATE;                               /* the user agreed, and read of each open one */
          for (j : 0 .. K-1) { if :: j<top && IS_OPEN(j) -> knew[w]=knew[w] | (1<<j) :: else fi }
#endif
#else
       :: isOpen -> pc[w]=CREATE
#endif
       :: !isOpen -> pc[w]=CREATE
       :: top>=K -> pc[w]=DONE
       fi;
       if :: top>=K -> pc[w]=DONE :: else fi; j=0; top=0; isOpen=0 }
  :: atomic { pc[w]==CREATE ->
#ifdef M_NEXT
       mine[w]=0; do :: mine[w]<K && stage[mine[w]]!=FREE -> mine[w]++ :: else -> break od;
       if :: mine[w]>=K -> mine[w]=0; pc[w]=DONE :: else -> skip fi;
#endif
       if
       :: pc[w]==DONE -> skip
#ifdef M_EXCLUSIVE
       :: pc[w]==CREATE ->
#else
       :: pc[w]==CREATE && stage[mine[w]]!=FREE -> pc[w]=ASK    /* taken: read it, ask again */
       :: pc[w]==CREATE && stage[mine[w]]==FREE ->
#endif
          lives++; stage[mine[w]]=DRAFT; damaged[mine[w]]=0;
          life[mine[w]]=lives; myLife[w]=lives; knewOf[mine[w]]=knew[w]; pc[w]=SEND
       fi }
  :: atomic { pc[w]==SEND ->                                    /* claims, looks and sends, or is overtaken */
       if
       :: stage[mine[w]]==DRAFT && !damaged[mine[w]] && SAME(w) ->
          assert(life[mine[w]]==myLife[w]);                     /* C2 */
          for (j : 0 .. K-1) {
            if :: j!=mine[w] && life[j]<myLife[w] && REALLY(j) && !setBack -> assert((knewOf[mine[w]]>>j)&1)   /* C1 */
               :: else fi }; j=0;
          stage[mine[w]]=SENT; sent++; pc[w]=ANSWER
       :: else -> pc[w]=DONE
       fi }
  :: atomic { pc[w]==ANSWER ->
       if
       :: stage[mine[w]]==SENT && life[mine[w]]==myLife[w] ->
          if :: stage[mine[w]]=CHARGED :: stage[mine[w]]=OVER :: skip fi        /* 201, refused, lost */
       :: else -> skip
       fi; pc[w]=DONE }
  :: atomic { pc[w]>ASK && pc[w]<DONE && kills<KILLS -> kills++; pc[w]=DONE }
  :: atomic { pc[w]==DONE && (kills>0 || sent>0) && sent<K ->   /* again: submits on purpose, or continues a draft */
       if
       :: pc[w]=ASK
       :: mine[w]<K && stage[mine[w]]==DRAFT && !damaged[mine[w]] -> myLife[w]=life[mine[w]]; pc[w]=SEND
       :: mine[w]<K && stage[mine[w]]==DRAFT && !damaged[mine[w]] -> stage[mine[w]]=OVER         /* discards it */
       fi }
  od }

proctype Env() {
  byte j;
end: do
#ifdef DMG
  :: atomic { !damaged[0] && stage[0]!=FREE -> damaged[0]=1 }
#endif
#ifdef GONE
  :: atomic { K>1 && stage[0]!=FREE && stage[1]!=FREE && (pc[0]==ASK || pc[0]==DONE) && (pc[1]==ASK || pc[1]==DONE) ->
       stage[0]=FREE; damaged[0]=0 }
#endif
#ifdef RB
  :: atomic { !isSaved && !wasRestored -> isSaved=1;
       for (j : 0 .. K-1) { saved[j]=stage[j]; savedLife[j]=life[j]; savedKnew[j]=knewOf[j] }; j=0 }
  :: atomic { isSaved && !wasRestored -> wasRestored=1; setBack=1;
       for (j : 0 .. K-1) { stage[j]=saved[j]; life[j]=savedLife[j]; knewOf[j]=savedKnew[j] }; j=0 }
#endif
  :: atomic { KILLS==0 && !setBack && sent==0 && !damaged[0] && ALL_DONE -> assert(false) }    /* C3 */
  od }

init { atomic { run Win(0); run Win(1);
#if NW==3
  run Win(2);
#endif
  run Env() } }
