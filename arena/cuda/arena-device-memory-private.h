/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "cuda/arena-cuda-device-private.h"

G_BEGIN_DECLS

/* Memory of a device, and what its buffer and those who wait for it share: whether it is filled yet, and which streams use
 * it. One thread at a time but where it says so. */
typedef struct
{
  ArenaCudaDevice *device;
  guint8          *pointer; /* can't be accessed; NULL where there are no bytes */
  gsize            size;
  ArenaCudaStream  stream;  /* that fills it */
  gboolean         pooled;

  pthread_mutex_t  mutex;   /* over the rest */
  ArenaCudaEvent   filled;  /* NULL: it is, or whoever fills it sees to that */
  guint            n_waits; /* for the event, which isn't given back meanwhile */
  GArray          *streams; /* of guint64 */
} ArenaDeviceMemory;

/* In the order of @stream where the device can do that. NO_MEMORY. */
ArenaDeviceMemory *arena_device_memory_new           (ArenaCudaDevice    *device,
                                                      ArenaCudaScope     *scope,
                                                      ArenaCudaStream     stream,
                                                      gsize               size,
                                                      const char         *what,
                                                      GError            **error);
/* Nothing uses it: an ArenaCudaRelease. */
gboolean           arena_device_memory_free          (gpointer            data,
                                                      ArenaCudaScope     *scope,
                                                      GError            **error);
/* Frees it once the streams that were recorded, and the copy that fills it, are done. Any thread. */
void               arena_device_memory_retire        (ArenaDeviceMemory  *self);

/* From here on it is filled when what its stream was given so far is done. */
gboolean           arena_device_memory_mark          (ArenaDeviceMemory  *self,
                                                      ArenaCudaScope     *scope,
                                                      GError            **error);
/* TRUE: it is filled. FALSE without an error: not yet. Any thread. */
gboolean           arena_device_memory_poll          (ArenaDeviceMemory  *self,
                                                      ArenaCudaScope     *scope,
                                                      GError            **error);
/* Waits for that. Any thread. */
gboolean           arena_device_memory_wait          (ArenaDeviceMemory  *self,
                                                      ArenaCudaScope     *scope,
                                                      GError            **error);
/* What @stream is given from here on waits for that. Any thread. */
gboolean           arena_device_memory_order         (ArenaDeviceMemory  *self,
                                                      ArenaCudaScope     *scope,
                                                      ArenaCudaStream     stream,
                                                      GError            **error);
/* @stream uses it. Any thread. */
void               arena_device_memory_record_stream (ArenaDeviceMemory  *self,
                                                      guint64             stream);
/* The streams that were recorded. Any thread. */
GArray            *arena_device_memory_list_streams  (ArenaDeviceMemory  *self) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
