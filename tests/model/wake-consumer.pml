/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The consumer process of wake.pml, which explains the flags: next(), releases, starvation. */

/* Thread t releases the view of an index. */
inline release (t, index)
{
#ifndef FREED_AFTER_RELEASED
  atomic { buffer[t] ! FREED + index, received[index] -> view[index] = 0 };
#endif
#ifdef HELD_MARK
  held_mark[index] = 0;
#endif
#ifdef WANT_BEFORE_RELEASED
  want = m[WANT_RELEASED];
#endif
#ifdef RELEASED_NOT_RMW
  old = m[RELEASED];
  store_seq_cst (t, RELEASED, old + 1);
#else
  atomic { empty (buffer[t]) -> old = m[RELEASED]; m[RELEASED] = old + 1 };
#endif
#ifndef WANT_BEFORE_RELEASED
  want = m[WANT_RELEASED];
#endif
  if
  :: atomic { want == old + 1 -> want = 0; old = 0 };   /* old < want <= new */
     wake (t, P)
  :: atomic { else -> want = 0; old = 0 }
  fi;
#ifdef FREED_AFTER_RELEASED
  atomic { buffer[t] ! FREED + index, received[index] -> view[index] = 0 };
#endif
  index = 0
}

/* Choose a kept view into index. */
inline choose_kept ()
{
  if
  :: kept[0] -> index = 0
  :: kept[1] -> index = 1
#if N > 2
  :: kept[2] -> index = 2
#endif
#if N > 3
  :: kept[3] -> index = 3
#endif
#if N > 4
  :: kept[4] -> index = 4
#endif
  fi;
  kept[index] = 0; n_kept--
}

/* Is the producer starved by the views this process holds? */
inline look_starved ()
{
#ifdef STARVED_QHEAD_FIRST
  head = m[QHEAD];
#endif
  atomic {
#ifdef STARVED_BY_WANT
    need = (m[WANT_RELEASED] > m[RELEASED] -> 1 : 0);
#else
    need = m[NEED];
#endif
    truly = in_wait && m[QHEAD] == qtail
  };
#ifndef STARVED_QHEAD_FIRST
  head = m[QHEAD];
#endif
  d_step {
    n = 0;
    for (i : 0 .. N - 1) {
      if
      :: is_held (i) -> n++
      :: else
      fi
    }
    if
    :: need == 0 || head != qtail -> starved = 0
    :: else ->
#ifdef ANY
#ifdef STARVED_NO_LOANS
       starved = (n == N);
#else
       starved = (n + need - 1 == N);
#endif
#else
#ifdef STARVED_ALL_HELD
       starved = (n == N);
#else
       starved = is_held (index_of (need - 1));
#endif
#endif
    fi;
    assert (!starved || truly);
    need = 0; head = 0; truly = 0
  }
}

proctype Consumer ()
{
  byte qtail, index, old, want, n_kept, need, head;
  bit closing, truly;

  do
  :: n_kept > 0 ->                      /* the application drops a view between two calls */
     atomic { choose_kept () };
     release (C, index)
  :: atomic { m[QHEAD] > qtail ->       /* next() */
       starved = 0;
       i = qtail % (SLOTS + 1);
       assert (d_unit[i] == qtail);
       index = d_index[i];
       if
       :: index < N ->
#ifdef HELD_MARK
          assert (!held_mark[index]);
          held_mark[index] = 1;
#else
          assert (!is_held (index));
#endif
          received[index] = d_s[i]
       :: else
       fi;
       qtail++
     };
#ifdef NO_FENCE_QTAIL
     store_plain (C, QTAIL, qtail);
#else
     store_seq_cst (C, QTAIL, qtail);
#endif
     if
     :: m[WANT_QTAIL] == qtail -> wake (C, P)
     :: else
     fi;
     if
     :: index == END -> break
     :: index == NONE -> index = 0
     :: index < N -> release (C, index)
     :: atomic { index < N && n_kept < KEEP -> kept[index] = 1; n_kept++; index = 0 }
#ifdef RELEASER
     :: atomic { index < N -> given[index] = 1; index = 0 }
#endif
     fi
  :: atomic { m[QHEAD] == qtail -> skip };
     begin_wait (C);
#ifdef NO_FENCE_WANT_QHEAD
     store_plain (C, WANT_QHEAD, qtail + 1);
#else
     store_seq_cst (C, WANT_QHEAD, qtail + 1);
#endif
     reread_state ();
     if
     :: closing -> break
     :: !closing && m[QHEAD] > qtail -> skip
     :: else ->
        look_starved ();
        if
        :: starved && n_kept > 0 ->     /* the handler frees something; the wait starts again */
           atomic { choose_kept () };
           release (C, index)
        :: true ->
           begin_ppoll (C);
           atomic { event[C] -> asleep[C] = 0 }
        fi
     fi
  od;
  done[C] = 1
}

#ifdef RELEASER
proctype Releaser ()
{
  byte index, old, want;
end:
  do
  :: atomic { given[0] -> given[0] = 0; index = 0 };
     release (R, index)
  :: atomic { given[1] -> given[1] = 0; index = 1 };
     release (R, index)
#if N > 2
  :: atomic { given[2] -> given[2] = 0; index = 2 };
     release (R, index)
#endif
#if N > 3
  :: atomic { given[3] -> given[3] = 0; index = 3 };
     release (R, index)
#endif
  od
}
#endif
