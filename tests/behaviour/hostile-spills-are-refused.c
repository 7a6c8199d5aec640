/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"
#include "boundary/arena-spill-layout-private.h"
#include "memory/arena-spill-file-private.h"
#include "sync/arena-socket-private.h"
#include "unit/arena-envelope-private.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* A producer that says one thing and sends another is told apart at the first word that can't be: nothing it sent is kept,
 * and nothing of this process is touched. Each case differs from a good unit in one thing. */

#define SIZE 5000

typedef struct
{
  guint       n_fds;       /* sent along */
  gboolean    unsealed;
  gboolean    silent;      /* the message is announced and not sent */
  gboolean    unannounced; /* or the other way round */
  gint        more;        /* bytes in the file than the message says */
  guint64     offset;      /* of the field in it */
  guint64     beyond;      /* bytes that the field is longer */
  const char *text;        /* of the error; NULL: none */
} Case;

/* A unit with one field outside, of which the envelope says what the case wants. */
static gsize
write_envelope (ArenaTestPeer *peer,
                const Case    *test_case)
{
  const guint64 size = SIZE + test_case->beyond;
  const ArenaEnvelopeField field = {
    .offset = test_case->offset,
    .size = size,
    .dtype = ARENA_DTYPE_UINT8,
    .n_dims = 1,
    .kind = ARENA_PLACEMENT_SPILL,
  };
  ArenaEnvelopeEncoder encoder;
  gsize envelope_size;

  arena_envelope_encoder_init (&encoder);
  arena_envelope_encoder_begin (&encoder, arena_queue_out_envelope (&peer->queue), peer->channel->geometry.envelope_size);
  arena_envelope_encoder_add_field (&encoder, &field, NULL, &size, NULL);
  envelope_size = arena_envelope_encoder_finish (&encoder);
  arena_envelope_encoder_clear (&encoder);
  return envelope_size;
}

static void
send_file (ArenaTestPeer *peer,
           const Case    *test_case)
{
  const ArenaSpillMessage message = { .magic = ARENA_SPILL_MAGIC, .fields_size = SIZE };
  g_auto(ArenaSpillFile) file;
  guint8 data[2 * SIZE];
  guint64 offset;

  arena_spill_file_init (&file);
  arena_test_fill_pattern (data, sizeof data, 3);
  g_assert_true (arena_spill_file_append (&file, data, (gsize) (SIZE + test_case->more), &offset, NULL));
  if (!test_case->unsealed)
    g_assert_true (arena_spill_file_seal (&file, NULL));
  g_assert_true (arena_socket_send (peer->channel->peer.socket, &message, sizeof message,
                                    (const int[]) { file.fd, file.fd }, test_case->n_fds, NULL));
}

static void
run (const Case *test_case,
     gboolean    packed)
{
  ArenaConsumer *consumer = arena_test_consumer_new (arena_test_spilling_new (FALSE, 4096), 2);
  g_autoptr(ArenaUnit) unit = NULL;
  g_autofree guint8 *record = NULL;
  g_autoptr(GError) error = NULL;
  g_autoptr(GBytes) storage = NULL;
  ArenaSlot slot = { .kind = ARENA_SLOT_UNIT, .epoch = 1, .spilled = test_case->unannounced ? 0 : 1 };
  ArenaTestPeer peer;
  gsize size;

  g_assert_true (arena_consumer_start (consumer, NULL));
  arena_test_peer_init (&peer, consumer);
  if (!test_case->silent)
    send_file (&peer, test_case);
  slot.envelope_size = (guint32) write_envelope (&peer, test_case);
  arena_queue_out_publish (&peer.queue, &slot);

  if (packed)
    record = arena_consumer_next_packed (consumer, G_USEC_PER_SEC, NULL, &size, &storage, &error);
  else
    unit = arena_consumer_next (consumer, G_USEC_PER_SEC, NULL, &error);
  if (test_case->text == NULL)
    g_assert_no_error (error);
  else
    arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL, test_case->text);
  g_assert_cmpint (unit != NULL || record != NULL, ==, test_case->text == NULL);
  arena_test_peer_clear (&peer);
  arena_test_close (consumer, NULL);
}

static void
test (void)
{
  static const Case cases[] = {
    { .n_fds = 1 },
    { .n_fds = 0, .text = "0 file descriptors" },
    { .n_fds = 2, .text = "2 file descriptors" },
    { .n_fds = 1, .unsealed = TRUE, .text = "seals" },
    { .silent = TRUE, .text = "no message came" },
    { .n_fds = 1, .unannounced = TRUE, .text = "lead out of" },
    { .n_fds = 1, .more = 1, .text = "5001 bytes instead of 5000" },
    { .n_fds = 1, .more = -1, .text = "4999 bytes instead of 5000" },
    { .n_fds = 1, .offset = 64, .text = "lead out of" },
    { .n_fds = 1, .offset = G_MAXUINT64 - 63, .text = "lead out of" },
    { .n_fds = 1, .offset = 1, .text = "lead out of" },
    { .n_fds = 1, .beyond = 1, .text = "lead out of" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (guint packed = 0; packed < 2; packed++)
      {
        ArenaTestResources resources;

        arena_test_resources_begin (&resources);
        run (&cases[i], packed != 0);
        arena_test_resources_end (&resources);
      }
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/boundary/hostile-spills-are-refused", test);
  return g_test_run ();
}
