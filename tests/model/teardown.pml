/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Teardown and death (protocol 2.3, 2.5, 3.3, 3.6, 5.4, 5.5, section 6).
 *
 * Consumer process: Caller sits in next() or polls, Releaser drops leases on a second thread, Closer may
 * shut down, or close and drop the last reference to the endpoint, on a third. Producer process:
 * Producer sends UNITS units on N credits. Killer ends at most one process, between any two of its
 * steps, or stops the producer's for ever. What a process wrote, and its eventfds, stay; the other
 * side's ppoll shows a death (pidfd or HUP).
 *
 *   -DUNITS=n -DN=n    sizes; with N=0 the first unit waits for ever
 *   -DPOLLING          the application never waits in next(): it calls it with timeout 0 again and
 *                      again (3.6); only the producer dies
 *
 * Checked: no thread touches the control mapping or an eventfd after it is gone, and both are gone in the
 * end; every published unit is delivered before END, or before the death is reported; who survives
 * learns of a death, a shutdown or a close; a producer that is stopped is not taken for dead; a try that
 * begins after the death says neither WOULD_BLOCK nor BUSY.
 *
 * Not covered: store buffers (wake.pml), the join and kill ladder of close, the death of both, what unlink
 * does to the data memory, spill fds, the bytes of a torn unit (nothing is published before it is whole).
 *
 * Each of these takes one rule away and must fail:
 *   -DCLOSE_UNMAPS           2.5: close() unmaps and closes the eventfds at once
 *   -DUNLINK_CLOSES          2.5: unlink closes the eventfds
 *   -DREFERENCE_FIRST        2.3: a release drops its reference before it wakes
 *   -DCALL_WITHOUT_REFERENCE 2.5: a running call holds no reference
 *   -DNO_WATCH_CONSUMER      3.7: the consumer does not watch for death
 *   -DNO_WATCH_PRODUCER      3.7: nor the producer
 *   -DCURSOR_BEFORE_NOTICE   section 6: the cursor is not read again after the notice of death
 *   -DTRY_WITHOUT_PPOLL      3.6: a try says WOULD_BLOCK without a ppoll
 *   -DSTARVED_WITHOUT_PPOLL  5.4: a try claims starvation before a ppoll has shown no death
 *   -DSTATE_WAKES_PEER_ONLY  3.3: a state change does not wake the own side
 */

#ifndef UNITS
#define UNITS 3
#endif
#ifndef N
#define N 2
#endif

#define P 0
#define C 1

/* Shared words and the eventfds. */
byte qhead, want_qhead;
byte released, want_released;
bit  need;                              /* the producer waits for storage */
bit  closing;                           /* shutdown or close */
bit  ended;                             /* END is in the queue behind qhead */
bit  left;                              /* the producer has closed */
bit  event[2];

/* The consumer process: the endpoint's resources and who holds them. */
byte references = 1;                    /* the application's own, one per lease, one per call */
bit  owned = 1;                         /* the application still has its own */
bit  mapped = 1, fds_open = 1;
bit  closed;
byte leases;                            /* with the Releaser */

/* Ghosts. */
bit dead[2];
bit stopped;                            /* SIGSTOP: the producer neither moves nor dies */
bit done[2], releaser_done, closer_done;

mtype = { NOTHING, ENDED, CLOSED, PEER_GONE, WOULD_BLOCK, BUSY };

#define touch_words assert (mapped)
#define touch_fds   assert (fds_open)

inline unref ()
{
  atomic {
    references--;
    if
    :: references == 0 -> mapped = 0; fds_open = 0
    :: else
    fi
  }
}

inline change_state ()
{
  atomic { touch_words; closing = 1 };
  atomic { touch_fds; event[P] = 1 };
#ifndef STATE_WAKES_PEER_ONLY
  atomic { touch_fds; event[C] = 1 }
#endif
}

inline release ()
{
  if
  :: closed -> skip                     /* writes nothing shared */
  :: else ->
     atomic { touch_words; old = released; released++ };
#ifdef REFERENCE_FIRST
     unref ();
#endif
     atomic { touch_words; crossing = (want_released == old + 1); old = 0 };
     if
     :: crossing -> atomic { touch_fds; event[P] = 1; crossing = 0 }
     :: else
     fi
  fi;
#ifdef REFERENCE_FIRST
  skip
#else
  unref ()
#endif
}

proctype Producer () provided (!dead[P] && !stopped)
{
  byte unit;

  do
  :: unit < UNITS && !closing ->
     do
     :: atomic { unit < N + released -> break }
     :: atomic { unit >= N + released -> event[P] = 0 };
        want_released = unit - N + 1;
        need = 1;
        if
        :: closing -> goto out
        :: !closing && unit < N + released -> break
        :: else ->
           if
           :: event[P]
#ifndef NO_WATCH_PRODUCER
           :: dead[C] -> goto out
#endif
           fi
        fi
     od;
     need = 0;
     qhead = unit + 1;
     if
     :: want_qhead == unit + 1 -> event[C] = 1
     :: else
     fi;
     unit++
  :: unit == UNITS -> ended = 1; event[C] = 1; break
  :: closing -> break
  od;
out:
  need = 0;
  left = 1;
  atomic { event[C] = 1; done[P] = 1 }
}

/* One call of next(): a unit goes to the Releaser or is released at once; or result says what else. */
inline next ()
{
#ifdef POLLING
  began_dead = dead[P];
#endif
  result = NOTHING;
  do
  :: atomic { qhead > qtail -> touch_words; qtail++; references++ };
     if
     :: leases++
     :: release ()
     fi;
     break
  :: atomic { qhead == qtail -> touch_fds; event[C] = 0 };
     atomic { touch_words; want_qhead = qtail + 1 };
     atomic {
       touch_words;
       if
       :: closing -> result = CLOSED
       :: !closing && ended -> result = ENDED
       :: !closing && !ended && left -> result = CLOSED
       :: else
       fi
     };
     if
     :: qhead > qtail -> result = NOTHING       /* what is published comes first */
     :: qhead == qtail && result != NOTHING -> break
     :: else ->
#ifdef CURSOR_BEFORE_NOTICE
        snapshot = qhead;
#endif
#ifdef POLLING
#ifdef STARVED_WITHOUT_PPOLL
        if
        :: need && qhead == qtail -> result = BUSY; break
        :: else
        fi;
#endif
        if
#ifdef TRY_WITHOUT_PPOLL
        :: true -> result = WOULD_BLOCK; break
#else
        :: atomic { !dead[P] && !event[C] -> touch_fds };
           if
           :: need && qhead == qtail -> result = BUSY
           :: else -> result = WOULD_BLOCK
           fi;
           break
#endif
#else
        if
#endif
        :: atomic { event[C] -> touch_fds }
#ifndef NO_WATCH_CONSUMER
        :: atomic { dead[P] -> touch_fds };
#ifndef CURSOR_BEFORE_NOTICE
           snapshot = qhead;
#endif
           if
           :: snapshot > qtail -> snapshot = 0
           :: atomic { else -> assert (qhead == qtail); snapshot = 0; result = PEER_GONE };
              break
           fi
#endif
        fi
     fi
  od
}

proctype Caller () provided (!dead[C])
{
  byte qtail, old, snapshot;
  bit crossing, began_dead;
  mtype result = NOTHING;

  do
  :: atomic { owned && result != ENDED && result != CLOSED && result != PEER_GONE ->
#ifndef CALL_WITHOUT_REFERENCE
       references++
#endif
     };
     next ();
     assert (result != ENDED || qtail == UNITS);
#ifdef POLLING
     assert (!began_dead || (result != WOULD_BLOCK && result != BUSY));
     if
     :: result == WOULD_BLOCK || result == BUSY ->    /* it comes back when something has changed */
        atomic { event[C] || dead[P] || !owned || closing -> result = NOTHING }
     :: else
     fi;
#endif
#ifndef CALL_WITHOUT_REFERENCE
     unref ()
#endif
  :: result == ENDED || result == CLOSED || result == PEER_GONE || !owned -> break
  od;
  if
  :: atomic { owned -> owned = 0 };     /* close, unlink, the last reference */
     change_state ();
     closed = 1;
#ifdef UNLINK_CLOSES
     fds_open = 0;
#endif
#ifdef CLOSE_UNMAPS
     atomic { mapped = 0; fds_open = 0 };
#endif
     atomic { unref (); done[C] = 1 }
  :: atomic { else -> done[C] = 1 }
  fi
}

proctype Releaser () provided (!dead[C])
{
  byte old;
  bit crossing;

  do
  :: atomic { leases > 0 -> leases-- };
     release ()
  :: atomic { done[C] && leases == 0 -> releaser_done = 1; break }
  od
}

proctype Closer () provided (!dead[C])
{
  if
  :: closer_done = 1
  :: atomic { owned -> references++ };  /* shutdown */
     change_state ();
     atomic { unref (); closer_done = 1 }
  :: atomic { owned -> owned = 0 };     /* close, and the last reference */
     change_state ();
     closed = 1;
     atomic { unref (); closer_done = 1 }
  fi
}

proctype Killer ()
{
  if
  :: !done[P] -> dead[P] = 1
#ifndef POLLING
  :: dead[C] = 1
  :: stopped = 1
#endif
  :: skip
  fi
}

proctype Monitor ()
{
  bit never_learns, leak;

  timeout ->
  d_step {
    never_learns = (!dead[P] && !stopped && !done[P]
                    || !dead[C] && !done[C] && (!stopped || closing));
    leak = (!dead[C] && done[C]
            && !(releaser_done && closer_done && references == 0 && !mapped && !fds_open));
    assert (!never_learns);
    assert (!leak)
  }
}

init
{
  atomic {
    run Producer (); run Caller (); run Releaser (); run Closer (); run Killer (); run Monitor ()
  }
}
