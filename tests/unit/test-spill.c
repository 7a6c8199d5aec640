/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-test.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/arena-compat-private.h"
#include "base/arena-error.h"
#include "boundary/arena-spill-layout-private.h"
#include "boundary/arena-spill-private.h"
#include "memory/arena-memfd-private.h"
#include "memory/arena-spill-file-private.h"
#include "sync/arena-socket-private.h"

#define SIZE     5000
#define ENVELOPE 256

/* The consumer's channel of a boundary; what stands in for its producer writes to the other end of the socket. */
typedef struct
{
  ArenaChannel *channel;
  int           remote;
  guint64       number;
} Fixture;

static void
set_up (Fixture *f)
{
  ArenaGeometry geometry;
  int sockets[2];

  g_assert_true (arena_geometry_init_pool (&geometry, 4096, 2, NULL));
  g_assert_true (arena_geometry_set_queue (&geometry, 2, ENVELOPE, 64, NULL));
  *f = (Fixture) { .channel = arena_channel_new (&geometry, NULL) };
  g_assert_true (arena_socket_pair (sockets, NULL));
  f->channel->peer.socket = sockets[0];
  f->remote = sockets[1];
}

static void
tear_down (Fixture *f)
{
  arena_channel_unref (f->channel);
  close (f->remote);
}

/* A file of the fields' pattern and, with @envelope_size, an envelope's. */
static int
make_file (gsize    fields_size,
           gsize    envelope_size,
           gboolean sealed)
{
  g_auto(ArenaSpillFile) file;
  g_autofree guint8 *data = g_malloc (MAX (fields_size, envelope_size));
  guint64 offset;

  arena_spill_file_init (&file);
  if (fields_size > 0)
    {
      arena_test_fill_pattern (data, fields_size, 1);
      g_assert_true (arena_spill_file_append (&file, data, fields_size, &offset, NULL));
    }
  if (envelope_size > 0)
    {
      arena_test_fill_pattern (data, envelope_size, 2);
      g_assert_true (arena_spill_file_append (&file, data, envelope_size, &offset, NULL));
    }
  if (sealed)
    g_assert_true (arena_spill_file_seal (&file, NULL));
  return g_steal_fd (&file.fd);
}

static void
send_message (Fixture           *f,
              ArenaSpillMessage  message,
              gsize              size,
              const int         *fds,
              guint              n_fds)
{
  g_assert_true (arena_socket_send (f->remote, &message, size, fds, n_fds, NULL));
}

static ArenaSpillMessage
good_message (void)
{
  return (ArenaSpillMessage) { .magic = ARENA_SPILL_MAGIC, .unit = 7, .fields_size = SIZE };
}

static ArenaSlot
good_slot (void)
{
  return (ArenaSlot) { .kind = ARENA_SLOT_UNIT, .unit = 7, .spilled = 1, .envelope_size = ENVELOPE };
}

/* The producer's side, over the same socket. */
static void
send_good (Fixture *f,
           guint64  number,
           gsize    fields_size,
           gsize    envelope_size)
{
  ArenaChannel *other = arena_channel_alloc (ARENA_ROLE_PRODUCER);
  g_autofd int fd = make_file (fields_size, envelope_size, TRUE);
  guint64 next = number;

  other->peer.socket = fcntl (f->remote, F_DUPFD_CLOEXEC, 0);
  g_assert_true (arena_spill_send (other, &next, 7, fd, fields_size, NULL));
  g_assert_cmpuint (next, ==, number + 1);
  arena_channel_unref (other);
}

/* Fields, an envelope, and both; the bytes outlive everything else. */
static void
test_round_trip (void)
{
  static const guint sizes[][2] = { { SIZE, 0 }, { 1, 0 }, { 0, 3000 }, { SIZE, 3000 } };
  Fixture f;

  set_up (&f);
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_autofree guint8 *envelope = NULL;
      g_autoptr(GBytes) fields = NULL;
      g_autoptr(GError) error = NULL;
      ArenaSlot slot = good_slot ();

      if (sizes[i][1] > 0)
        slot.envelope_size = sizes[i][1];
      send_good (&f, i, sizes[i][0], sizes[i][1]);
      arena_spill_receive (f.channel, &f.number, &slot, &fields, &envelope, &error);
      g_assert_no_error (error);
      g_assert_cmpuint (f.number, ==, i + 1);
      g_assert_cmpint (envelope != NULL, ==, sizes[i][1] > 0);
      g_assert_true (envelope == NULL || arena_test_check_pattern (envelope, sizes[i][1], 2));
      g_assert_cmpint (fields != NULL, ==, sizes[i][0] > 0);
      if (fields == NULL)
        continue;
      g_assert_cmpuint (g_bytes_get_size (fields), ==, sizes[i][0]);
      g_assert_true (arena_test_check_pattern (g_bytes_get_data (fields, NULL), sizes[i][0], 1));
      /* As the views of a pool. */
      ((guint8 *) g_bytes_get_data (fields, NULL))[0]++;
    }
  tear_down (&f);
}

static void
assert_refused (Fixture    *f,
                ArenaSlot   slot,
                const char *text)
{
  g_autofree guint8 *envelope = NULL;
  g_autoptr(GBytes) fields = NULL;
  g_autoptr(GError) error = NULL;
  ArenaTestResources resources;

  arena_test_resources_begin (&resources);
  g_assert_false (arena_spill_receive (f->channel, &f->number, &slot, &fields, &envelope, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL, text);
  g_assert_null (fields);
  g_assert_null (envelope);
  arena_test_resources_end (&resources);
  tear_down (f);
}

static void
refuse_file (int         fd,
             const char *text)
{
  Fixture f;

  set_up (&f);
  send_message (&f, good_message (), sizeof (ArenaSpillMessage), &fd, 1);
  close (fd);
  assert_refused (&f, good_slot (), text);
}

/* Costs its sender nothing. */
static int
make_sparse_file (void)
{
  g_auto(ArenaSpillFile) file = { .fd = arena_memfd_new_empty ("arena-test", NULL) };

  g_assert_no_errno (ftruncate (file.fd, SIZE));
  g_assert_true (arena_spill_file_seal (&file, NULL));
  return g_steal_fd (&file.fd);
}

/* Whatever comes in place of a sealed file of that size. */
static void
test_bad_files (void)
{
  int pipes[2];

  refuse_file (make_sparse_file (), "holes");
  refuse_file (make_file (SIZE, 0, FALSE), "seals");
  refuse_file (make_file (SIZE - 1, 0, TRUE), "4999 bytes instead of 5000");
  refuse_file (make_file (SIZE + 1, 0, TRUE), "5001 bytes instead of 5000");
  refuse_file (make_file (SIZE, 10, TRUE), "instead of 5000");
  refuse_file (open ("/dev/null", O_RDWR | O_CLOEXEC), "not a memory file");
  g_assert_no_errno (pipe2 (pipes, O_CLOEXEC));
  close (pipes[1]);
  refuse_file (pipes[0], "not a memory file");
  refuse_file (arena_memfd_new ("arena-test", SIZE, NULL, NULL), "seals");
}

static void
refuse_message (ArenaSpillMessage message,
                gsize             size,
                guint             n_fds,
                const char       *text)
{
  const int fd = make_file (SIZE, 0, TRUE);
  const int fds[] = { fd, fd, fd };
  Fixture f;

  set_up (&f);
  send_message (&f, message, size, fds, n_fds);
  close (fd);
  assert_refused (&f, good_slot (), text);
}

static void
test_bad_messages (void)
{
  ArenaSpillMessage message = good_message ();
  Fixture f;

  set_up (&f);
  assert_refused (&f, good_slot (), "no message came");

  set_up (&f);
  g_assert_no_errno (shutdown (f.remote, SHUT_RDWR));
  assert_refused (&f, good_slot (), "no message came");

  refuse_message (message, sizeof message, 0, "0 file descriptors");
  refuse_message (message, sizeof message, 2, "2 file descriptors");
  refuse_message (message, sizeof message - 8, 1, "24 bytes");
  message.magic++;
  refuse_message (message, sizeof message, 1, "another message");
  message = good_message ();
  message.unit++;
  refuse_message (message, sizeof message, 1, "for unit 8");
  message = good_message ();
  message.number++;
  refuse_message (message, sizeof message, 1, "message 1 for unit 7");
  message = good_message ();
  message.fields_size = G_MAXUINT64;
  refuse_message (message, sizeof message, 1, "can't be");
  message.fields_size = (G_GUINT64_CONSTANT (1) << 46) + 1;
  refuse_message (message, sizeof message, 1, "can't be");
  message.fields_size = 0;
  refuse_message (message, sizeof message, 1, "can't be");
}

/* An envelope in the file must be all that follows the fields. */
static void
test_bad_envelope (void)
{
  ArenaSlot slot = good_slot ();
  Fixture f;

  slot.envelope_size = 3001;
  set_up (&f);
  send_good (&f, 0, SIZE, 3000);
  assert_refused (&f, slot, "instead of");

  slot.envelope_size = G_MAXUINT32;
  set_up (&f);
  send_good (&f, 0, 0, 3000);
  assert_refused (&f, slot, "instead of 4294967295");
}

/* A unit that is thrown away takes its descriptor along, and the next finds its own. */
static void
test_discard (void)
{
  g_autofree guint8 *envelope = NULL;
  g_autoptr(GBytes) fields = NULL;
  g_autoptr(GError) error = NULL;
  ArenaSlot slot = good_slot ();
  Fixture f;

  set_up (&f);
  for (guint i = 0; i < 3; i++)
    send_good (&f, i, SIZE, 0);
  for (guint i = 0; i < 2; i++)
    g_assert_true (arena_spill_discard (f.channel, &f.number, &slot, &error));
  g_assert_true (arena_spill_receive (f.channel, &f.number, &slot, &fields, &envelope, &error));
  g_assert_false (arena_spill_discard (f.channel, &f.number, &slot, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL, "no message");
  tear_down (&f);
}

/* The unit is lost with its descriptor, and only that unit. */
static void
test_no_descriptor_left (void)
{
  g_autofree guint8 *envelope = NULL;
  g_autoptr(GBytes) fields = NULL;
  g_autoptr(GError) error = NULL;
  ArenaSlot slot = good_slot ();
  Fixture f;

  if (arena_test_on_valgrind ())
    {
      g_test_skip ("valgrind emulates RLIMIT_NOFILE, but not for sockets");
      return;
    }

  set_up (&f);
  for (guint i = 0; i < 3; i++)
    send_good (&f, i, SIZE, 0);
  arena_test_refuse_fds (TRUE);
  g_assert_false (arena_spill_receive (f.channel, &f.number, &slot, &fields, &envelope, &error));
  g_assert_true (arena_spill_discard (f.channel, &f.number, &slot, NULL));
  arena_test_refuse_fds (FALSE);
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NO_SPACE, "RLIMIT_NOFILE");
  g_assert_true (arena_spill_receive (f.channel, &f.number, &slot, &fields, &envelope, &error));
  g_assert_no_error (error);
  tear_down (&f);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/spill/round-trip", test_round_trip);
  arena_test_add ("/arena/spill/bad-files", test_bad_files);
  arena_test_add ("/arena/spill/bad-messages", test_bad_messages);
  arena_test_add ("/arena/spill/bad-envelope", test_bad_envelope);
  arena_test_add ("/arena/spill/discard", test_discard);
  arena_test_add ("/arena/spill/no-descriptor-left", test_no_descriptor_left);
  return g_test_run ();
}
