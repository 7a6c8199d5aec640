/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/arena-cuda-fence-private.h"

#include "cuda/arena-cuda-streams-private.h"

/* A point that was proven stays so. All points are asked each time, so an error of one doesn't hide the end of another. */

typedef struct
{
  ArenaCudaStream stream;
  ArenaCudaEvent  event; /* NULL: ask the stream */
  gboolean        proven;
} Point;

struct _ArenaCudaFence
{
  ArenaCudaDevice *device;
  gsize            n_points;
  Point            points[];
};

ArenaCudaFence *
arena_cuda_fence_new (ArenaCudaDevice *device,
                      ArenaCudaScope  *scope,
                      const guint64   *streams,
                      gsize            n_streams)
{
  ArenaCudaFence *self = g_malloc0 (sizeof *self + n_streams * sizeof (Point));

  self->device = device;
  self->n_points = n_streams;
  for (gsize i = 0; i < n_streams; i++)
    {
      self->points[i].stream = GSIZE_TO_POINTER (streams[i]);
      if (scope != NULL)
        self->points[i].event = arena_cuda_event_record (device, scope, self->points[i].stream, NULL);
    }

  return self;
}

static void
prove (ArenaCudaFence *self,
       Point          *point)
{
  point->proven = TRUE;
  if (point->event != NULL)
    arena_cuda_event_give_back (self->device, g_steal_pointer (&point->event));
}

static gboolean
ask (ArenaCudaScope  *scope,
     const Point     *point,
     GError         **error)
{
  if (point->event != NULL)
    return arena_cuda_call (scope, ARENA_CUDA_ERROR_QUARANTINED, error, "the end of a copy", cudaEventQuery,
                            (point->event));

  return arena_cuda_call (scope, ARENA_CUDA_ERROR_QUARANTINED, error, "the end of a copy", cudaStreamQuery,
                          (point->stream));
}

gboolean
arena_cuda_fence_poll (ArenaCudaFence  *self,
                       ArenaCudaScope  *scope,
                       GError         **error)
{
  gboolean all = TRUE;

  for (gsize i = 0; i < self->n_points; i++)
    {
      Point *point = &self->points[i];
      g_autoptr(GError) local_error = NULL;

      if (point->proven)
        continue;

      if (ask (scope, point, &local_error))
        {
          prove (self, point);
          continue;
        }

      all = FALSE;
      if (local_error != NULL && error != NULL && *error == NULL)
        *error = g_steal_pointer (&local_error);
    }

  return all;
}

void
arena_cuda_fence_free (ArenaCudaFence *self)
{
  for (gsize i = 0; i < self->n_points; i++)
    prove (self, &self->points[i]);
  g_free (self);
}
