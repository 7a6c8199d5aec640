/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Epochs: start, stop, END, ERROR (protocol 5.3, 2.1, section 4).
 *
 * Consumer runs EPOCHS epochs. In each it reads as long as it likes, may stop the epoch, keeps up to
 * KEEP views (also into later epochs), and then starts the next one; CANCELS starts are cancelled while
 * they wait for the end of the old epoch. Producer sends up to UNITS units per epoch and ends it by
 * END, or by ERROR when its source fails at once. The queue has SLOTS slots for units and RESERVED
 * more; N = 2 segments are taken in order.
 *
 *   -DSLOTS=n -DRESERVED=n -DUNITS=n -DEPOCHS=n -DKEEP=n -DCANCELS=n    sizes
 *
 * Checked: the queue never overflows, although commit, END and ERROR do not wait; whatever is read
 * belongs to the epoch that runs; the number of an epoch follows the one before; a segment is not
 * received while it is held; and when nothing can move, all epochs are done or the producer waits for
 * segments that the application keeps.
 *
 * Not covered: store buffers and the event index (wake.pml; here every word is seq_cst, and the test
 * before a sleep is one step with it), spill fds, the third command (abort), deaths (teardown.pml).
 *
 * Each of these takes one rule away and must fail:
 *   -DWANTED_FIRST          5.3: the next epoch is asked for before END of the old one is read, and a
 *                           cancelled start takes a new number
 *   -DNUMBERS_SKIPPED       5.3: likewise, and the producer jumps to the newest number
 *   -DDISCARD_LEAKS         5.3: start() discards the rest of an epoch without releasing it
 *   -DSTORAGE_IGNORES_STOP  5.3: stop does not end a wait for storage
 *   -DRESERVED=0            section 4: no slot is kept for END and ERROR
 *   -DSTOP_USES_S           2.1: the unit that stop aborts does not give its s back
 *
 * Two rules are not needed for what is checked here: a slot wait that ignores stop is only late, as
 * start() empties the queue anyway; and one reserved slot would do.
 */

#ifndef SLOTS
#define SLOTS 1
#endif
#ifndef RESERVED
#define RESERVED 2
#endif
#ifndef UNITS
#define UNITS 2
#endif
#ifndef EPOCHS
#define EPOCHS 3
#endif
#ifndef KEEP
#define KEEP 1
#endif
#ifndef CANCELS
#define CANCELS 2
#endif
#ifdef NUMBERS_SKIPPED
#define WANTED_FIRST
#endif

#define N 2

#define P 0
#define C 1
mtype = { UNIT, END, ERROR, CANCELLED };

/* Shared words, the queue and the eventfds. */
byte  wanted, stopped;                  /* epoch numbers */
byte  qhead, qtail;
mtype d_kind[SLOTS + RESERVED];
byte  d_epoch[SLOTS + RESERVED], d_s[SLOTS + RESERVED];
byte  freed[N];
bit   event[2];

/* Private to the consumer. */
byte received[N];
bit  kept[N];
byte n_kept;

/* Ghosts. */
bit asleep[2];
bit in_storage_wait;
bit done;

#define index_of(s) ((s) % N)
#define is_stopped(e) (stopped >= e)

#define sleep(side) asleep[side] = 1
#define woken(side) atomic { event[side] -> event[side] = 0; asleep[side] = 0 }

inline publish (kind, number, s)
{
  atomic {
    assert (qhead - qtail < SLOTS + RESERVED);
    d_kind[qhead % (SLOTS + RESERVED)] = kind;
    d_epoch[qhead % (SLOTS + RESERVED)] = number;
    d_s[qhead % (SLOTS + RESERVED)] = s;
    qhead++
  };
  event[C] = 1
}

proctype Producer ()
{
  byte s = N, current, epoch, sent;

  do
  :: do                                 /* stand-by */
     :: atomic { wanted > current ->
#ifdef NUMBERS_SKIPPED
          epoch = wanted;
#else
#ifndef WANTED_FIRST
          assert (wanted == current + 1);
#endif
          epoch = current + 1;
#endif
          break
        }
     :: atomic { wanted <= current -> sleep (P) };
        woken (P)
     od;
     sent = 0;
     do
     :: sent == 0 ->                    /* the source fails at once */
        publish (ERROR, epoch, 0);
        goto ended
     :: sent > 0 || is_stopped (epoch) -> break
     :: sent < UNITS && !is_stopped (epoch) ->
        do                              /* a slot */
        :: atomic { qhead - qtail < SLOTS -> break }
        :: is_stopped (epoch) -> goto stop
        :: atomic { qhead - qtail >= SLOTS && !is_stopped (epoch) -> sleep (P) };
           woken (P)
        od;
        do                              /* a segment */
        :: atomic { freed[index_of (s)] == s - N -> break }
#ifdef STORAGE_IGNORES_STOP
        :: atomic { freed[index_of (s)] != s - N ->
             sleep (P); in_storage_wait = 1
           };
#else
        :: is_stopped (epoch) -> goto stop
        :: atomic { freed[index_of (s)] != s - N && !is_stopped (epoch) ->
             sleep (P); in_storage_wait = 1
           };
#endif
           atomic { event[P] -> event[P] = 0; asleep[P] = 0; in_storage_wait = 0 }
        od;
        if
        :: is_stopped (epoch) ->        /* the open unit is aborted */
#ifdef STOP_USES_S
           s++;
#endif
           break
        :: true ->                      /* commit may still publish after stop */
           publish (UNIT, epoch, s);
           s++;
           sent++
        fi
     od;
stop:
     publish (END, epoch, 0);
ended:
     current = epoch; epoch = 0
  od
}

inline release (s)
{
  freed[index_of (s)] = s;
  event[P] = 1
}

/* Take one descriptor into kind, number and s; or CANCELLED, where that may be. */
inline take (cancellable)
{
  do
  :: atomic { qhead > qtail ->
       kind = d_kind[qtail % (SLOTS + RESERVED)];
       number = d_epoch[qtail % (SLOTS + RESERVED)];
       s = d_s[qtail % (SLOTS + RESERVED)];
       qtail++;
       if
       :: kind == UNIT ->
          assert (freed[index_of (s)] == received[index_of (s)]);
          received[index_of (s)] = s
       :: else
       fi
     };
     event[P] = 1;
     break
  :: atomic { cancellable && cancels < CANCELS -> cancels++; kind = CANCELLED; break }
  :: atomic { qhead == qtail -> sleep (C) };
     woken (C)
  od
}

inline drop_kept ()
{
  atomic {
    if
    :: kept[0] -> index = 0
    :: kept[1] -> index = 1
    fi;
    kept[index] = 0; n_kept--
  };
  release (received[index]);
  index = 0
}

inline discard (s)
{
#ifdef DISCARD_LEAKS
  skip
#else
  release (s)
#endif
}

inline start ()
{
#ifdef WANTED_FIRST
  epoch++; wanted = epoch; stopped = epoch - 1;
  event[P] = 1;
  do
  :: !running -> break
  :: running ->
     take (1);
     if
     :: kind == CANCELLED -> goto cancelled
     :: kind == UNIT -> discard (s)
     :: kind == END || kind == ERROR ->
        if
        :: number == epoch - 1 -> break
        :: else
        fi
     fi
  od;
#else
  if
  :: running && !is_stopped (epoch) -> stopped = epoch; event[P] = 1
  :: else
  fi;
  do
  :: !running -> break
  :: running ->
     take (1);
     if
     :: kind == CANCELLED -> goto cancelled
     :: kind == UNIT -> discard (s)
     :: kind == END || kind == ERROR -> assert (number == epoch); running = 0
     fi
  od;
  epoch++; wanted = epoch;
  event[P] = 1;
#endif
  running = 1
}

proctype Consumer ()
{
  byte epoch, number, s, index, cancels;
  mtype kind;
  bit running;

  do
  :: epoch == EPOCHS -> break
  :: epoch < EPOCHS ->
     start ();
     do                                 /* read for a while */
     :: break
     :: !is_stopped (epoch) -> stopped = epoch; event[P] = 1
     :: n_kept > 0 -> drop_kept ()
     :: !(n_kept == N) && running ->
        take (0);
        assert (number == epoch);
        if
        :: kind == UNIT -> release (s)
        :: atomic { kind == UNIT && n_kept < KEEP -> kept[index_of (s)] = 1; n_kept++ }
        :: kind != UNIT -> running = 0
        fi
     od;
cancelled:
     skip
  od;
  do                                    /* in the end drop all and read the last epoch to its end */
  :: n_kept > 0 -> drop_kept ()
  :: n_kept == 0 && running ->
     take (0);
     if
     :: kind == UNIT -> release (s)
     :: kind != UNIT && number == epoch -> running = 0
     :: kind != UNIT && number != epoch -> skip
     fi
  :: n_kept == 0 && !running -> break
  od;
  done = 1
}

/* Nothing can move: is that the end, or the application's own doing? */
proctype Monitor ()
{
  bit hang;

  timeout ->
  d_step {
    hang = !done && !(asleep[P] && asleep[C] && in_storage_wait && qhead == qtail && n_kept > 0
                      && wanted > stopped);
    assert (!hang)
  }
}

init
{
  atomic {
    freed[0] = 0; freed[1] = 1;
    received[0] = 0; received[1] = 1;
    run Producer (); run Consumer (); run Monitor ()
  }
}
