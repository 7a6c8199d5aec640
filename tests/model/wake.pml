/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Waking, segments, loans and starvation of a pool (protocol 2.1, 2.3, 2.4, 2.6, 3.2 to 3.5, 5.4).
 *
 * Producer sends UNITS units through a queue of SLOTS slots (one more is kept for END). Each takes one of
 * N segments. Consumer keeps up to KEEP views, releases the others at once, and may drop a kept view
 * between any two calls or in its `starved` handler. The threshold is 1, nothing is flushed.
 *
 *   -DN=2..5 -DKEEP=0..N -DUNITS=n -DSLOTS=n    sizes
 *   -DANY        any free segment is taken, not the one in order (2.4)
 *   -DSMALL      a unit may need no segment (2.1: it takes no s)
 *   -DRELEASER   a second consumer thread drops views (2.3: from any thread); N <= 4
 *   -DLOANS=n    n units leave a GBytes alive in the producer, which another thread drops (2.6); with
 *                -DLOANS_STAY, never; N <= 3
 *   -DABORTS=n   n units are aborted after they got their segment (2.1)
 *   -DGIVEUPS=n  n storage waits end by deadline, cancel or WOULD_BLOCK; then the call is repeated or a
 *                small unit sent (3.5)
 *   -DSHUTDOWN   a third thread shuts down at any time (3.3)
 *
 * Checked: a segment is never handed out while a view or a loan of it lives; units arrive once, in order,
 * and in a segment the consumer does not hold; `released` never runs backwards; starvation is claimed
 * only where it is true; and when nothing can move any more, both sides are done, or the producer waits
 * for segments that are all in the application's hands and the consumer has said so.
 *
 * Not covered: deaths, close and unmapping (teardown.pml), commands and epochs (epoch.pml), ring bytes
 * (ring.pml), spinning before a sleep, machines weaker than total store order, larger thresholds.
 *
 * Each of these takes one rule away and must fail:
 *   -DNO_FENCE_QHEAD, _WANT_QHEAD, _QTAIL, _WANT_QTAIL, _NEED    3.2, 3.5: that store is not seq_cst
 *   -DNO_FENCE_WANT_RELEASED   3.2: likewise. By total store order alone it would be redundant, as the
 *                              seq_cst store of `need` behind it empties the store buffer; it goes to
 *                              the buffer LATE instead
 *   -DDRAIN_AFTER_REREAD       3.3: the eventfd is emptied between re-read and ppoll
 *   -DSTATE_NOT_REREAD         3.3: the state is read before the eventfd is drained, and the re-read
 *                              looks at the cursor only
 *   -DSTATE_WAKES_PEER_ONLY    3.3: a state change wakes the other side and not its own
 *   -DREREAD_FREED_ONLY        3.4: `released` is not re-read after it was armed
 *   -DTHRESHOLD=2              3.4: the producer asks for two releases
 *   -DNOTICE_NEVER             3.5: an armed producer does not tell a sleeping consumer
 *   -DNOTICE_ONCE_EVER         3.5: what it told in an earlier wait, it does not tell again in a later
 *                              one, although the consumer may have seen `need` 0 in between
 *   -DNEED_STAYS               3.5: a wait that returns leaves `need` set
 *   -DRELEASED_NOT_RMW         2.3: `released` is a load and a store
 *   -DFREED_AFTER_RELEASED     2.3: `released` is counted before freed[] is stored
 *   -DWANT_BEFORE_RELEASED     2.3: `want` is loaded before `released` is counted
 *   -DS_FROM_ZERO              2.1: s starts at 0, freed[] at 0, the first lap is an exception
 *   -DABORT_USES_S             2.1: an aborted unit does not give its s back
 *   -DHELD_MARK                2.3: a second mark says held, cleared after freed[]
 *   -DLOAN_IGNORED             2.6: a freed segment is taken although loaned
 *   -DLOAN_DROP_SILENT         2.6: the drop of a loan wakes nobody
 *   -DLOAN_DROP_UNORDERED      2.6: it looks for a sleeping producer before it clears the mark
 *   -DSTARVED_ALL_HELD         5.4, in order: starved means that all segments are held
 *   -DSTARVED_NO_LOANS         5.4, any: starved does not count freed segments on loan
 *   -DSTARVED_BY_WANT          5.4: `want` stands for `need`
 *   -DSTARVED_QHEAD_FIRST      5.4: the cursor is read before `need`
 */

#ifndef N
#define N 2
#endif
#ifndef KEEP
#define KEEP 1
#endif
#ifndef UNITS
#define UNITS (N + 2)
#endif
#ifndef SLOTS
#define SLOTS N
#endif
#ifndef LOANS
#define LOANS 0
#endif
#ifndef ABORTS
#define ABORTS 0
#endif
#ifndef GIVEUPS
#define GIVEUPS 0
#endif
#ifndef THRESHOLD
#define THRESHOLD 1
#endif

/* The words. P: the producer writes it, C: the consumer. */
#define QHEAD         0                 /* P: units published */
#define WANT_RELEASED 1                 /* P: wake me when `released` gets here */
#define WANT_QTAIL    2                 /* P */
#define NEED          3                 /* P: 0, or what it waits for */
#define QTAIL         4                 /* C: units taken */
#define RELEASED      5                 /* C: segments released, a count */
#define WANT_QHEAD    6                 /* C */
#define CLOSING       7                 /* C: another thread shuts down */
#define FREED         8                 /* C: [N], the last s released from that index */
#define WORDS         (FREED + N)

/* The threads that write them. The first two also name the eventfds. */
#define P 0
#define C 1
#define R 2
#define THREADS 3
#include "memory.pml"

#define NONE 99                         /* no segment */
#define END  98                         /* not a unit */

/* The queue: what a descriptor says. */
byte d_index[SLOTS + 1], d_s[SLOTS + 1], d_unit[SLOTS + 1];

/* Private to the producer process. */
byte last[N];                           /* the s last published in an index */
bit  loaned[N];

/* Private to the consumer process. */
byte received[N];                       /* the s last received from an index */
bit  kept[N];
bit  given[N];                          /* the Releaser has it */
#ifdef HELD_MARK
bit  held_mark[N];
#endif

/* Ghosts: what the checks know. */
bit view[N];                            /* the consumer may still read it */
bit building;
bit busy;                               /* told BUSY, the caller waits for its own loan */
bit in_wait;                            /* the producer waits for storage */
bit asleep[2];
bit done[2];
bit starved;                            /* so the consumer's last look said */
hidden byte i, n;                       /* temporaries inside one step */

#define index_of(s) ((s) % N)
#define is_held(i)  (m[FREED + (i)] != received[i])
#define is_freed(i) (m[FREED + (i)] == last[i])

/* The steps of a wait (3.3): drain, arm, re-read everything, ppoll. */
#ifdef DRAIN_AFTER_REREAD
#define begin_wait(side)  load_state_early ()
#define begin_ppoll(side) drain (side); asleep[side] = 1
#else
#define begin_wait(side)  load_state_early (); drain (side)
#define begin_ppoll(side) asleep[side] = 1
#endif
#if defined (SHUTDOWN) && defined (STATE_NOT_REREAD)
#define load_state_early() closing = m[CLOSING]
#define reread_state()     skip
#elif defined (SHUTDOWN)
#define load_state_early() skip
#define reread_state()     closing = m[CLOSING]
#else
#define load_state_early() skip
#define reread_state()     skip
#endif

#include "wake-producer.pml"
#include "wake-consumer.pml"

#ifdef SHUTDOWN
/* A thread of the consumer process. */
proctype Shutter ()
{
  if
  :: skip
  :: m[CLOSING] = 1;
     event[P] = 1;
#ifndef STATE_WAKES_PEER_ONLY
     event[C] = 1
#endif
  fi
}
#endif

/* Nothing can move: is that the end, or the application's own doing? */
proctype Monitor ()
{
  bit usable, lost_wake, unclaimed;

  timeout ->
  d_step {
    if
    :: done[P] && done[C]
    :: else ->
       for (i : 0 .. N - 1) {
         usable = usable || (is_freed (i) && !loaned[i]
#ifndef ANY
                             && i == index_of (m[NEED] - 1)
#endif
                            )
       }
       lost_wake = (!asleep[C] || m[QHEAD] != m[QTAIL] || m[CLOSING]
                    || !busy && (!asleep[P] || !in_wait || usable));
       unclaimed = !busy && !starved;
       assert (!lost_wake);
       assert (!unclaimed)
    fi
  }
}

init
{
  d_step {
#ifndef S_FROM_ZERO
    for (i : 0 .. N - 1) {
      m[FREED + i] = i; last[i] = i; received[i] = i
    }
#endif
    i = 0
  }
  atomic {
    run Producer (); run Consumer (); run Memory (); run Monitor ();
#if LOANS
#ifndef LOANS_STAY
    run LoanDropper ();
#endif
#endif
#ifdef RELEASER
    run Releaser ();
#endif
#ifdef SHUTDOWN
    run Shutter ();
#endif
  }
}
