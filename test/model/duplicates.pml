/*
 * R13 of docs/journal.md: several windows submit the same bytes at once, each as a submission of its own.
 * Only one may be sent, and not all of them may be withdrawn. `npm run test:model` runs it.
 *
 * Modeled: 2 or 3 windows without any lock. Each has the record of its own number, and may stop for any time
 * between two steps. At most two are killed, and then any window may continue any open record. To send a
 * record is one step here: journal.pml says how that is safe.
 * Not modeled: what makes two submissions the same (service, model, bytes), other accounts, a submission that
 * was charged or discarded since the consent, and records of a later version.
 *
 * A record is created as a draft. Its version 2 is created exclusively by whoever comes first: its own
 * window, which begins, or the window of a rival, which withdraws it. Rivals are ordered by their time of
 * creation and ID: here by their number.
 *
 * A part of the rule is removed, and the run must fail:
 *   M_NORIVAL    R13  a window doesn't look for rivals
 *   M_LISTFIRST  R13  a window lists the rivals, and then creates its draft
 *   M_ORDER      R13  a window doesn't mind rivals that are later
 *   M_RESUME     R13  who continues a draft doesn't look for rivals
 */
#ifndef NW
#define NW 3
#endif

/* stage of a record */
#define NONE 0
#define DRAFT 1
#define WITHDRAWN 2
#define BEGUN 3
#define SENT 4
/* what a window does next */
#define ASK 0           /* looks for the same bytes before the user consents */
#define CREATE 1
#define LIST 2          /* lists the records that are there after its own */
#define RIVALS 3        /* decides about them, one after the other */
#define BEGIN 4
#define SEND 5
#define DONE 9

byte stage[NW];
byte pc[NW];
byte mine[NW];          /* the record that the window submits */
bit seen[9];            /* by window and record: it was in the window's list */
byte at[NW];            /* the record that the window decides about */
byte sent;              /* how many records were sent */
byte kills;
byte asked;             /* how many windows showed another submission instead of theirs */
bit resumed[NW];

#define SEEN(w,j) seen[w*NW+j]
#define IS_OPEN(j) (stage[j]==DRAFT || stage[j]>=BEGUN)
#define MAY_CONTINUE(j) (IS_OPEN(j) && stage[j]!=SENT)
#if NW==3
#define OTHERS(w) ((w!=0 && IS_OPEN(0)) || (w!=1 && IS_OPEN(1)) || (w!=2 && IS_OPEN(2)))
#define ALL_DONE (pc[0]==DONE && pc[1]==DONE && pc[2]==DONE)
#else
#define OTHERS(w) ((w!=0 && IS_OPEN(0)) || (w!=1 && IS_OPEN(1)))
#define ALL_DONE (pc[0]==DONE && pc[1]==DONE)
#endif

proctype Win(byte w) {
  byte j; byte k;
end:  do
  :: atomic { pc[w]==ASK && stage[w]==NONE ->
       if :: OTHERS(w) -> pc[w]=DONE; asked++
       :: else -> pc[w]=CREATE fi }
#ifdef M_LISTFIRST
  :: atomic { pc[w]==CREATE -> mine[w]=w;
       for (j : 0 .. NW-1) { SEEN(w,j)=(j!=w && stage[j]!=NONE) }; j=0; pc[w]=LIST }
  :: atomic { pc[w]==LIST -> stage[w]=DRAFT; at[w]=0; pc[w]=RIVALS }
#else
  :: atomic { pc[w]==CREATE -> mine[w]=w; stage[w]=DRAFT; pc[w]=LIST }          /* version 1 is durable */
  :: atomic { pc[w]==LIST ->
       for (j : 0 .. NW-1) { SEEN(w,j)=(j!=mine[w] && stage[j]!=NONE) }; j=0; at[w]=0;
#ifdef M_NORIVAL
       pc[w]=BEGIN
#else
       pc[w]=RIVALS
#endif
     }
#endif
  :: atomic { pc[w]==RIVALS && at[w]==NW -> pc[w]=BEGIN }
  :: atomic { pc[w]==RIVALS && at[w]<NW && (!SEEN(w,at[w]) || stage[at[w]]==WITHDRAWN) -> at[w]++ }
  :: atomic { pc[w]==RIVALS && at[w]<NW && SEEN(w,at[w]) && stage[at[w]]!=WITHDRAWN ->
       j=at[w]; k=mine[w];
       if
       :: j<k ->                                        /* the earlier one stays, mine is withdrawn */
          if :: stage[k]==DRAFT -> stage[k]=WITHDRAWN :: else fi; pc[w]=DONE; asked++
       :: j>k && stage[j]==DRAFT ->                     /* the later one is withdrawn */
#ifndef M_ORDER
          stage[j]=WITHDRAWN;
#endif
          at[w]++
       :: j>k && stage[j]>=BEGUN ->                     /* it began before it could see mine: it stays */
#ifdef M_ORDER
          at[w]++
#else
          if :: stage[k]==DRAFT -> stage[k]=WITHDRAWN :: else fi; pc[w]=DONE; asked++
#endif
       fi; j=0; k=0 }
  :: atomic { pc[w]==BEGIN ->
       if
       :: stage[mine[w]]==DRAFT -> stage[mine[w]]=BEGUN; pc[w]=SEND
       :: stage[mine[w]]!=DRAFT -> pc[w]=DONE; asked++
       fi }
  :: atomic { pc[w]==SEND ->
       if :: stage[mine[w]]==BEGUN -> stage[mine[w]]=SENT; sent++; assert(sent<=1) :: else fi; pc[w]=DONE }
  :: atomic { pc[w]>ASK && pc[w]<DONE && kills<2 -> kills++; pc[w]=DONE }                       /* killed */
  :: atomic { pc[w]==DONE && !resumed[w] && kills>0 &&
              (MAY_CONTINUE(0) || MAY_CONTINUE(1) || MAY_CONTINUE(NW-1)) ->     /* continues an open record */
       if :: MAY_CONTINUE(0) -> mine[w]=0 :: MAY_CONTINUE(1) -> mine[w]=1
#if NW==3
       :: MAY_CONTINUE(2) -> mine[w]=2
#endif
       fi; resumed[w]=1;
#ifdef M_RESUME
       if :: stage[mine[w]]==DRAFT -> pc[w]=BEGIN :: else -> pc[w]=SEND fi
#else
       if :: stage[mine[w]]==DRAFT -> pc[w]=LIST :: else -> pc[w]=SEND fi
#endif
     }
  od }

/* If no window was killed, one of the records was sent: not all of them were withdrawn. */
proctype Mon() { end: do :: atomic { ALL_DONE && kills==0 && sent==0 -> assert(false) } od }

init { atomic { run Win(0); run Win(1);
#if NW==3
  run Win(2);
#endif
  run Mon() } }
