/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The machine under wake.pml and ring.pml: words in shared memory, store buffers, eventfds.
 *
 * The including file defines WORDS, how many words there are, and THREADS = 3, the threads that write
 * them.
 *
 * - A plain or release store goes into the FIFO buffer of its thread. The process Memory empties the
 *   buffers, one store at a time, whenever it likes (total store order).
 * - A seq_cst store and a read-modify-write happen once the thread's buffer is empty, and are visible
 *   at once.
 * - A write to an eventfd is a system call: it empties the buffer first.
 * - A thread that reads back what it stores keeps a copy of its own, so no load looks into a buffer.
 * - Buffer LATE belongs to no thread. It takes a store that a later seq_cst store to another word need
 *   not push out: the language allows that for a relaxed store, total store order does not.
 *
 * Reordering of loads is not modelled: what relies on an acquire load stays an argument.
 */

#define LATE THREADS

byte m[WORDS];
chan buffer[THREADS + 1] = [2] of { byte, byte };
bit  event[2];                          /* the eventfd each endpoint sleeps on */

/* A load is the assignment x = m[word]. These are the other accesses, by thread t. */
inline store_plain (t, word, value)   { buffer[t] ! word, value }
inline store_seq_cst (t, word, value) { atomic { empty (buffer[t]) -> m[word] = value } }
inline wake (t, side)                 { atomic { empty (buffer[t]) -> event[side] = 1 } }
inline drain (side)                   { event[side] = 0 }

proctype Memory ()
{
  byte word, value;
end:
  do
  :: atomic { buffer[0] ? word, value -> m[word] = value; word = 0; value = 0 }
  :: atomic { buffer[1] ? word, value -> m[word] = value; word = 0; value = 0 }
  :: atomic { buffer[2] ? word, value -> m[word] = value; word = 0; value = 0 }
  :: atomic { buffer[3] ? word, value -> m[word] = value; word = 0; value = 0 }
  od
}
