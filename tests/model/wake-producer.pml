/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The producer process of wake.pml, which explains the flags: the waits, publishing, loans. */

/* The segment the producer may take, or NONE. */
inline pick ()
{
  d_step {
    index = NONE;
#ifdef ANY
    for (i : 0 .. N - 1) {
      if
#ifdef LOAN_IGNORED
      :: index == NONE && is_freed (i) -> index = i
#else
      :: index == NONE && is_freed (i) && !loaned[i] -> index = i
#endif
      :: else
      fi
    }
#else
    i = index_of (s);
    if
#ifdef S_FROM_ZERO
    :: s < N || m[FREED + i] == s - N -> index = i
#else
#ifdef LOAN_IGNORED
    :: m[FREED + i] == s - N -> index = i
#else
    :: m[FREED + i] == s - N && !loaned[i] -> index = i
#endif
#endif
    :: else
    fi
#endif
  }
}

/* The value of `need`; 0 stands for BUSY: only this process can end the wait. */
inline count_need ()
{
  d_step {
#ifdef ANY
    n = 0;
    for (i : 0 .. N - 1) {
      if
      :: loaned[i] && is_freed (i) -> n++
      :: else
      fi
    }
    need = (n == N -> 0 : 1 + n);
#else
    need = (loaned[index_of (s)] -> 0 : s + 1);
#endif
  }
}

/* What a storage wait does whenever it returns. */
#ifdef NEED_STAYS
#define clear_need() in_wait = 0
#else
#define clear_need() atomic { empty (buffer[P]) -> m[NEED] = 0; in_wait = 0 }
#endif
#ifdef NOTICE_ONCE_EVER
#define forget_notice() skip
#else
#define forget_notice() atomic { told_need = 0; told_released = 0 }
#endif

/* The end of BUSY; enough for three segments. */
#ifdef ANY
#define loan_dropped() (!loaned[0] || !loaned[1] || !loaned[N - 1])
#else
#define loan_dropped() (!loaned[index_of (s)])
#endif

inline wait_slot ()
{
  do
  :: atomic { m[QTAIL] + SLOTS > qhead -> break }
  :: atomic { m[QTAIL] + SLOTS <= qhead -> skip };
     begin_wait (P);
#ifdef NO_FENCE_WANT_QTAIL
     store_plain (P, WANT_QTAIL, qhead - SLOTS + 1);
#else
     store_seq_cst (P, WANT_QTAIL, qhead - SLOTS + 1);
#endif
     reread_state ();
     if
     :: closing -> goto out
     :: !closing && m[QTAIL] + SLOTS > qhead -> break
     :: else ->
        begin_ppoll (P);
        atomic { event[P] -> asleep[P] = 0 }
     fi
  od
}

/* Leaves index at the segment, or at NONE when the wait was given up for a small unit. */
inline wait_storage ()
{
  skip;
retry:
  atomic { released = m[RELEASED]; assert (released >= seen); seen = released };
  pick ();
  if
  :: index != NONE -> goto have_storage
  :: else
  fi;
  do
  :: count_need ();
     if
     :: need == 0 ->                    /* BUSY: the caller waits for a loan to drop, and tries again */
        clear_need ();
        forget_notice ();
        busy = 1;
        atomic { loan_dropped () -> busy = 0 };
        goto retry
     :: else
     fi;
     begin_wait (P);
#ifdef NO_FENCE_WANT_RELEASED
     store_plain (LATE, WANT_RELEASED, released + THRESHOLD);
#else
     store_seq_cst (P, WANT_RELEASED, released + THRESHOLD);
#endif
#ifdef NO_FENCE_NEED
     atomic { buffer[P] ! NEED, need -> in_wait = 1 };
#else
     atomic { empty (buffer[P]) -> m[NEED] = need; in_wait = 1 };
#endif
     reread_state ();
     more = m[RELEASED];
     atomic {
       pick ();
       if
       :: closing || index != NONE -> more = 0; break
#ifndef REREAD_FREED_ONLY
       :: !closing && index == NONE && more >= released + THRESHOLD ->
          released = more; more = 0;
          goto again
#endif
       :: else -> more = 0
       fi
     };
#ifndef NOTICE_NEVER
     if
     :: m[WANT_QHEAD] > qhead && (told_need != need || told_released != released) ->
        wake (P, C);
        told_need = need; told_released = released
     :: else
     fi;
#endif
     begin_ppoll (P);
     if
     :: atomic { event[P] -> asleep[P] = 0 };
        released = m[RELEASED]
#if GIVEUPS
     :: atomic { giveups < GIVEUPS -> giveups++; asleep[P] = 0 };
        if
        :: break                        /* for a small unit */
        :: clear_need ();               /* the same call again */
           forget_notice ();
           goto retry
        fi
#endif
     fi;
again:
     skip
  od;
  clear_need ();
  forget_notice ();
  if
  :: closing -> goto out
  :: else
  fi;
have_storage:
  atomic { need = 0; released = 0 }
}

inline publish (index, s)
{
  d_step { i = qhead % (SLOTS + 1); d_index[i] = index; d_s[i] = s; d_unit[i] = qhead; qhead++ }
#ifdef NO_FENCE_QHEAD
  store_plain (P, QHEAD, qhead);
#else
  store_seq_cst (P, QHEAD, qhead);
#endif
  if
  :: m[WANT_QHEAD] == qhead -> wake (P, C)      /* old < want <= new */
  :: else
  fi
}

proctype Producer ()
{
  byte unit, s, qhead, index;
  byte released, more, seen, need, told_need, told_released;
  byte loans, aborts, giveups;
  bit closing;

#ifndef S_FROM_ZERO
  s = N;
#endif
  do
  :: unit < UNITS ->
     wait_slot ();
     index = NONE;
     if
     :: wait_storage ()
#ifdef SMALL
     :: skip
#endif
     fi;
     if
     :: index != NONE ->
        atomic { assert (!view[index]); assert (!loaned[index]); building = 1 };
        if
        :: skip
#if LOANS
        :: loans < LOANS -> loans++; loaned[index] = 1
#endif
        fi;
        if
#if ABORTS
        :: aborts < ABORTS ->           /* nothing is published; a loan stays what it is */
           aborts++; building = 0;
#ifdef ABORT_USES_S
           s++;
#endif
           goto next_unit
#endif
        :: d_step { building = 0; view[index] = 1; last[index] = s };
           publish (index, s);
           s++
        fi
     :: else ->
        publish (NONE, 0)
     fi;
next_unit:
     unit++
  :: else -> break
  od;
  publish (END, 0);
out:
  atomic { in_wait = 0; done[P] = 1 }
}

#if LOANS
/* Another thread of the producer process, or its collector, drops the last GBytes of an index. */
inline drop_loan (index)
{
#ifdef LOAN_DROP_UNORDERED
  need = m[NEED];
  loaned[index] = 0;
#else
  loaned[index] = 0;
  need = m[NEED];
#endif
#ifndef LOAN_DROP_SILENT
  if
  :: need != 0 -> event[P] = 1; need = 0
  :: else
  fi
#else
  need = 0
#endif
}

proctype LoanDropper ()
{
  byte need;
end:
  do
  :: !building && loaned[0] -> drop_loan (0)
  :: !building && loaned[1] -> drop_loan (1)
#if N > 2
  :: !building && loaned[2] -> drop_loan (2)
#endif
  od
}
#endif
