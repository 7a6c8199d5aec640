/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Bytes of a ring (protocol 2.2, 2.6, 3.2, 3.3). Here the producer's condition is the cursor itself: it
 * asks for exactly the count of freed bytes that its unit needs.
 *
 * Producer sends UNITS units of 1 to CAPACITY chunks of 64 bytes. A unit may grow while it is built.
 * Consumer copies each unit out and frees its span. The queue is long enough never to be waited for.
 *
 *   -DCAPACITY=n -DUNITS=n    sizes
 *   -DABORTS=n                n units are aborted after they got their span
 *   -DLOANS=n                 n units leave a GBytes alive in the producer, which another thread drops;
 *                             one at a time
 *
 * Checked: no byte is written that is unread, being copied or on loan; a wait never asks for more bytes
 * than are published, so that an idle consumer has freed them all; units arrive once and in order; when
 * nothing can move, both are done.
 *
 * Not covered: waits for a queue slot, states, starvation (a ring has no views, so no `need`), the
 * double mapping.
 *
 * Each of these takes one rule away and must fail:
 *   -DNO_FENCE_QHEAD, _WANT_QHEAD, _TAIL, _WANT_TAIL    3.2: that store is not seq_cst
 *   -DDRAIN_AFTER_REREAD    3.3: the eventfd is emptied between re-read and ppoll
 *   -DWAKE_ON_EQUAL         3.2: the crossing is tested by new == want, though the cursor jumps
 *   -DTAIL_BEFORE_COPY      a span is freed before it was copied out
 *   -DABORT_KEEPS_BYTES     2.1: an aborted unit does not give its bytes back
 *   -DTOO_LARGE_TAKEN       2.2: a unit of one chunk more than the capacity is not refused
 *   -DLOAN_IGNORED          2.6: a span on loan is handed out again
 */

#ifndef CAPACITY
#define CAPACITY 3
#endif
#ifndef UNITS
#define UNITS 4
#endif
#ifndef ABORTS
#define ABORTS 0
#endif
#ifndef LOANS
#define LOANS 0
#endif
#ifdef TOO_LARGE_TAKEN
#define LARGEST (CAPACITY + 1)
#else
#define LARGEST CAPACITY
#endif

#define QHEAD      0                    /* P: units published */
#define WANT_TAIL  1                    /* P: wake me when TAIL gets here */
#define TAIL       2                    /* C: chunks freed, a count */
#define WANT_QHEAD 3                    /* C */
#define WORDS      4

#define P 0
#define C 1
#define THREADS 3                       /* buffer 2 is not used */
#include "memory.pml"

#define END 0                           /* the size of what is no unit */

/* The queue: what a descriptor says. */
byte d_start[UNITS + 1], d_size[UNITS + 1];

/* Private to the producer process: the span on loan. */
bit  loaned;
byte loan_start;

/* Ghosts. */
bit  unread[CAPACITY];                  /* published and not yet copied out */
bit  on_loan[CAPACITY];
byte published;                         /* chunks published */
bit  building, asleep[2], done[2];
hidden byte i;

#ifdef DRAIN_AFTER_REREAD
#define begin_wait(side)  skip
#define begin_ppoll(side) drain (side); asleep[side] = 1
#else
#define begin_wait(side)  drain (side)
#define begin_ppoll(side) asleep[side] = 1
#endif
#ifdef WAKE_ON_EQUAL
#define crossed(old, want, new) (want == new)
#else
#define crossed(old, want, new) (old < want && want <= new)
#endif

#define fits(tail) (head + size <= CAPACITY + (tail))
#if LOANS && !defined (LOAN_IGNORED)
#define is_busy() (loaned && head + size > CAPACITY + loan_start)
#else
#define is_busy() false
#endif

#define set(chunks, start, size, value) \
  d_step { for (i : start .. start + size - 1) { chunks[i % CAPACITY] = value } }

inline wait_span ()
{
  do
  :: is_busy () -> !loaned             /* BUSY: the caller waits until it has dropped the loan */
  :: atomic { !is_busy () && fits (m[TAIL]) -> break }
  :: atomic { !is_busy () && !fits (m[TAIL]) ->
       assert (head + size - CAPACITY <= published)
     };
     begin_wait (P);
#ifdef NO_FENCE_WANT_TAIL
     store_plain (P, WANT_TAIL, head + size - CAPACITY);
#else
     store_seq_cst (P, WANT_TAIL, head + size - CAPACITY);
#endif
     if
     :: fits (m[TAIL])
     :: else ->
        begin_ppoll (P);
        atomic { event[P] -> asleep[P] = 0 }
     fi
  od
}

inline publish (start, size)
{
  d_step { d_start[qhead] = start; d_size[qhead] = size; qhead++ }
#ifdef NO_FENCE_QHEAD
  store_plain (P, QHEAD, qhead);
#else
  store_seq_cst (P, QHEAD, qhead);
#endif
  if
  :: m[WANT_QHEAD] == qhead -> wake (P, C)
  :: else
  fi
}

proctype Producer ()
{
  byte unit, head, size, qhead, aborts, loans;

  do
  :: unit < UNITS ->
     size = 1;
     do
     :: size < LARGEST -> size++
     :: break
     od;
     wait_span ();
     do                                 /* another field, which may have to wait again */
     :: size < LARGEST -> size++; wait_span ()
     :: break
     od;
     atomic {
       for (i : head .. head + size - 1) {
         assert (!unread[i % CAPACITY]);
         assert (!on_loan[i % CAPACITY])
       }
       building = 1
     };
#if ABORTS
     if
     :: aborts < ABORTS ->
        aborts++; building = 0;
#ifdef ABORT_KEEPS_BYTES
        head = head + size;
#endif
        goto next_unit
     :: true
     fi;
#endif
#if LOANS
     if
     :: atomic { loans < LOANS && !loaned ->
          loans++; loaned = 1; loan_start = head;
          set (on_loan, head, size, 1)
        }
     :: true
     fi;
#endif
     atomic {
       set (unread, head, size, 1);
       published = published + size;
       building = 0
     };
     publish (head, size);
     head = head + size;
next_unit:
     size = 0;
     unit++
  :: else -> break
  od;
  publish (0, END);
  done[P] = 1
}

#if LOANS
proctype LoanDropper ()
{
end:
  do
  :: atomic { !building && loaned ->
       loaned = 0; loan_start = 0;
       set (on_loan, 0, CAPACITY, 0)
     }
  od
}
#endif

inline copy_out ()
{
  d_step {
    for (i : start .. start + size - 1) {
      assert (unread[i % CAPACITY]);
      unread[i % CAPACITY] = 0
    }
  }
}

proctype Consumer ()
{
  byte qtail, tail, start, size, want;

  do
  :: atomic { m[QHEAD] > qtail ->
       start = d_start[qtail]; size = d_size[qtail];
       qtail++
     };
     if
     :: size == END -> break
     :: else
     fi;
     assert (start == tail);
#ifndef TAIL_BEFORE_COPY
     copy_out ();
#endif
#ifdef NO_FENCE_TAIL
     store_plain (C, TAIL, tail + size);
#else
     store_seq_cst (C, TAIL, tail + size);
#endif
     want = m[WANT_TAIL];
     if
     :: crossed (tail, want, tail + size) -> wake (C, P)
     :: else
     fi;
#ifdef TAIL_BEFORE_COPY
     copy_out ();
#endif
     atomic { tail = tail + size; size = 0; start = 0; want = 0 }
  :: atomic { m[QHEAD] == qtail -> skip };
     begin_wait (C);
#ifdef NO_FENCE_WANT_QHEAD
     store_plain (C, WANT_QHEAD, qtail + 1);
#else
     store_seq_cst (C, WANT_QHEAD, qtail + 1);
#endif
     if
     :: m[QHEAD] > qtail
     :: else ->
        begin_ppoll (C);
        atomic { event[C] -> asleep[C] = 0 }
     fi
  od;
  done[C] = 1
}

proctype Monitor ()
{
  bit lost_wake;

  timeout ->
  d_step {
    lost_wake = !(done[P] && done[C]);
    assert (!lost_wake)
  }
}

init
{
  atomic {
    run Producer (); run Consumer (); run Memory (); run Monitor ();
#if LOANS
    run LoanDropper ();
#endif
  }
}
